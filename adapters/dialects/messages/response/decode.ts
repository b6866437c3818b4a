// Decodes an upstream's whole answer, and reads the facts that the byte lane needs.
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import type { CanonicalResponse, Choice } from '../../../../core/types/request/answer.ts'
import type { JsonObject, Part } from '../../../../core/types/request/canonical.ts'
import type { CodecContext, DialectDriver, WireBody } from '../../../../core/types/request/dialect.ts'
import { isObject, loose, others } from '../../shared/fields.ts'
import { hasToolCall } from '../../shared/finish.ts'
import { inBandError } from '../errors.ts'
import { decodeFinish, finishWord } from '../finish.ts'
import { decodeContent } from '../request/decode-block.ts'
import { plainInput } from '../request/decode-tools.ts'
import { callerTool, type JsonTool, jsonTool } from '../tool-names.ts'
import { decodeUsage, missingUsage } from '../usage.ts'

export const KNOWN: ReadonlySet<string> = new Set([
  'id',
  'type',
  'role',
  'model',
  'content',
  'stop_reason',
  'stop_sequence',
  'stop_details',
  'usage',
])

/** @throws GatewayError when the body is an error in a 200 answer, or not a message. */
export function decodeResponse(body: WireBody, codec: CodecContext): CanonicalResponse {
  const wire = body.json() as JsonObject
  const error = inBandError(wire, 'status')
  if (error !== null) throw error
  if (codec.operation === 'count_tokens') return decodeCount(wire, codec)
  if (!Array.isArray(wire.content)) throw GatewayError.protocol('The upstream answered with something that is not a message.')
  const parts = readContent(wire, body, codec)
  const native = loose(wire.stop_reason)
  const choice: Choice = { index: 0, parts, finish: decodeFinish(native, hasToolCall(parts)), nativeFinish: native }
  if (typeof wire.stop_sequence === 'string') choice.stopSequence = wire.stop_sequence
  if (isObject(wire.stop_details)) choice.safety = wire.stop_details
  const rest = others(wire, KNOWN)
  const tier = isObject(wire.usage) ? loose(wire.usage.service_tier) : ''
  return {
    id: loose(wire.id) || codec.id('msg_'),
    created: Math.floor(codec.now() / 1000),
    model: loose(wire.model) || codec.model,
    choices: [choice],
    usage: decodeUsage(wire.usage) ?? missingUsage(),
    ...(tier === '' ? {} : { serviceTier: tier }),
    ext: rest === null ? {} : { messages: rest },
  }
}

export const inspectResponse: DialectDriver['inspectResponse'] = (body, codec) => {
  const error = inBandError({ type: body.get('type') ?? null, error: body.get('error') ?? null }, 'status')
  if (error !== null) return { usage: null, finish: null, content: false, error }
  if (codec.operation === 'count_tokens') {
    const counted = typeof body.get('input_tokens') === 'number'
    return { usage: null, finish: null, content: counted, error: counted ? null : notCounted() }
  }
  if (body.peek('content')?.[0] !== '[') {
    return {
      usage: null,
      finish: null,
      content: false,
      error: GatewayError.protocol('The upstream answered with something that is not a message.'),
    }
  }
  const reason = loose(body.get('stop_reason'))
  return {
    usage: decodeUsage(body.get('usage')),
    finish: reason === '' ? 'stop' : finishWord(reason),
    content: body.get('content.0') !== undefined,
    error: null,
  }
}

/** Returns the text of a structured answer that came as a tool call. */
export function structuredText(args: string, tool: JsonTool): string {
  if (!tool.wrapped) return args
  try {
    const parsed: unknown = JSON.parse(args)
    return isObject(parsed) && parsed.value !== undefined ? JSON.stringify(parsed.value) : args
  } catch {
    return args
  }
}

function readContent(wire: JsonObject, body: WireBody, codec: CodecContext): Part[] {
  let parts: Part[]
  try {
    parts = decodeContent(wire.content, 'content', { body, family: codec.caps.family })
  } catch (error) {
    throw GatewayError.protocol('The upstream answered with content that cannot be understood.', error)
  }
  const json = jsonTool(codec)
  return parts.map((part) => {
    if (part.t !== 'tool_call') return part
    if (part.name === json?.name) return { t: 'text', text: structuredText(part.args, json) }
    const { name, namespace, custom } = callerTool(part.name, codec)
    const free = custom ? { kind: 'custom' as const, args: plainInput(part.args) } : {}
    return { ...part, name, ...(namespace === undefined ? {} : { namespace }), ...free }
  })
}

function decodeCount(wire: JsonObject, codec: CodecContext): CanonicalResponse {
  const counted = wire.input_tokens
  if (typeof counted !== 'number') throw notCounted()
  const usage = { inputTotal: counted, cacheRead: 0, cacheWrite: 0, outputTotal: 0, total: counted, estimated: false, raw: wire }
  return { id: '', created: Math.floor(codec.now() / 1000), model: codec.model, choices: [], usage, ext: {} }
}

function notCounted(): GatewayError {
  return GatewayError.protocol('The upstream answered without a token count.')
}

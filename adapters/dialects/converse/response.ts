// Decodes a whole answer of Converse.
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { noUsage } from '../../../core/models/token-estimate.ts'
import type { CanonicalResponse } from '../../../core/types/request/answer.ts'
import type { Json, JsonObject, Part, Signature } from '../../../core/types/request/canonical.ts'
import type { CodecContext, WireBody } from '../../../core/types/request/dialect.ts'
import { isObject, loose } from '../shared/fields.ts'
import { hasToolCall } from '../shared/finish.ts'
import { decodeFinish } from './finish.ts'
import { callerTool, objectText, plainInput } from './tool-names.ts'
import { decodeUsage } from './usage.ts'

/** @throws GatewayError.protocol when the body is not an answer of Converse. */
export function decodeResponse(body: WireBody, codec: CodecContext): CanonicalResponse {
  const wire = body.json() as JsonObject
  const message = isObject(wire.output) ? wire.output.message : undefined
  if (!isObject(message) || !Array.isArray(message.content))
    throw GatewayError.protocol('The upstream answered with something that is not a message.')
  const parts = message.content.flatMap((block, at) => decodeBlock(block, at, body, codec))
  const native = loose(wire.stopReason)
  return {
    id: codec.id('msg_'),
    created: Math.floor(codec.now() / 1000),
    model: codec.model,
    choices: [{ index: 0, parts, finish: decodeFinish(native, hasToolCall(parts)), nativeFinish: native }],
    usage: decodeUsage(wire.usage) ?? { ...noUsage(), estimated: true },
    ext: {},
  }
}

function decodeBlock(block: Json, at: number, body: WireBody, codec: CodecContext): Part[] {
  if (!isObject(block)) return []
  if (typeof block.text === 'string') return block.text === '' ? [] : [{ t: 'text', text: block.text }]
  if (isObject(block.reasoningContent)) return reasoning(block.reasoningContent, codec)
  if (!isObject(block.toolUse)) return []
  const { toolUseId, name, input } = block.toolUse
  const id = loose(toolUseId)
  // The text as sent keeps the digits of long numbers.
  const args = isObject(input) ? (body.raw(`output.message.content.${at}.toolUse.input`) ?? objectText(input)) : objectText(input)
  const { custom, ...tool } = callerTool(loose(name), codec)
  return [
    {
      t: 'tool_call',
      id: id || codec.id('tooluse_'),
      idMinted: id === '',
      ...tool,
      args: custom ? plainInput(args) : args,
      kind: custom ? 'custom' : 'function',
    },
  ]
}

function reasoning({ reasoningText, redactedContent }: JsonObject, codec: CodecContext): Part[] {
  if (typeof redactedContent === 'string')
    return [{ t: 'reasoning', text: '', redacted: redactedContent, encrypted: signatureOf(redactedContent, codec) }]
  if (!isObject(reasoningText)) return []
  const value = loose(reasoningText.signature)
  return [{ t: 'reasoning', text: loose(reasoningText.text), ...(value === '' ? {} : { signature: signatureOf(value, codec) }) }]
}

/** Claude signs in the same way on every cloud. */
export function signatureOf(value: string, codec: CodecContext): Signature {
  return { dialect: 'messages', modelFamily: codec.caps.family, value }
}

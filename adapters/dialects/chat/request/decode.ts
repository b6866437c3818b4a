// A chat-completions request → canonical.
import type { CanonicalRequest, Json, JsonObject } from '../../../../core/types/canonical.ts'
import type { WireBody } from '../../../../core/types/dialect.ts'
import type { HeaderBag } from '../../../../core/types/ports.ts'
import { isObject, optionalArray, optionalBoolean, requiredString, unknownMembers, wrongType } from '../read.ts'
import { decodeMessages } from './decode-messages.ts'
import { decodeOptions, understood } from './decode-options.ts'
import { decodeToolChoice, decodeTools } from './decode-tools.ts'

/** Members with a canonical home; the others travel in `ext.chat`. */
const KNOWN: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'tools',
  'tool_choice',
  'functions',
  'function_call',
  'parallel_tool_calls',
  'response_format',
  'reasoning_effort',
  'verbosity',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'top_k',
  'frequency_penalty',
  'presence_penalty',
  'logit_bias',
  'seed',
  'n',
  'stop',
  'logprobs',
  'top_logprobs',
  'modalities',
  'audio',
  'user',
  'safety_identifier',
  'metadata',
  'prompt_cache_key',
  'prompt_cache_retention',
  'prompt_cache_options',
  'service_tier',
  'web_search_options',
  'store',
  'stream',
  'stream_options',
])

/** @throws GatewayError 400 naming the field that has the wrong type. */
export function decodeRequest(body: WireBody, headers: HeaderBag): CanonicalRequest {
  // Read-only use: parts refer to the parsed body, plugins copy before they write.
  const wire = body.json() as JsonObject
  const model = requiredString(wire, 'model')
  const list = optionalArray(wire, 'messages')
  if (list === undefined || list.length === 0) throw wrongType('messages', 'a non-empty array')
  const { system, messages } = decodeMessages(list, body)
  const toolChoice = decodeToolChoice(wire)
  return {
    model,
    stream: optionalBoolean(wire, 'stream') ?? false,
    source: 'chat',
    system,
    messages,
    tools: decodeTools(wire),
    ...(toolChoice === undefined ? {} : { toolChoice }),
    ...decodeOptions(wire),
    headers: decodeHeaders(headers),
    ext: decodeExt(wire),
  }
}

function decodeHeaders(headers: HeaderBag): CanonicalRequest['headers'] {
  const openaiBeta = headers.get('openai-beta')
  const idempotencyKey = headers.get('idempotency-key')
  return { ...(openaiBeta === null ? {} : { openaiBeta }), ...(idempotencyKey === null ? {} : { idempotencyKey }) }
}

function decodeExt(wire: JsonObject): CanonicalRequest['ext'] {
  const rest: Record<string, Json> = unknownMembers(wire, KNOWN) ?? {}
  for (const key of ['reasoning_effort', 'service_tier', 'response_format']) {
    const value = wire[key] ?? undefined
    if (value !== undefined && !understood(key, value)) rest[key] = value
  }
  if (isObject(wire.stream_options)) {
    const options = unknownMembers(wire.stream_options, new Set(['include_usage']))
    if (options !== undefined) rest.stream_options = options
  }
  return Object.keys(rest).length > 0 ? { chat: rest } : {}
}

// A chat-completions request → canonical.
import { randomId } from '../../../../core/ids/ids.ts'
import type { HeaderBag } from '../../../../core/types/ports/ports.ts'
import type { CanonicalRequest, Json, JsonObject, Message, Part, SystemBlock } from '../../../../core/types/request/canonical.ts'
import type { WireBody } from '../../../../core/types/request/dialect.ts'
import {
  isObject,
  optionalArray,
  optionalBoolean,
  optionalString,
  requiredString,
  text,
  unknownMembers,
  wrongType,
} from '../read.ts'
import { ASSISTANT_KEYS, decodeAssistant } from './decode-assistant.ts'
import { decodeOptions, understood } from './decode-options.ts'
import { cacheMark, chatExt, decodeContent } from './decode-parts.ts'
import { decodeToolChoice, decodeTools } from './decode-tools.ts'

/** Members with a canonical form; all others go into `ext.chat`. */
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

// messages[] → leading instructions and turns. It ensures the canonical invariants: every call has an id, and every result refers to its
// call and its tool's name.
interface DecodedMessages {
  system: SystemBlock[]
  messages: Message[]
}

function decodeMessages(list: readonly Json[], body: WireBody): DecodedMessages {
  const system: SystemBlock[] = []
  const messages: Message[] = []
  const calls = new CallLog()
  list.forEach((message, index) => {
    const at = `messages.${index}`
    if (!isObject(message)) throw wrongType(at, 'an object')
    const name = optionalString(message, 'name', `${at}.`)
    const label = text(name) === undefined ? {} : { name: name as string }
    const { role } = message
    if (role === 'system' || role === 'developer') {
      const parts = markedContent(message, at)
      if (messages.length === 0) {
        if (parts.length > 0) system.push({ role, parts, ...label })
      } else messages.push({ role, parts, ...label, ...chatExt(message, PLAIN_KEYS) })
    } else if (role === 'user') {
      messages.push({ role, parts: markedContent(message, at), ...label, ...chatExt(message, PLAIN_KEYS) })
    } else if (role === 'assistant') {
      const parts = decodeAssistant(message, at, body)
      calls.add(parts)
      messages.push({ role, parts, ...label, ...chatExt(message, ASSISTANT_KEYS) })
    } else if (role === 'tool' || role === 'function') {
      messages.push({ role: 'tool', parts: [toolResult(message, role, at, calls)], ...chatExt(message, TOOL_KEYS) })
    } else throw wrongType(`${at}.role`, 'one of system, developer, user, assistant, tool, function')
  })
  return { system, messages }
}

const PLAIN_KEYS: ReadonlySet<string> = new Set(['role', 'content', 'name', 'cache_control'])
const TOOL_KEYS: ReadonlySet<string> = new Set(['role', 'content', 'name', 'tool_call_id', 'cache_control'])

/** A cache mark of the message itself applies to its last part. */
function markedContent(message: JsonObject, at: string): Part[] {
  const parts = decodeContent(message.content, `${at}.content`)
  const cache = cacheMark(message)
  const last = parts.at(-1)
  if (cache === undefined || last === undefined || ('cache' in last && last.cache !== undefined)) return parts
  return [...parts.slice(0, -1), { ...last, cache } as Part]
}

function toolResult(message: JsonObject, role: 'tool' | 'function', at: string, calls: CallLog): Part {
  const given = text(optionalString(message, 'tool_call_id', `${at}.`))
  const toolName = text(message.name)
  const callId = given ?? calls.unanswered(role === 'function' ? toolName : undefined) ?? randomId('call_')
  const name = calls.answer(callId) ?? toolName
  const content = isObject(message.content) ? JSON.stringify(message.content) : message.content
  const cache = cacheMark(message)
  return {
    t: 'tool_result',
    callId,
    ...(name === undefined ? {} : { name }),
    parts: decodeContent(content, `${at}.content`),
    ...(cache === undefined ? {} : { cache }),
  }
}

/** Records the calls of the history so far, in order. */
class CallLog {
  readonly #names = new Map<string, string>()
  readonly #open: { id: string; name: string }[] = []

  add(parts: readonly Part[]): void {
    for (const part of parts) {
      if (part.t !== 'tool_call') continue
      this.#names.set(part.id, part.name)
      this.#open.push({ id: part.id, name: part.name })
    }
  }

  /** Returns the oldest call without a result. Legacy results name the function instead of the call. */
  unanswered(name: string | undefined): string | undefined {
    return this.#open.find((call) => name === undefined || call.name === name)?.id
  }

  /** Marks the call as answered; returns its tool's name. */
  answer(id: string): string | undefined {
    const at = this.#open.findIndex((call) => call.id === id)
    if (at >= 0) this.#open.splice(at, 1)
    return this.#names.get(id)
  }
}

/** @throws GatewayError 400 naming the field with the wrong type. */
export function decodeRequest(body: WireBody, headers: HeaderBag): CanonicalRequest {
  // Read-only: parts refer to the parsed body, and plugins copy before they write.
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

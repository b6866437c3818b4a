// Decodes a /v1/messages or count_tokens body. It validates only the members that it reads: a missing max_tokens stays absent and gets
// the target's default.
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import type { HeaderBag } from '../../../../core/types/ports/ports.ts'
import type {
  CanonicalRequest,
  Effort,
  Json,
  JsonObject,
  Message,
  Part,
  ReasoningOptions,
  SystemBlock,
} from '../../../../core/types/request/canonical.ts'
import type { DialectDriver } from '../../../../core/types/request/dialect.ts'
import { booleanField, isObject, listField, numberField, objectField, others, textField, wrongType } from '../../shared/fields.ts'
import { type BlockReader, cacheMark, decodeContent } from './decode-block.ts'
import { decodeTools } from './decode-tools.ts'

/** Fields with a canonical form; all others stay in `ext.messages`. */
const KNOWN: ReadonlySet<string> = new Set(
  `model messages system max_tokens stream tools tool_choice temperature top_p top_k stop_sequences metadata service_tier speed
   cache_control thinking output_config output_format container context_management thread`.split(/\s+/),
)

// system and messages[] as canonical turns. Tool results become a `tool` message before the rest of their user turn.
interface Conversation {
  system: SystemBlock[]
  messages: Message[]
}

function decodeConversation(wire: JsonObject, reader: BlockReader): Conversation {
  const out: Conversation = { system: [], messages: [] }
  addSystem(out, decodeContent(wire.system, 'system', reader))
  if (!Array.isArray(wire.messages)) throw GatewayError.invalid('messages', '`messages` is required and must be an array.')
  const names = new Map<string, string>()
  for (const [index, message] of wire.messages.entries()) decodeMessage(message, `messages.${index}`, names, out, reader)
  return out
}

const MESSAGE_KEYS = new Set(['role', 'content'])

function decodeMessage(message: Json, at: string, names: Map<string, string>, out: Conversation, reader: BlockReader): void {
  if (!isObject(message)) throw wrongType(at, 'an object')
  const role = textField(message, 'role', `${at}.role`)
  if (role !== 'user' && role !== 'assistant' && role !== 'system') {
    throw GatewayError.invalid(`${at}.role`, `\`${at}.role\` must be "user", "assistant" or "system".`)
  }
  const parts = decodeContent(message.content, `${at}.content`, reader)
  const rest = others(message, MESSAGE_KEYS)
  const ext = rest === null ? {} : { ext: { messages: rest } }
  if (role === 'assistant') {
    for (const part of parts) if (part.t === 'tool_call') names.set(part.id, part.name)
    push(out.messages, { role, parts, ...ext })
  } else if (role === 'system') {
    if (out.messages.length === 0) addSystem(out, parts)
    else push(out.messages, { role, parts, ...ext })
  } else {
    const results = parts.filter((part) => part.t === 'tool_result')
    for (const result of results) {
      const name = names.get(result.callId)
      if (name !== undefined) result.name = name
    }
    push(out.messages, { role: 'tool', parts: results })
    push(out.messages, { role, parts: parts.filter((part) => part.t !== 'tool_result'), ...ext })
  }
}

function addSystem(out: Conversation, parts: Part[]): void {
  if (parts.length > 0) out.system.push({ role: 'system', parts })
}

function push(messages: Message[], message: Message): void {
  if (message.parts.length > 0) messages.push(message)
}

// thinking, output_config and state of a request. Unknown members of a nested object stay in `ext` under its name.
const EFFORTS: readonly string[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']
const MODES: readonly string[] = ['enabled', 'adaptive', 'disabled', 'between_tools']
const THINKING_KEYS = new Set(['type', 'budget_tokens', 'display'])

/** Sets `reasoning` and `output`; members without a canonical form go into `ext`. */
function decodeThinkingAndOutput(wire: JsonObject, request: CanonicalRequest, ext: JsonObject): void {
  const reasoning: ReasoningOptions = {}
  readThinking(wire, reasoning, ext)
  readOutput(wire, reasoning, request, ext)
  if (Object.keys(reasoning).length > 0) request.reasoning = reasoning
}

function decodeState(wire: JsonObject, request: CanonicalRequest): void {
  const { container, context_management: contextManagement, thread } = wire
  if (container === undefined && contextManagement === undefined && thread === undefined) return
  request.state = {
    ...(container === undefined || container === null ? {} : { container }),
    ...(contextManagement === undefined || contextManagement === null ? {} : { contextManagement }),
    ...(thread === undefined || thread === null ? {} : { thread }),
  }
}

function readThinking(wire: JsonObject, reasoning: ReasoningOptions, ext: JsonObject): void {
  const thinking = objectField(wire, 'thinking')
  if (thinking === undefined) return
  const type = textField(thinking, 'type', 'thinking.type')
  if (type === undefined || !MODES.includes(type))
    throw wrongType('thinking.type', '"enabled", "adaptive", "disabled" or "between_tools"')
  reasoning.mode = type as NonNullable<ReasoningOptions['mode']>
  const budget = numberField(thinking, 'budget_tokens', 'thinking.budget_tokens')
  const display = textField(thinking, 'display', 'thinking.display')
  if (budget !== undefined) reasoning.budgetTokens = budget
  if (display === 'omitted') reasoning.summary = 'omitted'
  else if (display === 'summarized')
    Object.assign(reasoning, { summary: 'auto', includeThoughts: true } satisfies ReasoningOptions)
  const rest = others(thinking, THINKING_KEYS)
  if (rest !== null) ext.thinking = rest
}

function readOutput(wire: JsonObject, reasoning: ReasoningOptions, request: CanonicalRequest, ext: JsonObject): void {
  const config = objectField(wire, 'output_config') ?? {}
  const known = new Set<string>()
  const effort = textField(config, 'effort', 'output_config.effort')
  if (effort !== undefined && EFFORTS.includes(effort)) {
    reasoning.effort = effort as Effort
    known.add('effort')
  }
  // The beta calls it `output_format`.
  const format = objectField(config, 'format', 'output_config.format') ?? objectField(wire, 'output_format')
  if (format?.type === 'json_schema') {
    const schema = objectField(format, 'schema', 'output_config.format.schema')
    request.output = { kind: 'json_schema', ...(schema === undefined ? {} : { schema }) }
    known.add('format')
  }
  const rest = others(config, known)
  if (rest !== null) ext.output_config = rest
}

export const decodeRequest: DialectDriver['decodeRequest'] = (body, headers, path) => {
  const wire = body.json() as JsonObject
  const ext = others(wire, KNOWN) ?? {}
  const { system, messages } = decodeConversation(wire, { body, family: '' })
  const request: CanonicalRequest = {
    model: textField(wire, 'model') ?? path.model ?? '',
    stream: path.operation === 'count_tokens' ? false : (booleanField(wire, 'stream') ?? path.stream ?? false),
    source: 'messages',
    system,
    messages,
    tools: [],
    sampling: sampling(wire),
    headers: forwarded(headers),
    ext: {},
  }
  decodeTools(wire, request)
  decodeThinkingAndOutput(wire, request, ext)
  decodeState(wire, request)
  readPlain(wire, request)
  if (Object.keys(ext).length > 0) request.ext.messages = ext
  return request
}

function sampling(wire: JsonObject): CanonicalRequest['sampling'] {
  const temperature = numberField(wire, 'temperature')
  const topP = numberField(wire, 'top_p')
  const topK = numberField(wire, 'top_k')
  const out: CanonicalRequest['sampling'] = {}
  if (temperature !== undefined) out.temperature = temperature
  if (topP !== undefined) out.topP = topP
  if (topK !== undefined) out.topK = topK
  return out
}

function readPlain(wire: JsonObject, request: CanonicalRequest): void {
  const maxTokens = numberField(wire, 'max_tokens')
  const stop = listField(wire, 'stop_sequences')
  const metadata = objectField(wire, 'metadata')
  const endUser = metadata === undefined ? undefined : textField(metadata, 'user_id', 'metadata.user_id')
  const { service_tier: tier, speed } = wire
  const auto = cacheMark(wire)
  if (maxTokens !== undefined) request.maxTokens = maxTokens
  if (stop !== undefined) request.stop = stop.map(stopText)
  if (endUser !== undefined) request.endUser = endUser
  if (tier === 'auto' || tier === 'standard_only') request.serviceTier = tier
  if (speed === 'standard' || speed === 'fast') request.speed = speed
  if (auto !== undefined) request.cache = { auto }
}

function stopText(value: unknown, index: number): string {
  if (typeof value !== 'string') throw wrongType(`stop_sequences.${index}`, 'a string')
  return value
}

function forwarded(headers: HeaderBag): CanonicalRequest['headers'] {
  const anthropicVersion = headers.get('anthropic-version')
  const beta = headers.get('anthropic-beta')
  const idempotencyKey = headers.get('idempotency-key')
  const out: CanonicalRequest['headers'] = {}
  if (anthropicVersion !== null) out.anthropicVersion = anthropicVersion
  if (beta !== null) {
    out.anthropicBeta = beta
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '')
  }
  if (idempotencyKey !== null) out.idempotencyKey = idempotencyKey
  return out
}

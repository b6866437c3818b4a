// Decodes a /v1/responses body. It accepts all members that Codex sends; the target's encodeRequest refuses unsupported ones.
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import type { HeaderBag } from '../../../../core/types/ports/ports.ts'
import type {
  CanonicalRequest,
  Effort,
  JsonObject,
  Message,
  OutputFormat,
  ReasoningOptions,
  StateOptions,
} from '../../../../core/types/request/canonical.ts'
import type { DialectDriver, WireBody } from '../../../../core/types/request/dialect.ts'
import { booleanField, isObject, listField, numberField, objectField, others, textField } from '../../shared/fields.ts'
import { decodeInput } from './decode-input.ts'
import { decodeToolChoice, decodeTools } from './decode-tools.ts'

const EFFORTS: readonly string[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']
const SUMMARIES: readonly string[] = ['auto', 'concise', 'detailed']
const TIERS: readonly string[] = ['auto', 'default', 'flex', 'priority', 'scale']

/** Top-level fields with a canonical form; all others stay in `ext.responses`, with `include` and `max_tool_calls`. */
const KNOWN: ReadonlySet<string> = new Set(
  `model stream input instructions tools tool_choice parallel_tool_calls max_output_tokens temperature top_p presence_penalty
   frequency_penalty user safety_identifier metadata service_tier prompt_cache_key prompt_cache_retention previous_response_id
   conversation store background prompt truncation context_management top_logprobs reasoning text prompt_cache_options`.split(
    /\s+/,
  ),
)

export const decodeRequest: DialectDriver['decodeRequest'] = (body, headers, path) => {
  const wire = body.json() as JsonObject
  const ext = others(wire, KNOWN) ?? {}
  const request: CanonicalRequest = {
    model: textField(wire, 'model') ?? path.model ?? '',
    stream: booleanField(wire, 'stream') ?? path.stream ?? false,
    source: 'responses',
    ...conversation(body, wire),
    ...decodeTools(wire),
    ...options(wire, ext),
    sampling: sampling(wire),
    headers: forwarded(headers),
    ext: {},
  }
  const toolChoice = decodeToolChoice(wire.tool_choice)
  if (toolChoice !== undefined) request.toolChoice = toolChoice
  const include = listField(wire, 'include') ?? []
  readReasoning(wire, include.includes('reasoning.encrypted_content'), request, ext)
  readText(wire, request, ext)
  readLogprobs(wire, include.includes('message.output_text.logprobs'), request)
  readCache(wire, request, ext)
  const state = stateOf(wire)
  if (state !== undefined) request.state = state
  if (Object.keys(ext).length > 0) request.ext.responses = ext
  return request
}

function conversation(body: WireBody, wire: JsonObject): Pick<CanonicalRequest, 'system'> & { messages: Message[] } {
  const { system, messages } = decodeInput(body, wire.input)
  const instructions = textField(wire, 'instructions')
  // The mark lets this dialect's encoder put them back into `instructions`: with stored state they are not part of the input.
  if (instructions)
    system.unshift({ role: 'system', parts: [{ t: 'text', text: instructions, ext: { responses: { instructions: true } } }] })
  const stateful = wire.previous_response_id ?? wire.conversation ?? wire.prompt
  if (messages.length === 0 && system.length === 0 && (stateful === undefined || stateful === null)) {
    throw GatewayError.invalid('input', '`input` is required.')
  }
  return { system, messages }
}

function options(wire: JsonObject, ext: JsonObject): Partial<CanonicalRequest> {
  const out: Partial<CanonicalRequest> = {}
  const parallel = booleanField(wire, 'parallel_tool_calls')
  const maxTokens = numberField(wire, 'max_output_tokens')
  const endUser = textField(wire, 'user')
  const safetyId = textField(wire, 'safety_identifier')
  const metadata = objectField(wire, 'metadata')
  const tier = textField(wire, 'service_tier')
  if (parallel !== undefined) out.parallelToolCalls = parallel
  if (maxTokens !== undefined) out.maxTokens = maxTokens
  if (endUser !== undefined) out.endUser = endUser
  if (safetyId !== undefined) out.safetyId = safetyId
  if (metadata !== undefined) out.metadata = strings(metadata)
  if (tier !== undefined && TIERS.includes(tier)) out.serviceTier = tier as NonNullable<CanonicalRequest['serviceTier']>
  else if (tier !== undefined) ext.service_tier = tier
  return out
}

function sampling(wire: JsonObject): CanonicalRequest['sampling'] {
  const temperature = numberField(wire, 'temperature')
  const topP = numberField(wire, 'top_p')
  const presencePenalty = numberField(wire, 'presence_penalty')
  const frequencyPenalty = numberField(wire, 'frequency_penalty')
  return {
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { topP }),
    ...(presencePenalty === undefined ? {} : { presencePenalty }),
    ...(frequencyPenalty === undefined ? {} : { frequencyPenalty }),
  }
}

/** Unknown members of a nested object stay in `ext` under its name. This dialect's encoder merges them back. */
function readReasoning(wire: JsonObject, encrypted: boolean, request: CanonicalRequest, ext: JsonObject): void {
  const given = objectField(wire, 'reasoning') ?? {}
  const reasoning: ReasoningOptions = {}
  const effort = textField(given, 'effort', 'reasoning.effort')
  const summary =
    textField(given, 'summary', 'reasoning.summary') ?? textField(given, 'generate_summary', 'reasoning.generate_summary')
  const known = new Set(['generate_summary'])
  if (effort !== undefined && EFFORTS.includes(effort)) {
    reasoning.effort = effort as Effort
    known.add('effort')
  }
  if (summary !== undefined && SUMMARIES.includes(summary)) {
    reasoning.summary = summary as 'auto' | 'concise' | 'detailed'
    known.add('summary')
  }
  if (encrypted) reasoning.encrypted = true
  const rest = others(given, known)
  if (rest !== null) ext.reasoning = rest
  if (Object.keys(reasoning).length > 0) request.reasoning = reasoning
}

function readText(wire: JsonObject, request: CanonicalRequest, ext: JsonObject): void {
  const text = objectField(wire, 'text') ?? {}
  const known = new Set<string>()
  const format = objectField(text, 'format', 'text.format')
  const output = format === undefined ? undefined : outputFormat(format)
  if (output !== undefined) {
    request.output = output
    known.add('format')
  }
  if (text.verbosity === 'low' || text.verbosity === 'medium' || text.verbosity === 'high') {
    request.verbosity = text.verbosity
    known.add('verbosity')
  }
  const rest = others(text, known)
  if (rest !== null) ext.text = rest
}

function outputFormat(format: JsonObject): OutputFormat | undefined {
  if (format.type === 'text' || format.type === 'json_object') return { kind: format.type }
  if (format.type !== 'json_schema') return undefined
  const name = textField(format, 'name', 'text.format.name')
  const description = textField(format, 'description', 'text.format.description')
  const schema = objectField(format, 'schema', 'text.format.schema')
  const strict = booleanField(format, 'strict', 'text.format.strict')
  return {
    kind: 'json_schema',
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...(schema === undefined ? {} : { schema }),
    ...(strict === undefined ? {} : { strict }),
  }
}

function readLogprobs(wire: JsonObject, included: boolean, request: CanonicalRequest): void {
  const top = numberField(wire, 'top_logprobs')
  if (included || (top !== undefined && top > 0)) request.logprobs = { enabled: true, ...(top === undefined ? {} : { top }) }
}

function readCache(wire: JsonObject, request: CanonicalRequest, ext: JsonObject): void {
  const key = textField(wire, 'prompt_cache_key')
  const retention = textField(wire, 'prompt_cache_retention')
  const options = objectField(wire, 'prompt_cache_options') ?? {}
  const mode = options.mode === 'implicit' || options.mode === 'explicit' ? options.mode : undefined
  const rest = others(options, new Set(mode === undefined ? [] : ['mode']))
  if (rest !== null) ext.prompt_cache_options = rest
  if (key === undefined && retention === undefined && mode === undefined) return
  request.cache = {
    ...(key === undefined ? {} : { key }),
    ...(retention === undefined ? {} : { retention }),
    ...(mode === undefined ? {} : { mode }),
  }
}

function stateOf(wire: JsonObject): StateOptions | undefined {
  const state: StateOptions = {}
  const previous = textField(wire, 'previous_response_id')
  const store = booleanField(wire, 'store')
  const truncation = textField(wire, 'truncation')
  if (previous) state.previousResponseId = previous
  if (wire.conversation !== undefined && wire.conversation !== null) state.conversation = wire.conversation
  if (store !== undefined) state.store = store
  if (booleanField(wire, 'background')) state.background = true
  if (isObject(wire.prompt)) state.promptTemplate = wire.prompt
  if (truncation !== undefined) state.truncation = truncation
  if (wire.context_management !== undefined && wire.context_management !== null) state.contextManagement = wire.context_management
  return Object.keys(state).length === 0 ? undefined : state
}

function forwarded(headers: HeaderBag): CanonicalRequest['headers'] {
  const openaiBeta = headers.get('openai-beta')
  const idempotencyKey = headers.get('idempotency-key')
  return { ...(openaiBeta === null ? {} : { openaiBeta }), ...(idempotencyKey === null ? {} : { idempotencyKey }) }
}

function strings(metadata: JsonObject): Record<string, string> {
  const out: Record<string, string> = {}
  for (const [key, value] of Object.entries(metadata)) {
    if (typeof value !== 'string') throw GatewayError.invalid('metadata', '`metadata` must map strings to strings.')
    out[key] = value
  }
  return out
}

// A caller's /v1/messages or count_tokens body → canonical request. It validates only the members that it reads: a missing max_tokens stays
// absent and gets its default at the target.
import type { CanonicalRequest, JsonObject } from '../../../../core/types/canonical.ts'
import type { DialectDriver } from '../../../../core/types/dialect.ts'
import type { HeaderBag } from '../../../../core/types/ports.ts'
import { booleanField, listField, numberField, objectField, others, textField, wrongType } from '../../shared/fields.ts'
import { cacheMark } from './decode-block.ts'
import { decodeConversation } from './decode-messages.ts'
import { decodeState, decodeThinkingAndOutput } from './decode-options.ts'
import { decodeTools } from './decode-tools.ts'

/** Fields with a canonical place; the others are kept in `ext.messages`. */
const KNOWN: ReadonlySet<string> = new Set(
  `model messages system max_tokens stream tools tool_choice temperature top_p top_k stop_sequences metadata service_tier speed
   cache_control thinking output_config output_format container context_management thread`.split(/\s+/),
)

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

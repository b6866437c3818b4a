// A log row in the API: lists have the metadata; a single row also has attempts, labels and bodies.
import { z } from 'zod'
import type { DetailRow, LogRow } from './store.ts'
import { timelineOf, usd } from './timeline.ts'

const text = z.string().nullable()
const count = z.int()

const listed = {
  request_id: z.string(),
  created_at: z.string(),
  source: z.string().describe('`api`, or who made an internal call.'),
  endpoint: text,
  provider: text,
  model: text,
  virtual_model: text,
  requested_model: z.string().describe('As the caller wrote it: all there is of a request that was refused.'),
  api_key_label: text,
  status: count.describe('499: the client left; 502: also of a stream that failed after it had begun.'),
  latency_ms: count,
  ttft_ms: count.nullable(),
  tokens: z.strictObject({
    prompt: count,
    completion: count,
    cache_read: count,
    cache_write: count,
    reasoning: count,
    total: count,
  }),
  cost_usd: z.number().nullable(),
  charge_usd: z.number().nullable(),
  cached: z.boolean(),
  stream: z.boolean(),
  error_code: text,
  free_pool: z.boolean(),
}

export const logRecord = z.strictObject({ ...listed, attempts: count.describe('Upstream calls.') })

const attempt = z.strictObject({
  n: count,
  role: z.enum(['panel', 'judge', 'step']).nullable(),
  provider: z.string(),
  connection_id: z.string(),
  model: z.string(),
  started_at: z.string(),
  latency_ms: count.nullable().describe('Of a stream until its first content.'),
  ttft_ms: count.nullable().describe('Until the first content of a stream; null for other answers.'),
  waited_ms: count.nullable().describe('Time the request waited for the account after this call.'),
  wire_format: text.describe('Dialect of the upstream; of other operations the name of the codec.'),
  lane: z.enum(['bytes', 'events']).nullable().describe('`bytes`: the answer was passed on without decoding.'),
  cause: text.describe(
    'The part that failed: `connect`, `tls`, `dns`, `proxy`, `reset`, `timeout`, `protocol`, `status`, `stream`; or `gateway`.',
  ),
  status: count.nullable(),
  error: z.strictObject({ code: text, message: z.string() }).nullable(),
  action: text,
  skipped: z.strictObject({ reason: z.string(), until: text }).nullable(),
  tokens: z.strictObject({ prompt: z.number(), completion: z.number() }).nullable(),
  cost_usd: z.number().nullable(),
})

export const logDetail = z.strictObject({
  ...listed,
  attempts: z.array(attempt),
  wire_format: z.string(),
  connection_id: text,
  key_id: count.nullable(),
  user_id: text,
  session_id: text,
  cost_center: text,
  cache_type: z.enum(['exact', 'semantic']).nullable(),
  error_message: text,
  request_bytes: count,
  properties: z.record(z.string(), z.string()).nullable(),
  guardrails: z.array(z.unknown()).nullable().describe('Findings of guardrails: detector, entity, action, direction, count.'),
  payload_rules: z.array(z.unknown()).nullable().describe('Names of the payload rules that were applied.'),
  notes: z.record(z.string(), z.unknown()).nullable().describe('Notes of other plugins, by name.'),
  request_body: text.describe('null unless bodies are logged.'),
  response_body: text,
  request_truncated: z.boolean(),
  response_truncated: z.boolean(),
})

export const facets = z.strictObject({
  providers: z.array(z.string()),
  models: z.array(z.string()),
  sources: z.array(z.string()),
})

export interface ShownBodies {
  readonly request: string | null
  readonly response: string | null
  readonly requestTruncated: boolean
  readonly responseTruncated: boolean
}

export function recordOf(row: LogRow): z.input<typeof logRecord> {
  return { ...listedOf(row), attempts: row.attempts }
}

export function detailOf(row: DetailRow, bodies: ShownBodies): z.input<typeof logDetail> {
  return {
    ...listedOf(row),
    attempts: timelineOf(row.attempts_json, row),
    wire_format: row.wire_format,
    connection_id: row.connection_id,
    key_id: row.key_id,
    user_id: row.user_id,
    session_id: row.session_id,
    cost_center: row.cost_center,
    cache_type: row.cached as 'exact' | 'semantic' | null,
    error_message: row.error_message,
    request_bytes: row.req_bytes,
    properties: row.properties_json === null ? null : (JSON.parse(row.properties_json) as Record<string, string>),
    ...notesOf(row.notes_json),
    request_body: bodies.request,
    response_body: bodies.response,
    request_truncated: bodies.requestTruncated,
    response_truncated: bodies.responseTruncated,
  }
}

/** Two notes have their own members. */
function notesOf(json: string | null) {
  const noted = json === null ? {} : (JSON.parse(json) as Record<string, unknown>)
  const { guardrails = null, payload_rules = null, ...rest } = noted
  const list = (value: unknown): unknown[] | null => (Array.isArray(value) ? value : null)
  return {
    guardrails: list(guardrails),
    payload_rules: list(payload_rules),
    notes: Object.keys(rest).length === 0 ? null : rest,
  }
}

function listedOf(row: LogRow) {
  return {
    request_id: row.request_id,
    created_at: new Date(row.created_at).toISOString(),
    source: row.source,
    endpoint: row.endpoint,
    provider: row.provider,
    model: row.model,
    virtual_model: row.virtual_model,
    requested_model: row.requested_model,
    api_key_label: row.key_label,
    status: row.status,
    latency_ms: row.latency_ms,
    ttft_ms: row.ttft_ms,
    tokens: {
      prompt: row.tokens_prompt,
      completion: row.tokens_completion,
      cache_read: row.tokens_cache_read,
      cache_write: row.tokens_cache_write,
      reasoning: row.tokens_reasoning,
      total: row.tokens_prompt + row.tokens_completion,
    },
    cost_usd: usd(row.cost_nano),
    charge_usd: usd(row.charge_nano),
    cached: row.cached !== null,
    stream: row.stream === 1,
    error_code: row.error_code,
    free_pool: row.free_pool === 1,
  }
}

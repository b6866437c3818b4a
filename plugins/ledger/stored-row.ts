// A usage row as engines return it.
import type { UsageRow } from './service.ts'

/** Not validated: a summary reads a hundred thousand of them. */
export interface StoredRow {
  readonly request_id: string
  readonly step: number
  readonly org_id: number
  readonly at: number
  readonly key_id: number | null
  readonly key_label: string | null
  readonly user_id: string | null
  readonly session_id: string | null
  readonly cost_center: string | null
  readonly source: string
  readonly operation: string
  readonly provider: string | null
  readonly connection_id: string | null
  readonly model: string | null
  readonly requested_model: string
  readonly virtual_model: string | null
  readonly stream: number
  readonly status: number
  readonly latency_ms: number
  readonly first_byte_ms: number | null
  readonly input_tokens: number
  readonly cache_read_tokens: number
  readonly cache_write_tokens: number
  readonly output_tokens: number
  readonly reasoning_tokens: number
  readonly media_units: number
  readonly estimated: number
  readonly cost_nano: number | null
  readonly charge_nano: number | null
  readonly price_ref: string | null
  readonly cached: 'exact' | 'semantic' | null
  readonly free_pool: number
  readonly interrupted: number
}

export function usageRowOf(row: StoredRow): UsageRow {
  return {
    requestId: row.request_id,
    step: row.step,
    orgId: row.org_id === 0 ? null : row.org_id,
    at: row.at,
    keyId: row.key_id,
    keyLabel: row.key_label,
    userId: row.user_id,
    sessionId: row.session_id,
    costCenter: row.cost_center,
    source: row.source,
    operation: row.operation,
    provider: row.provider,
    connectionId: row.connection_id,
    model: row.model,
    requestedModel: row.requested_model,
    virtualModel: row.virtual_model,
    stream: row.stream !== 0,
    status: row.status,
    latencyMs: row.latency_ms,
    firstByteMs: row.first_byte_ms,
    tokens: {
      input: row.input_tokens,
      cacheRead: row.cache_read_tokens,
      cacheWrite: row.cache_write_tokens,
      output: row.output_tokens,
      reasoning: row.reasoning_tokens,
    },
    mediaUnits: row.media_units,
    estimated: row.estimated !== 0,
    costNano: row.cost_nano,
    chargeNano: row.charge_nano,
    priceRef: row.price_ref,
    cached: row.cached,
    freePool: row.free_pool !== 0,
    interrupted: row.interrupted !== 0,
  }
}

// Reads the log: rows, facets, one row.
import { sql } from '../../core/db/sql.ts'
import type { Db } from '../../core/types/ports/db.ts'
import { conditionsOf, type LogFilter, type Place } from './filters.ts'

export interface LogRow {
  id: number
  request_id: string
  created_at: number
  source: string
  endpoint: string | null
  provider: string | null
  model: string | null
  virtual_model: string | null
  requested_model: string
  key_label: string | null
  status: number
  latency_ms: number
  ttft_ms: number | null
  tokens_prompt: number
  tokens_completion: number
  tokens_cache_read: number
  tokens_cache_write: number
  tokens_reasoning: number
  cost_nano: number | null
  charge_nano: number | null
  cached: string | null
  stream: number
  attempts: number
  error_code: string | null
  free_pool: number
}

export interface DetailRow extends LogRow {
  wire_format: string
  key_id: number | null
  user_id: string | null
  session_id: string | null
  cost_center: string | null
  connection_id: string | null
  error_message: string | null
  attempts_json: string | null
  properties_json: string | null
  notes_json: string | null
  req_bytes: number
}

export interface Facets {
  providers: string[]
  models: string[]
  sources: string[]
}

/** Newest rows that facets are computed from. */
const FACET_ROWS = 5000

const LISTED = sql.join(
  [
    'id',
    'request_id',
    'created_at',
    'source',
    'endpoint',
    'provider',
    'model',
    'virtual_model',
    'requested_model',
    'key_label',
    'status',
    'latency_ms',
    'ttft_ms',
    'tokens_prompt',
    'tokens_completion',
    'tokens_cache_read',
    'tokens_cache_write',
    'tokens_reasoning',
    'cost_nano',
    'charge_nano',
    'cached',
    'stream',
    'attempts',
    'error_code',
    'free_pool',
  ].map((name) => sql.id(name)),
)

/** Returns rows, newest first; none older than `from` if given. */
export function rowsBetween(db: Db, orgId: number | null, filter: LogFilter, limit: number, from?: Place): Promise<LogRow[]> {
  const oldest = from === undefined ? [] : [sql`(created_at, id) >= (${from[0]}, ${from[1]})`]
  return db.all<LogRow>(
    sql`SELECT ${LISTED} FROM request_log WHERE ${sql.and([conditionsOf(orgId, filter), ...oldest])}
        ORDER BY created_at DESC, id DESC LIMIT ${limit}`,
  )
}

/**
 * Returns the place that many rows further down; undefined when there are fewer. Reads only an index.
 * @param filter the prefix of an index: a user, a session or nothing, and the place to start at.
 */
export async function placeBelow(
  db: Db,
  orgId: number | null,
  filter: Pick<LogFilter, 'cursor' | 'user_id' | 'session_id'>,
  rows: number,
): Promise<Place | undefined> {
  const found = await db.get<{ created_at: number; id: number }>(
    sql`SELECT created_at, id FROM request_log WHERE ${conditionsOf(orgId, filter)}
        ORDER BY created_at DESC, id DESC LIMIT 1 OFFSET ${rows}`,
  )
  return found === undefined ? undefined : [found.created_at, found.id]
}

/** Returns the facets of an organization's newest rows. */
export async function facetsOf(db: Db, orgId: number | null): Promise<Facets> {
  const rows = await db.all<{ provider: string | null; model: string | null; source: string }>(
    sql`SELECT DISTINCT provider, model, source FROM (
          SELECT provider, model, source FROM request_log WHERE org_id = ${orgId ?? 0}
          ORDER BY created_at DESC, id DESC LIMIT ${FACET_ROWS}) newest`,
  )
  const distinct = (values: (string | null)[]) => [...new Set(values.filter((value) => value !== null))].sort()
  return {
    providers: distinct(rows.map(({ provider }) => provider)),
    models: distinct(rows.map(({ model }) => model)),
    sources: distinct(rows.map(({ source }) => source)),
  }
}

export function rowOf(db: Db, orgId: number | null, requestId: string): Promise<DetailRow | undefined> {
  return db.get<DetailRow>(sql`SELECT * FROM request_log WHERE request_id = ${requestId} AND org_id = ${orgId ?? 0}`)
}

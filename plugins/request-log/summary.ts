// GET /api/logs/summary: outcomes and times of the newest requests, with those that were refused before any upstream was asked.
import { z } from 'zod'
import { sql } from '../../core/db/sql.ts'
import { backDays } from '../../core/http/window.ts'
import type { Db } from '../../core/types/ports/db.ts'

/** Newest rows that a summary reads, some thousand. More would hold up other queries of SQLite. */
const ROWS = 10_000
const GROUPS = 20
/** Keys and virtual models in one answer. */
const CALLERS = 500
const DAY_MS = 86_400_000
/** Shorter streams arrived in one piece: their speed is that of the network. */
const MIN_SPEED_MS = 50
const WINDOWS = { '1h': 3_600_000, '24h': 86_400_000, '7d': 604_800_000, '30d': 2_592_000_000 } as const

const ms = z.int().nullable()
const outcomes = { requests: z.int(), refused: z.int(), failed: z.int() }

export const summaryQuery = z.strictObject({
  window: z.enum(['1h', '24h', '7d', '30d']).default('24h').describe('Up to now.'),
  back_days: backDays.default(0).describe('The same window this many days earlier, for comparisons.'),
})

export const summaryRecord = z.strictObject({
  window: z.strictObject({ since: z.iso.datetime(), until: z.iso.datetime() }),
  truncated: z.boolean().describe(`True: only the newest ${ROWS / 1000},000 requests of the window are counted.`),
  requests: z.int(),
  answered: z.int().describe('Status below 400.'),
  refused: z.int().describe('Status 400 to 499: wrong, not allowed, or over a limit.'),
  failed: z.int().describe('Status 500 and above.'),
  cached: z.int(),
  retried: z.int().describe('Answered after more than one attempt.'),
  p50_ms: ms.describe('Of answered requests.'),
  p95_ms: ms,
  ttft_p50_ms: ms.describe('Time to the first token, of streams.'),
  tokens_per_s_p50: z.number().nullable().describe('Tokens a second of streams, from their first token on.'),
  errors: z
    .array(
      z.strictObject({
        provider: z.string().nullable().describe('null: the gateway answered by itself.'),
        status: z.int(),
        code: z.string().nullable(),
        requests: z.int(),
        last_at: z.iso.datetime(),
      }),
    )
    .describe('The most frequent first.'),
  by_virtual_model: z
    .array(z.strictObject({ virtual_model: z.string(), ...outcomes }))
    .describe('Also requests that reached no upstream. The most requested first.'),
  by_key: z.array(z.strictObject({ key_id: z.int(), key: z.string(), ...outcomes })),
})

type Summary = z.input<typeof summaryRecord>

interface Row {
  created_at: number
  provider: string | null
  status: number
  error_code: string | null
  latency_ms: number
  ttft_ms: number | null
  tokens_completion: number
  stream: number
  cached: string | null
  attempts: number
  virtual_model: string | null
  key_id: number | null
  key_label: string | null
}

export async function summaryOf(
  db: Db,
  orgId: number | null,
  { window, back_days }: z.output<typeof summaryQuery>,
  at: number,
): Promise<Summary> {
  const now = at - back_days * DAY_MS
  const since = now - WINDOWS[window]
  const rows = await db.all<Row>(
    sql`SELECT created_at, provider, status, error_code, latency_ms, ttft_ms, tokens_completion, stream, cached, attempts,
          virtual_model, key_id, key_label FROM request_log
        WHERE org_id = ${orgId ?? 0} AND created_at >= ${since} AND created_at < ${now + 1} ORDER BY created_at DESC, id DESC LIMIT ${ROWS + 1}`,
  )
  const counted = rows.slice(0, ROWS)
  const answered = counted.filter(({ status }) => status < 400)
  const times = answered.map(({ latency_ms }) => latency_ms).sort((a, b) => a - b)
  const first = answered
    .flatMap(({ stream, ttft_ms }) => (stream === 1 && ttft_ms !== null ? [ttft_ms] : []))
    .sort((a, b) => a - b)
  const speeds = answered.flatMap((row) => speedOf(row) ?? []).sort((a, b) => a - b)
  return {
    window: { since: new Date(since).toISOString(), until: new Date(now).toISOString() },
    truncated: rows.length > ROWS,
    requests: counted.length,
    answered: answered.length,
    refused: counted.filter(({ status }) => status >= 400 && status < 500).length,
    failed: counted.filter(({ status }) => status >= 500).length,
    cached: counted.filter(({ cached }) => cached !== null).length,
    retried: answered.filter(({ attempts }) => attempts > 1).length,
    p50_ms: percentile(times, 0.5),
    p95_ms: percentile(times, 0.95),
    ttft_p50_ms: percentile(first, 0.5),
    tokens_per_s_p50: percentile(speeds, 0.5),
    errors: errorGroups(counted),
    by_virtual_model: byCaller(counted, ({ virtual_model }) => virtual_model).map(({ row: { virtual_model }, ...sums }) => ({
      virtual_model: virtual_model as string,
      ...sums,
    })),
    by_key: byCaller(counted, ({ key_id }) => key_id).map(({ row: { key_id, key_label }, ...sums }) => ({
      key_id: key_id as number,
      key: key_label ?? `key ${key_id}`,
      ...sums,
    })),
  }
}

/** Tokens a second of a stream; null: too short to tell. */
function speedOf({ stream, cached, ttft_ms, latency_ms, tokens_completion }: Row): number | null {
  if (stream === 0 || cached !== null || ttft_ms === null || tokens_completion < 2) return null
  const ms = latency_ms - ttft_ms
  return ms < MIN_SPEED_MS ? null : Math.round((tokens_completion / ms) * 10_000) / 10
}

/** Nearest rank. */
function percentile(sorted: readonly number[], part: number): number | null {
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? null
}

interface Sums {
  /** The newest. */
  readonly row: Row
  requests: number
  refused: number
  failed: number
}

/** Rows without a caller are left out. */
function byCaller(rows: readonly Row[], caller: (row: Row) => string | number | null): Sums[] {
  const sums = new Map<string | number, Sums>()
  for (const row of rows) {
    const of = caller(row)
    if (of === null) continue
    let sum = sums.get(of)
    if (sum === undefined) {
      sum = { row, requests: 0, refused: 0, failed: 0 }
      sums.set(of, sum)
    }
    sum.requests++
    if (row.status >= 500) sum.failed++
    else if (row.status >= 400) sum.refused++
  }
  return [...sums.values()].sort((a, b) => b.requests - a.requests).slice(0, CALLERS)
}

function errorGroups(rows: readonly Row[]): Summary['errors'] {
  const groups = new Map<string, Summary['errors'][number]>()
  // The newest row comes first.
  for (const { provider, status, error_code: code, created_at } of rows) {
    if (status < 400) continue
    const key = JSON.stringify([provider, status, code])
    const group = groups.get(key)
    if (group === undefined) groups.set(key, { provider, status, code, requests: 1, last_at: new Date(created_at).toISOString() })
    else group.requests++
  }
  return [...groups.values()].sort((a, b) => b.requests - a.requests).slice(0, GROUPS)
}

// The statement of savings of a calendar month: what each source saved, against which baseline, and whether the provider measured it or
// the gateway estimated it. Sums are whole nano-USD over the receipts of the chain, which is verified.
import { z } from 'zod'
import { sql } from '../../../core/db/sql.ts'
import type { Calendar } from '../../../core/timing/calendar.ts'
import type { Db } from '../../../core/types/ports/db.ts'
import type { ChainReport } from '../verify.ts'

export const MONTH = /^(?:19[7-9]\d|2\d{3})-(?:0[1-9]|1[0-2])$/

/** `measured`: from the provider's own token counts. `estimated`: from the gateway's counts, or the cost of a choice that was not made. */
export type Basis = 'measured' | 'estimated'

export interface Amount {
  readonly receipts: number
  readonly tokensSaved: number
  readonly nano: number
}

export interface Line extends Amount {
  readonly source: string
  readonly method: string
  readonly basis: Basis
  readonly baseline: string
  /** Receipts without a known price: they count no money. */
  readonly unpriced: number
}

export interface Statement {
  /** `2026-11`. */
  readonly month: string
  readonly zone: string
  /** Epoch ms, half open. */
  readonly since: number
  readonly until: number
  readonly at: number
  /** False while the month lasts. */
  readonly over: boolean
  /** Receipts before this instant may have been deleted; null: none were. A month that begins before it is not whole. */
  readonly keptSince: number | null
  readonly chain: ChainReport
  readonly lines: readonly Line[]
  readonly measured: Amount
  readonly estimated: Amount
  readonly total: Amount
}

/** The baseline of each source: the cost that a request did not have. */
const BASELINES: Readonly<Record<string, string>> = {
  token_filter: 'The tool output before filtering, by the gateway’s count, at the input price of the model that answered.',
  exact_cache: 'The stored call, made again: its cost then, or at current prices when the price list has changed.',
  semantic_cache: 'The stored call, made again: its cost then, or at current prices when the price list has changed.',
  prompt_cache: 'The prompt without the provider’s cache, at the input price. Writes to the cache count against the saving.',
  routing: 'The same tokens at the most expensive target that could have answered.',
  free_pool: 'The same call at its list price.',
}
const CLAIMED = 'As the plugin that books it states in the details of each receipt.'

const sumRow = z.object({
  source: z.string(),
  method: z.string(),
  receipts: z.number().int(),
  tokens: z.number(),
  nano: z.number(),
  unpriced: z.number().int(),
})

/** Returns the window of a month in the calendar's zone. */
export function monthOf(calendar: Calendar, month: string): { since: number; until: number } {
  const [year = 0, number = 1] = month.split('-').map(Number)
  // The fifteenth at noon is in the month everywhere.
  const { start, end } = calendar.at('monthly', Date.UTC(year, number - 1, 15, 12))
  return { since: start, until: end as number }
}

/** The last month that is over: `2026-10`. */
export function lastMonth(calendar: Calendar, now: number): string {
  const { start, end } = calendar.at('monthly', calendar.at('monthly', now).start - 1)
  return new Date((start + (end as number)) / 2).toISOString().slice(0, 7)
}

export interface StatementSources {
  readonly db: Db
  readonly calendar: Calendar
  readonly now: number
  /** Days; 0 and below keep every receipt. */
  readonly retentionDays: number
  verified(): Promise<ChainReport>
}

export async function statementOf(sources: StatementSources, orgId: number | null, month: string): Promise<Statement> {
  const { db, calendar, now, retentionDays } = sources
  const window = monthOf(calendar, month)
  const chain = await sources.verified()
  const rows = await db.all(
    sql`SELECT source, method, COUNT(*) AS receipts, SUM(tokens_saved) AS tokens, SUM(usd_saved_nano) AS nano,
          SUM(CASE WHEN price_ref IS NULL THEN 1 ELSE 0 END) AS unpriced
        FROM savings_receipts
        WHERE org_id = ${orgId ?? 0} AND seq IS NOT NULL AND at >= ${window.since} AND at < ${window.until}
        GROUP BY source, method ORDER BY source, method`,
    sumRow,
  )
  const lines = rows.map(({ source, method, receipts, tokens, nano, unpriced }): Line => {
    const basis = method === 'measured' ? 'measured' : 'estimated'
    return { source, method, basis, baseline: BASELINES[source] ?? CLAIMED, receipts, tokensSaved: tokens, nano, unpriced }
  })
  const keptSince = retentionDays <= 0 ? null : now - retentionDays * 86_400_000
  return {
    month,
    zone: calendar.zone,
    ...window,
    at: now,
    over: window.until <= now,
    keptSince: keptSince !== null && keptSince > window.since ? keptSince : null,
    chain,
    lines,
    measured: summed(lines.filter(({ basis }) => basis === 'measured')),
    estimated: summed(lines.filter(({ basis }) => basis === 'estimated')),
    total: summed(lines),
  }
}

function summed(lines: readonly Amount[]): Amount {
  return {
    receipts: lines.reduce((sum, line) => sum + line.receipts, 0),
    tokensSaved: lines.reduce((sum, line) => sum + line.tokensSaved, 0),
    nano: lines.reduce((sum, line) => sum + line.nano, 0),
  }
}

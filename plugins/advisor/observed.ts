// Counts of the advisor per day, organization, virtual model and target: sums in memory, added to the table once a minute.
import { z } from 'zod'
import { sql } from '../../core/db/sql.ts'
import type { Db } from '../../core/types/ports/db.ts'

/** Whole numbers that add up over processes and days. The texts are estimates from a sample; each counts for the requests it stands for. */
export const COUNTS = [
  'calls',
  'failures',
  'outages',
  'looked_at',
  'cost_nano',
  'repeats',
  'repeat_cost_nano',
  'near_repeats',
  'near_cost_nano',
  'prompt_chars',
  'tool_chars',
  'prefix_chars',
] as const
export type Counts = Record<(typeof COUNTS)[number], number>

/** The place that a call went to. `virtualModel` is empty when the caller named the model itself. */
export interface Place {
  readonly virtualModel: string
  readonly provider: string
  readonly model: string
  readonly wireFormat: string
}

export interface Observed extends Place, Counts {}

const DAY_MS = 86_400_000

interface Row extends Place {
  readonly orgId: number
  readonly day: number
  readonly counts: Counts
}

export class ObservedSums {
  #rows = new Map<string, Row>()
  /** Most requests go where the one before went. */
  #last: Row | null = null

  at(orgId: number | null, now: number, place: Place): Counts {
    const { virtualModel, provider, model, wireFormat } = place
    const day = Math.floor(now / DAY_MS)
    if (this.#last !== null && isOf(this.#last, orgId ?? 0, day, place)) return this.#last.counts
    const id = `${orgId ?? 0} ${day} ${virtualModel} ${provider} ${model} ${wireFormat}`
    let row = this.#rows.get(id)
    if (row === undefined) {
      row = { orgId: orgId ?? 0, day, virtualModel, provider, model, wireFormat, counts: none() }
      this.#rows.set(id, row)
    }
    this.#last = row
    return row.counts
  }

  /** Adds what was counted since the last call to the table. When that fails, it is kept for the next call. */
  async flush(db: Db): Promise<void> {
    const rows = this.#rows
    if (rows.size === 0) return
    this.#rows = new Map()
    this.#last = null
    try {
      await db.tx(async (tx) => {
        for (const row of rows.values()) await tx.run(added(row))
      })
    } catch (error) {
      for (const [id, row] of rows) {
        const later = this.#rows.get(id)
        if (later === undefined) this.#rows.set(id, row)
        else for (const name of COUNTS) later.counts[name] += row.counts[name]
      }
      throw error
    }
  }
}

function isOf(row: Row, orgId: number, day: number, place: Place): boolean {
  return (
    row.orgId === orgId &&
    row.day === day &&
    row.model === place.model &&
    row.provider === place.provider &&
    row.virtualModel === place.virtualModel &&
    row.wireFormat === place.wireFormat
  )
}

function none(): Counts {
  return Object.fromEntries(COUNTS.map((name) => [name, 0])) as Counts
}

function added({ orgId, day, virtualModel, provider, model, wireFormat, counts }: Row) {
  const columns = sql.join(COUNTS.map((name) => sql.id(name)))
  const values = sql.join(COUNTS.map((name) => sql`${Math.round(counts[name])}`))
  const sums = sql.join(COUNTS.map((name) => sql`${sql.id(name)} = advisor_observed.${sql.id(name)} + excluded.${sql.id(name)}`))
  return sql`INSERT INTO advisor_observed (org_id, day, virtual_model, provider, model, wire_format, ${columns})
    VALUES (${orgId}, ${day}, ${virtualModel}, ${provider}, ${model}, ${wireFormat}, ${values})
    ON CONFLICT (org_id, day, virtual_model, provider, model, wire_format) DO UPDATE SET ${sums}`
}

const row = z
  .object({ virtual_model: z.string(), provider: z.string(), model: z.string(), wire_format: z.string() })
  .extend(Object.fromEntries(COUNTS.map((name) => [name, z.coerce.number()])) as Record<keyof Counts, z.ZodCoercedNumber>)
  .transform(({ virtual_model, wire_format, ...rest }) => ({ virtualModel: virtual_model, wireFormat: wire_format, ...rest }))

/** Sums over the days from `since` on, one row per place. */
export function observedSince(db: Db, orgId: number | null, since: number): Promise<Observed[]> {
  const sums = sql.join(COUNTS.map((name) => sql`SUM(${sql.id(name)}) AS ${sql.id(name)}`))
  return db.all(
    sql`SELECT virtual_model, provider, model, wire_format, ${sums} FROM advisor_observed
        WHERE org_id = ${orgId ?? 0} AND day >= ${Math.floor(since / DAY_MS)}
        GROUP BY virtual_model, provider, model, wire_format ORDER BY virtual_model, provider, model, wire_format`,
    row,
  )
}

/** Requests that reached no upstream, because every account was cooling down. Their place has no provider. */
export async function unansweredOf(db: Db, orgId: number | null, virtualModel: string | null): Promise<number> {
  const only = virtualModel === null ? sql.empty : sql`AND virtual_model = ${virtualModel}`
  const row = await db.get(
    sql`SELECT COALESCE(SUM(calls), 0) AS calls FROM advisor_observed WHERE org_id = ${orgId ?? 0} AND provider = '' ${only}`,
    z.object({ calls: z.coerce.number() }),
  )
  return row?.calls ?? 0
}

export async function forgetObserved(db: Db, before: number): Promise<void> {
  await db.run(sql`DELETE FROM advisor_observed WHERE day < ${Math.floor(before / DAY_MS)}`)
}

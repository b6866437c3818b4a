// Deletes old log data: rows by age, bodies by their own age, and everything by total size. It deletes the oldest rows first, in steps
// with requests served in between. Rows are ordered by their end, so a long answer may be slightly out of order; a step still removes the
// oldest rows.
import { sql } from '../../core/db/sql.ts'
import type { Db } from '../../core/types/ports/db.ts'
import type { Clock } from '../../core/types/ports/ports.ts'
import { removed } from './body-store.ts'

export interface Limits {
  /** Days to keep each kind: 0 = unlimited. */
  readonly days: number
  readonly bodyDays: number
  readonly maxBytes: number
}

export interface Pruned {
  rows: number
  bodies: number
}

/** Rows per transaction; writers wait for it. */
const AT_ONCE = 1000
const PAUSE_MS = 25
const DAY_MS = 86_400_000
/** Bytes of a row with its part of the indexes, as measured by bench/logs.mjs. */
export const ROW_BYTES = 400

export async function prune(db: Db, clock: Clock, limits: Limits, signal: AbortSignal): Promise<Pruned> {
  const { days, bodyDays, maxBytes } = limits
  const now = clock.now()
  const before = (age: number): number => now - age * DAY_MS
  const shortest = bodyDays > 0 && (days === 0 || bodyDays < days) ? bodyDays : days
  const repeated = async (step: () => Promise<number>): Promise<number> => {
    let total = 0
    for (let gone = 1; gone > 0 && !signal.aborted; ) {
      gone = await step()
      total += gone
      if (gone > 0) await clock.sleep(PAUSE_MS, signal)
    }
    return total
  }
  const pruned: Pruned = { rows: 0, bodies: 0 }
  if (shortest > 0) pruned.bodies += await repeated(() => oldBodies(db, before(shortest)))
  if (days > 0) pruned.rows += await repeated(() => oldRows(db, before(days)))
  if (maxBytes > 0) {
    pruned.bodies += await repeated(() => bodiesOver(db, maxBytes))
    pruned.rows += await repeated(() => rowsOver(db, maxBytes))
  }
  return pruned
}

/** Usually there is nothing to do, so it is checked without blocking writers. */
async function oldBodies(db: Db, cutoff: number): Promise<number> {
  const last = (await firstBodies(db)).filter(({ created_at }) => created_at < cutoff).at(-1)
  return last === undefined ? 0 : deleteBodies(db, last.id, cutoff)
}

async function oldRows(db: Db, cutoff: number): Promise<number> {
  const first = await db.all<{ id: number; created_at: number }>(
    sql`SELECT id, created_at FROM request_log ORDER BY id LIMIT ${AT_ONCE}`,
  )
  const last = first.filter(({ created_at }) => created_at < cutoff).at(-1)
  if (last === undefined) return 0
  return (await db.run(sql`DELETE FROM request_log WHERE id <= ${last.id} AND created_at < ${cutoff}`)).changes
}

/** Returns the number of oldest bodies to delete. */
async function bodiesOver(db: Db, maxBytes: number): Promise<number> {
  let excess = (await sizeOf(db)) - maxBytes
  if (excess <= 0) return 0
  let last: number | null = null
  for (const { id, bytes } of await firstBodies(db)) {
    if (excess <= 0) break
    excess -= bytes
    last = id
  }
  return last === null ? 0 : deleteBodies(db, last, Number.MAX_SAFE_INTEGER)
}

async function rowsOver(db: Db, maxBytes: number): Promise<number> {
  const excess = (await sizeOf(db)) - maxBytes
  if (excess <= 0) return 0
  const rows = Math.min(AT_ONCE, Math.ceil(excess / ROW_BYTES))
  const oldest = sql`SELECT id FROM request_log ORDER BY id LIMIT ${rows}`
  return (await db.run(sql`DELETE FROM request_log WHERE id IN (${oldest})`)).changes
}

interface FirstBody {
  id: number
  created_at: number
  bytes: number
}

function firstBodies(db: Db): Promise<FirstBody[]> {
  return db.all(sql`SELECT id, created_at, bytes FROM request_log_bodies ORDER BY id LIMIT ${AT_ONCE}`)
}

function deleteBodies(db: Db, last: number, cutoff: number): Promise<number> {
  return db.tx(async (tx) => {
    const gone = await tx.all<{ bytes: number }>(
      sql`DELETE FROM request_log_bodies WHERE id <= ${last} AND created_at < ${cutoff} RETURNING bytes`,
    )
    await removed(tx, gone)
    return gone.length
  })
}

/** Estimates without counting: from the numbers of the first and the last row, and the running sum of bodies. */
async function sizeOf(db: Db): Promise<number> {
  const found = await db.get<{ first: number | null; last: number | null; body_bytes: number | null }>(
    sql`SELECT (SELECT MIN(id) FROM request_log) AS first, (SELECT MAX(id) FROM request_log) AS last,
          (SELECT body_bytes FROM request_log_totals WHERE id = 1) AS body_bytes`,
  )
  const { first = null, last = null, body_bytes = null } = found ?? {}
  const rows = first === null || last === null ? 0 : last - first + 1
  return rows * ROW_BYTES + (body_bytes ?? 0)
}

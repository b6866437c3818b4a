// Stores cooldowns, locks and quota as rows, so that a restart does not overload a limited account. Circuits are not stored, because they
// open again within seconds. A refused credential is not stored, because the key may have changed in between.
import { z } from 'zod'
import { sql } from '../../../core/db/sql.ts'
import type { Db } from '../../../core/types/ports/db.ts'
import type { Clock } from '../../../core/types/ports/ports.ts'
import type { AccountState } from './account-state.ts'
import { join, type Snapshot, snapshot, snapshotOf } from './sharing.ts'

const int = z.number().int()
const lastError = z.object({ status: z.number(), message: z.string(), at: z.number() })
const stateRow = z.object({
  connection_id: z.string(),
  cooldown_until: int.nullable(),
  level: int,
  quota_until: int.nullable(),
  last_error: z
    .string()
    .nullable()
    .transform((text) => (text === null ? null : lastError.parse(JSON.parse(text)))),
  last_used_at: int.nullable(),
  cleared_at: int,
})
const lockRow = z.object({ connection_id: z.string(), ...snapshot.shape.locks.element.shape })

/** Loads earlier states into `of(id)`; skips states that have ended. */
export async function loadStates(db: Db, of: (id: string) => AccountState, clock: Clock): Promise<void> {
  const now = clock.now()
  const rows = await db.all(sql`SELECT * FROM resilience_state`, stateRow)
  const locks = await db.all(sql`SELECT * FROM resilience_locks WHERE until > ${now}`, lockRow)
  const locksOf = grouped(locks)
  for (const row of rows) {
    const state = of(row.connection_id)
    const stored: Snapshot = {
      cooldown_until: future(row.cooldown_until, now),
      level: row.level,
      quota_until: future(row.quota_until, now),
      locks: locksOf.get(row.connection_id) ?? [],
      circuit: null,
      circuit_at: 0,
      cleared_at: row.cleared_at,
    }
    join(state, stored, clock)
    state.lastError = row.last_error
    state.lastUsedAt = row.last_used_at
  }
}

export async function storeState(db: Db, state: AccountState, clock: Clock): Promise<void> {
  const { id } = state
  const now = clock.now()
  const { cooldown_until, level, quota_until, locks, cleared_at } = snapshotOf(state, clock)
  const kept = locks.filter(({ until }) => until > now)
  const error = state.lastError === null ? null : JSON.stringify(state.lastError)
  await db.tx(async (tx) => {
    await tx.run(sql`DELETE FROM resilience_state WHERE connection_id = ${id}`)
    await tx.run(sql`DELETE FROM resilience_locks WHERE connection_id = ${id}`)
    await tx.run(
      sql`INSERT INTO resilience_state (connection_id, cooldown_until, level, quota_until, last_error, last_used_at, cleared_at,
            updated_at)
          VALUES (${id}, ${cooldown_until}, ${level}, ${quota_until}, ${error}, ${state.lastUsedAt}, ${cleared_at}, ${now})`,
    )
    for (const lock of kept)
      await tx.run(
        sql`INSERT INTO resilience_locks (connection_id, model, until, reason, level)
            VALUES (${id}, ${lock.model}, ${lock.until}, ${lock.reason}, ${lock.level})`,
      )
  })
}

function future(until: number | null, now: number): number | null {
  return until !== null && until > now ? until : null
}

function grouped<T extends { connection_id: string }>(rows: readonly T[]): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const row of rows) groups.set(row.connection_id, [...(groups.get(row.connection_id) ?? []), row])
  return groups
}

// Stores each attempt of a delivery, for operators. A delivery counts its attempts itself.
import { z } from 'zod'
import { sql } from '../../../core/db/sql.ts'
import type { Db, Sql } from '../../../core/types/ports/db.ts'
import type { Sent } from './attempt.ts'

const int = z.number().int()
const attemptRow = z.object({ at: int, status: int.nullable(), error: z.string().nullable(), duration_ms: int })
export type AttemptRow = z.output<typeof attemptRow>

/** Attempts of one delivery that are shown. */
const SHOWN = 50

export function attemptStatement(deliveryId: string, { status, error }: Sent, startedAt: number, now: number): Sql {
  return sql`INSERT INTO webhooks_attempts (delivery_id, at, status, error, duration_ms)
    VALUES (${deliveryId}, ${startedAt}, ${status}, ${error}, ${Math.max(0, now - startedAt)})`
}

/** Returns the newest attempts, oldest first. */
export async function attemptsOf(db: Db, deliveryId: string): Promise<AttemptRow[]> {
  const rows = await db.all(
    sql`SELECT at, status, error, duration_ms FROM webhooks_attempts WHERE delivery_id = ${deliveryId} ORDER BY id DESC LIMIT ${SHOWN}`,
    attemptRow,
  )
  return rows.reverse()
}

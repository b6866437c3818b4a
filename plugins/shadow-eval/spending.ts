// The spending cap of a UTC day, shared by all processes through one row: an amount is reserved before each call and exchanged for its
// cost after it. A process that dies leaves its reservation, which then counts as spent.
import { z } from 'zod'
import { sql } from '../../core/db/sql.ts'
import type { Db } from '../../core/types/ports/db.ts'

export interface Spent {
  readonly spentNano: number
  readonly reservedNano: number
}

export interface Spending {
  /** Nano-USD of a day. */
  readonly capNano: number
  /** Returns false when the amount does not fit under the cap of this day. */
  reserve(day: string, nano: number): Promise<boolean>
  /** Books a cost in place of a reservation, and reserves again. False: the cost is booked, and the new reservation does not fit. */
  exchange(day: string, from: { readonly reserved: number; readonly cost: number }, nano: number): Promise<boolean>
  of(day: string): Promise<Spent>
  forget(before: string): Promise<void>
}

const row = z.object({ spent_nano: z.number(), reserved_nano: z.number() })

/** The UTC day of an instant: `2026-11-25`. */
export function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10)
}

/** The start of the next UTC day, epoch ms. */
export function nextDay(at: number): number {
  return Date.parse(dayOf(at)) + 86_400_000
}

export function spendingOf(db: Db, capNano: number): Spending {
  return {
    capNano,
    async reserve(day, nano) {
      await db.run(
        sql`INSERT INTO shadow_eval_days (day, spent_nano, reserved_nano) VALUES (${day}, 0, 0) ON CONFLICT DO NOTHING`,
      )
      const { changes } = await db.run(
        sql`UPDATE shadow_eval_days SET reserved_nano = reserved_nano + ${nano}
            WHERE day = ${day} AND spent_nano + reserved_nano + ${nano} <= ${capNano}`,
      )
      return changes === 1
    },
    async exchange(day, { reserved, cost }, nano) {
      const { changes } = await db.run(
        sql`UPDATE shadow_eval_days SET spent_nano = spent_nano + ${cost}, reserved_nano = reserved_nano + ${nano - reserved}
            WHERE day = ${day} AND spent_nano + reserved_nano + ${cost + nano - reserved} <= ${capNano}`,
      )
      if (changes === 1) return true
      await db.run(
        sql`UPDATE shadow_eval_days SET spent_nano = spent_nano + ${cost}, reserved_nano = reserved_nano - ${reserved}
            WHERE day = ${day}`,
      )
      return false
    },
    async of(day) {
      const found = await db.get(sql`SELECT spent_nano, reserved_nano FROM shadow_eval_days WHERE day = ${day}`, row)
      return { spentNano: found?.spent_nano ?? 0, reservedNano: found?.reserved_nano ?? 0 }
    },
    async forget(before) {
      await db.run(sql`DELETE FROM shadow_eval_days WHERE day < ${before}`)
    },
  }
}

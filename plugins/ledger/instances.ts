// Writes heartbeats of running processes. Others use them to find requests that will never settle.
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { z } from 'zod'
import { sql } from '../../core/db/sql.ts'
import type { Db } from '../../core/types/ports/db.ts'
import type { Clock } from '../../core/types/ports/ports.ts'
import type { Processes } from '../../core/types/ports/processes.ts'

/** Interval of the heartbeat. */
export const HEARTBEAT_MS = 10_000
/** A process that is silent for this long counts as dead: three leases of 30 s. */
const DEAD_AFTER_MS = 90_000

const instanceRow = z.object({
  boot_id: z.string(),
  host: z.string(),
  pid: z.number(),
  born_at: z.number(),
  seen_at: z.number(),
})
type InstanceRow = z.output<typeof instanceRow>

export interface Instances {
  /** Id of this gateway's boot. */
  readonly bootId: string
  beat(): Promise<void>
  leave(): Promise<void>
  /** Returns a test for boots that will not settle any more. */
  dead(): Promise<(bootId: string, lastSign: number) => boolean>
}

/** @param processes absent: a process counts as dead only after its silence. */
export function instances(db: Db, clock: Clock, processes?: Processes): Instances {
  const bootId = randomUUID()
  const host = hostname()
  const { pid } = process
  const bornAt = Math.round(performance.timeOrigin)
  return {
    bootId,
    async beat() {
      const now = clock.now()
      await db.run(
        sql`INSERT INTO ledger_instances (boot_id, host, pid, born_at, seen_at) VALUES (${bootId}, ${host}, ${pid}, ${bornAt}, ${now})
            ON CONFLICT (boot_id) DO UPDATE SET seen_at = excluded.seen_at`,
      )
    },
    async leave() {
      await db.run(sql`DELETE FROM ledger_instances WHERE boot_id = ${bootId}`)
    },
    async dead() {
      const now = clock.now()
      const rows = await db.all(sql`SELECT * FROM ledger_instances`, instanceRow)
      const byBoot = new Map(rows.map((row) => [row.boot_id, row]))
      await db.run(sql`DELETE FROM ledger_instances WHERE seen_at < ${now - 10 * DEAD_AFTER_MS}`)
      return (id, lastSign) => {
        const row = byBoot.get(id)
        if (row === undefined) return lastSign < now - DEAD_AFTER_MS
        return row.seen_at < now - DEAD_AFTER_MS || (row.host === host && isGone(row))
      }
    },
  }

  /** A dead process of this machine needs no waiting time. Its pid may have been reused, so the start time is compared too. */
  function isGone({ pid: other, born_at }: InstanceRow): boolean {
    return other === pid ? born_at !== bornAt : processes?.runs(other) === false
  }
}

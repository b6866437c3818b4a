// Reads stored packs of traces, and takes those whose requests will not settle any more.
import { z } from 'zod'
import { sql } from '../../core/db/sql.ts'
import type { Db } from '../../core/types/ports/db.ts'
import { type PackedTrace, unpackTraces } from './packed-traces.ts'

const packRow = z
  .object({ boot_id: z.string(), seq: z.number(), at: z.number(), requests: z.string(), ended: z.string() })
  .transform(({ requests: stored, ended, ...pack }) => {
    const over = new Set(ended.split(' '))
    return { ...pack, stored, requests: unpackTraces(stored).filter(({ request_id }) => !over.has(request_id)) }
  })
export type PackRow = z.output<typeof packRow>

/** Returns packs of other boots, in order, after one of them. */
export function strayPacks(
  db: Db,
  bootId: string,
  [afterBoot, afterSeq]: readonly [string, number],
  limit: number,
): Promise<PackRow[]> {
  return db.all(
    sql`SELECT boot_id, seq, at, requests, ended FROM ledger_traces
        WHERE boot_id <> ${bootId} AND (boot_id > ${afterBoot} OR (boot_id = ${afterBoot} AND seq > ${afterSeq}))
        ORDER BY boot_id, seq LIMIT ${limit}`,
    packRow,
  )
}

/** Returns packs of this boot from before an instant. */
export function ownPacks(db: Db, bootId: string, before: number, limit: number): Promise<PackRow[]> {
  return db.all(
    sql`SELECT boot_id, seq, at, requests, ended FROM ledger_traces
        WHERE boot_id = ${bootId} AND at < ${before} ORDER BY seq LIMIT ${limit}`,
    packRow,
  )
}

/**
 * Deletes the pack. Returns its requests that have no usage row, and no trace of their own, which is settled by itself. Returns none when
 * another process took the pack, or its process lives and wrote other traces there.
 */
export async function takePack(tx: Db, pack: PackRow): Promise<PackedTrace[]> {
  const { changes } = await tx.run(
    sql`DELETE FROM ledger_traces WHERE boot_id = ${pack.boot_id} AND seq = ${pack.seq} AND requests = ${pack.stored}`,
  )
  const ids = pack.requests.map(({ request_id }) => request_id)
  if (changes === 0 || ids.length === 0) return []
  const known = await tx.all<{ request_id: string }>(
    sql`SELECT request_id FROM ledger_usage WHERE request_id IN ${sql.in(ids)}
        UNION SELECT request_id FROM ledger_dispatch WHERE request_id IN ${sql.in(ids)}`,
  )
  const settled = new Set(known.map(({ request_id }) => request_id))
  return pack.requests.filter(({ request_id }) => !settled.has(request_id))
}

// Stores bodies as rows: sealed, separate from the log's own rows, with their size as a running sum (a scan would read gigabytes).
import { sql } from '../../core/db/sql.ts'
import type { Db } from '../../core/types/ports/db.ts'

export interface SealedBodies {
  readonly request_id: string
  readonly org_id: number
  readonly created_at: number
  readonly request_sealed: string | null
  readonly response_sealed: string | null
  readonly request_truncated: number
  readonly response_truncated: number
}

/** Rows of an earlier attempt are not counted twice. */
export async function insertBodies(db: Db, rows: readonly SealedBodies[]): Promise<void> {
  const sized = rows.map((row) => ({ ...row, bytes: sizeOf(row) }))
  const values = sized.map((row) => [
    row.request_id,
    row.org_id,
    row.created_at,
    row.bytes,
    row.request_truncated,
    row.response_truncated,
    row.request_sealed,
    row.response_sealed,
  ])
  const total = sized.reduce((sum, { bytes }) => sum + bytes, 0)
  await db.atomic([
    {
      sql: sql`INSERT INTO request_log_bodies
                 (request_id, org_id, created_at, bytes, request_truncated, response_truncated, request_sealed, response_sealed)
               VALUES ${sql.values(values)} ON CONFLICT (request_id) DO NOTHING`,
      expect: rows.length,
    },
    { sql: sql`UPDATE request_log_totals SET body_bytes = body_bytes + ${total} WHERE id = 1` },
  ])
}

export function bodiesOf(db: Db, orgId: number | null, requestId: string): Promise<SealedBodies | undefined> {
  return db.get<SealedBodies>(sql`SELECT * FROM request_log_bodies WHERE request_id = ${requestId} AND org_id = ${orgId ?? 0}`)
}

/** Returns false when this organization has no such row. */
export function deleteLogged(db: Db, orgId: number | null, requestId: string): Promise<boolean> {
  const mine = sql`request_id = ${requestId} AND org_id = ${orgId ?? 0}`
  return db.tx(async (tx) => {
    const { changes } = await tx.run(sql`DELETE FROM request_log WHERE ${mine}`)
    if (changes > 0) await removed(tx, await tx.all(sql`DELETE FROM request_log_bodies WHERE ${mine} RETURNING bytes`))
    return changes > 0
  })
}

/** Call it in the transaction that deleted them. */
export async function removed(tx: Db, bodies: readonly { bytes?: unknown }[]): Promise<void> {
  const total = bodies.reduce((sum, { bytes }) => sum + Number(bytes), 0)
  if (total > 0) await tx.run(sql`UPDATE request_log_totals SET body_bytes = body_bytes - ${total} WHERE id = 1`)
}

function sizeOf({ request_sealed, response_sealed }: SealedBodies): number {
  return (request_sealed?.length ?? 0) + (response_sealed?.length ?? 0)
}

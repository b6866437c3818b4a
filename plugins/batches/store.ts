// The rows of batches and their items. An item is claimed by a lease: one process works on it, and its result is written once.
import { sql } from '../../core/db/sql.ts'
import type { Db, Sql } from '../../core/types/ports/db.ts'

export type BatchStatus = 'in_progress' | 'cancelling' | 'completed' | 'cancelled' | 'expired'

export interface BatchRow {
  id: string
  org_id: number
  key_id: number | null
  endpoint: string
  status: BatchStatus
  metadata: string | null
  total: number
  created_at: number
  started_at: number | null
  cancelling_at: number | null
  ended_at: number | null
  expires_at: number
}

export interface ItemRow {
  batch_id: string
  seq: number
  custom_id: string
  url: string
  claims: number
  body_sealed: string
}

export interface ResultRow {
  seq: number
  custom_id: string
  status_code: number
  result_sealed: string | null
}

export interface Owner {
  readonly orgId: number
  readonly keyId: number | null
}

const ofOwner = ({ orgId, keyId }: Owner): Sql =>
  keyId === null ? sql`org_id = ${orgId} AND key_id IS NULL` : sql`org_id = ${orgId} AND key_id = ${keyId}`

export function batchStore(db: Db) {
  return {
    async create(row: BatchRow, items: readonly { seq: number; customId: string; url: string; sealed: string }[]): Promise<void> {
      const values = items.map(({ seq, customId, url, sealed }) => [row.id, seq, customId, url, 'pending', sealed])
      await db.tx(async (tx) => {
        await tx.run(sql`INSERT INTO batches (id, org_id, key_id, endpoint, status, metadata, total, created_at, started_at, expires_at)
          VALUES (${row.id}, ${row.org_id}, ${row.key_id}, ${row.endpoint}, ${row.status}, ${row.metadata}, ${row.total},
            ${row.created_at}, ${row.started_at}, ${row.expires_at})`)
        for (let from = 0; from < values.length; from += 100)
          await tx.run(
            sql`INSERT INTO batches_items (batch_id, seq, custom_id, url, state, body_sealed) VALUES ${sql.values(values.slice(from, from + 100))}`,
          )
      })
    },

    find: (owner: Owner, id: string) => db.get<BatchRow>(sql`SELECT * FROM batches WHERE id = ${id} AND ${ofOwner(owner)}`),

    byId: (id: string) => db.get<BatchRow>(sql`SELECT * FROM batches WHERE id = ${id}`),

    /** The newest first, from behind the batch `after`. */
    list(owner: Owner, limit: number, after: BatchRow | null): Promise<BatchRow[]> {
      const older =
        after === null
          ? sql`1 = 1`
          : sql`(created_at < ${after.created_at} OR (created_at = ${after.created_at} AND id < ${after.id}))`
      return db.all<BatchRow>(
        sql`SELECT * FROM batches WHERE ${ofOwner(owner)} AND ${older} ORDER BY created_at DESC, id DESC LIMIT ${limit}`,
      )
    },

    counts: (ids: readonly string[]) =>
      ids.length === 0
        ? Promise.resolve([])
        : db.all<{ batch_id: string; ok: number; failed: number }>(
            sql`SELECT batch_id, SUM(CASE WHEN status_code < 400 THEN 1 ELSE 0 END) AS ok,
              SUM(CASE WHEN status_code >= 400 THEN 1 ELSE 0 END) AS failed
              FROM batches_items WHERE state = 'done' AND batch_id IN ${sql.in([...ids])} GROUP BY batch_id`,
          ),

    results: (id: string) =>
      db.all<ResultRow>(
        sql`SELECT seq, custom_id, status_code, result_sealed FROM batches_items WHERE batch_id = ${id} AND state = 'done' ORDER BY seq`,
      ),

    /** Items that wait: cancelled ones never run. */
    async cancel(owner: Owner, id: string, at: number): Promise<void> {
      await db.tx(async (tx) => {
        const { changes } = await tx.run(
          sql`UPDATE batches SET status = 'cancelling', cancelling_at = ${at} WHERE id = ${id} AND status = 'in_progress' AND ${ofOwner(owner)}`,
        )
        if (changes > 0) await tx.run(sql`DELETE FROM batches_items WHERE batch_id = ${id} AND state = 'pending'`)
      })
    },

    /** Claims up to `most` items, at most `perBatch` of one batch at a time. */
    async claim(owner: string, now: number, leaseUntil: number, most: number, perBatch: number): Promise<ItemRow[]> {
      const open = await db.all<{ id: string; running: number }>(
        sql`SELECT b.id, SUM(CASE WHEN i.state = 'running' AND i.lease_until > ${now} THEN 1 ELSE 0 END) AS running
          FROM batches b JOIN batches_items i ON i.batch_id = b.id
          WHERE b.status IN ('in_progress', 'cancelling') AND i.state <> 'done' GROUP BY b.id, b.created_at ORDER BY b.created_at LIMIT 100`,
      )
      const claimed: ItemRow[] = []
      for (const { id, running } of open) {
        const room = Math.min(most - claimed.length, perBatch - running)
        if (room <= 0) continue
        const free = sql`(state = 'pending' OR (state = 'running' AND lease_until <= ${now})) AND not_before <= ${now}`
        claimed.push(
          ...(await db.all<ItemRow>(
            sql`UPDATE batches_items SET state = 'running', lease_owner = ${owner}, lease_until = ${leaseUntil}, claims = claims + 1
              WHERE batch_id = ${id} AND ${free} AND seq IN (SELECT seq FROM batches_items WHERE batch_id = ${id} AND ${free} ORDER BY seq LIMIT ${room})
              RETURNING batch_id, seq, custom_id, url, claims, body_sealed`,
          )),
        )
        if (claimed.length >= most) break
      }
      return claimed
    },

    renew: (owner: string, leaseUntil: number) =>
      db.run(sql`UPDATE batches_items SET lease_until = ${leaseUntil} WHERE state = 'running' AND lease_owner = ${owner}`),

    /** Gives the item back: it waits for a limit. */
    postpone: (owner: string, { batch_id, seq }: ItemRow, until: number) =>
      db.run(
        sql`UPDATE batches_items SET state = 'pending', not_before = ${until}, claims = claims - 1, lease_owner = NULL
          WHERE batch_id = ${batch_id} AND seq = ${seq} AND state = 'running' AND lease_owner = ${owner}`,
      ),

    /** Writes the result, unless another process has it now. */
    finish: (owner: string, { batch_id, seq }: ItemRow, status: number, sealed: string) =>
      db.run(
        sql`UPDATE batches_items SET state = 'done', status_code = ${status}, result_sealed = ${sealed}, body_sealed = NULL, lease_owner = NULL
          WHERE batch_id = ${batch_id} AND seq = ${seq} AND state = 'running' AND lease_owner = ${owner}`,
      ),

    /** Ends batches that have no open item, and those that took too long. */
    async conclude(now: number): Promise<void> {
      const late = await db.all<{ id: string }>(
        sql`SELECT id FROM batches WHERE status IN ('in_progress', 'cancelling') AND expires_at <= ${now}`,
      )
      for (const { id } of late)
        await db.atomic([
          { sql: sql`DELETE FROM batches_items WHERE batch_id = ${id} AND state <> 'done'` },
          {
            sql: sql`UPDATE batches SET status = 'expired', ended_at = ${now} WHERE id = ${id} AND status IN ('in_progress', 'cancelling')`,
          },
        ])
      const none = sql`NOT EXISTS (SELECT 1 FROM batches_items i WHERE i.batch_id = batches.id AND i.state <> 'done')`
      await db.run(sql`UPDATE batches SET status = 'completed', ended_at = ${now} WHERE status = 'in_progress' AND ${none}`)
      await db.run(sql`UPDATE batches SET status = 'cancelled', ended_at = ${now} WHERE status = 'cancelling' AND ${none}`)
    },

    /** Deletes batches that ended before `before`. */
    async prune(before: number): Promise<void> {
      const old = await db.all<{ id: string }>(sql`SELECT id FROM batches WHERE ended_at < ${before} LIMIT 100`)
      for (const { id } of old)
        await db.atomic([
          { sql: sql`DELETE FROM batches_items WHERE batch_id = ${id}` },
          { sql: sql`DELETE FROM batches WHERE id = ${id}` },
        ])
    },
  }
}

export type BatchStore = ReturnType<typeof batchStore>

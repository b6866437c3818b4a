// Stores the last snapshots and the exhausted accounts as rows. Both belong to a connection, which belongs to an organization.
import { z } from 'zod'
import { sql } from '../../core/db/sql.ts'
import { jsonColumn } from '../../core/schema/json-column.ts'
import type { Db } from '../../core/types/ports/db.ts'
import type { Snapshot } from './snapshot.ts'

const amount = z.number().nullable()
const window = z.object({
  name: z.string(),
  unit: z.enum(['percent', 'requests', 'tokens', 'usd']),
  model: z.string().nullable(),
  used: amount,
  limit: amount,
  remaining: amount,
  resetsAt: amount,
  exhausted: z.boolean(),
  from: z.enum(['api', 'headers']),
  /** 0: the row is from before this member existed. */
  heardAt: z.number().default(0),
})

const snapshotRow = z
  .object({
    connection_id: z.number().int(),
    plan: z.string().nullable(),
    windows: jsonColumn(z.array(window)),
    source: z.enum(['api', 'headers', 'error']),
    fetched_at: z.number().int(),
    error: z.string().nullable(),
  })
  .transform(({ connection_id, fetched_at, ...rest }) => ({ ...rest, id: String(connection_id), fetchedAt: fetched_at }))

export async function loadSnapshots(db: Db): Promise<Map<string, Snapshot>> {
  const rows = await db.all(sql`SELECT * FROM quota_snapshots`, snapshotRow)
  return new Map(rows.map(({ id, ...snapshot }) => [id, snapshot]))
}

/** Another process may have stored a later one. */
export async function storeSnapshot(db: Db, connectionId: string, snapshot: Snapshot): Promise<void> {
  const { plan, windows, source, fetchedAt, error } = snapshot
  await db.run(
    sql`INSERT INTO quota_snapshots (connection_id, plan, windows, source, fetched_at, error)
        VALUES (${Number(connectionId)}, ${plan}, ${JSON.stringify(windows)}, ${source}, ${fetchedAt}, ${error})
        ON CONFLICT (connection_id) DO UPDATE SET plan = excluded.plan, windows = excluded.windows, source = excluded.source,
          fetched_at = excluded.fetched_at, error = excluded.error
        WHERE quota_snapshots.fetched_at <= excluded.fetched_at`,
  )
}

export interface ExhaustedRow {
  connection_id: number
  /** '' = every model. */
  model: string
  until: number
}

export function loadExhausted(db: Db): Promise<ExhaustedRow[]> {
  return db.all<ExhaustedRow>(sql`SELECT connection_id, model, until FROM quota_exhausted`)
}

/** Returns true when it is new: for one of several processes that detect it at the same time. */
export async function storeExhausted(db: Db, { connection_id, model, until }: ExhaustedRow, now: number): Promise<boolean> {
  await db.run(sql`DELETE FROM quota_exhausted WHERE connection_id = ${connection_id} AND model = ${model} AND until <= ${now}`)
  const { changes } = await db.run(
    sql`INSERT INTO quota_exhausted (connection_id, model, until) VALUES (${connection_id}, ${model}, ${until})
        ON CONFLICT (connection_id, model) DO NOTHING`,
  )
  if (changes === 1) return true
  await db.run(sql`UPDATE quota_exhausted SET until = ${until} WHERE connection_id = ${connection_id} AND model = ${model}`)
  return false
}

export async function deleteExhausted(db: Db, connectionId: number, model: string): Promise<void> {
  await db.run(sql`DELETE FROM quota_exhausted WHERE connection_id = ${connectionId} AND model = ${model}`)
}

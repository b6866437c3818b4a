// Stores proxy pools as rows, with the pool of each connection. The URL is sealed, because it may contain a password.
import { z } from 'zod'
import { sql } from '../../core/db/sql.ts'
import type { Db } from '../../core/types/ports/db.ts'

const int = z.number().int()

export const lastTest = z.strictObject({
  ok: z.boolean(),
  latency_ms: int,
  ip: z.string().nullable().describe('The address that the far side saw.'),
  at: z.string(),
  error: z.string().nullable(),
})
export type LastTest = z.output<typeof lastTest>

const poolRow = z.object({
  id: int,
  org_id: int,
  name: z.string(),
  proxy_url: z.string().nullable(),
  no_proxy: z.string(),
  enabled: int.transform((value) => value !== 0),
  strict: int.transform((value) => value !== 0),
  last_test: z
    .string()
    .nullable()
    .transform((text) => (text === null ? null : lastTest.parse(JSON.parse(text)))),
  created_at: int,
  updated_at: int,
})
export type PoolRow = z.output<typeof poolRow>

export type PoolFields = Pick<PoolRow, 'name' | 'no_proxy' | 'enabled' | 'strict'>

export interface Assignment {
  connection_id: number
  org_id: number
  pool_id: number
}

/** Returns pools of every organization. */
export function allPools(db: Db): Promise<PoolRow[]> {
  return db.all(sql`SELECT * FROM proxy_pools ORDER BY id`, poolRow)
}

export function allAssignments(db: Db): Promise<Assignment[]> {
  return db.all<Assignment>(sql`SELECT connection_id, org_id, pool_id FROM proxy_pools_assigned ORDER BY connection_id`)
}

/** Without its URL, which is sealed under the row's id. */
export async function insertPool(db: Db, orgId: number | null, pool: PoolFields, now: number): Promise<number> {
  const row = await db.get<{ id: number }>(
    sql`INSERT INTO proxy_pools (org_id, name, no_proxy, enabled, strict, created_at, updated_at)
        VALUES (${orgId ?? 0}, ${pool.name}, ${pool.no_proxy}, ${pool.enabled}, ${pool.strict}, ${now}, ${now}) RETURNING id`,
  )
  if (row === undefined) throw new Error('The new proxy pool was not stored.')
  return row.id
}

export async function updatePool(db: Db, orgId: number | null, id: number, pool: PoolFields, now: number): Promise<void> {
  await db.run(
    sql`UPDATE proxy_pools SET name = ${pool.name}, no_proxy = ${pool.no_proxy}, enabled = ${pool.enabled},
          strict = ${pool.strict}, updated_at = ${now} WHERE id = ${id} AND org_id = ${orgId ?? 0}`,
  )
}

/** Facts about the old address are deleted with it. */
export async function storeUrl(db: Db, orgId: number | null, id: number, sealed: string): Promise<void> {
  await db.run(sql`UPDATE proxy_pools SET proxy_url = ${sealed}, last_test = NULL WHERE id = ${id} AND org_id = ${orgId ?? 0}`)
}

export async function storeTest(db: Db, orgId: number | null, id: number, test: LastTest): Promise<void> {
  await db.run(sql`UPDATE proxy_pools SET last_test = ${JSON.stringify(test)} WHERE id = ${id} AND org_id = ${orgId ?? 0}`)
}

export async function deletePool(db: Db, orgId: number | null, id: number): Promise<void> {
  await db.run(sql`DELETE FROM proxy_pools_assigned WHERE pool_id = ${id} AND org_id = ${orgId ?? 0}`)
  await db.run(sql`DELETE FROM proxy_pools WHERE id = ${id} AND org_id = ${orgId ?? 0}`)
}

/** @param poolId null removes the connection from its pool. */
export async function assign(db: Db, orgId: number | null, connectionId: number, poolId: number | null): Promise<void> {
  await db.run(sql`DELETE FROM proxy_pools_assigned WHERE connection_id = ${connectionId} AND org_id = ${orgId ?? 0}`)
  if (poolId === null) return
  await db.run(
    sql`INSERT INTO proxy_pools_assigned (connection_id, org_id, pool_id) VALUES (${connectionId}, ${orgId ?? 0}, ${poolId})`,
  )
}

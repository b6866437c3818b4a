// Stores receipts as rows: booked, then added to the chain of their organization, read, and pruned.
import { lock } from '../../core/db/lock.ts'
import { sql } from '../../core/db/sql.ts'
import type { Db, Sql, Statement } from '../../core/types/ports/db.ts'
import { type Booked, chained, GENESIS, type Receipt } from './receipt.ts'

/** The first and last receipt of an organization's chain. */
export interface Chain {
  readonly head_seq: number
  readonly head_hash: string
  /** Sequence number of the last pruned receipt; 0 with a hash of zeros when none was pruned. */
  readonly anchor_seq: number
  readonly anchor_hash: string
}

const COLUMNS = [
  ...([
    'request_id',
    'source',
    'org_id',
    'at',
    'provider',
    'model',
    'key_id',
    'virtual_model',
    'cost_center',
    'user_id',
  ] as const),
  ...(['usage_source', 'tokens_before', 'tokens_after', 'tokens_saved', 'usd_saved_nano', 'method', 'details'] as const),
  'price_ref' as const,
]
/** Constant, because it runs for requests and engines keep it prepared. The first receipt of a request and source stays. */
const INSERT = `INSERT INTO savings_receipts (${COLUMNS.join(', ')}) VALUES (${COLUMNS.map(() => '?').join(', ')})
  ON CONFLICT (request_id, source) DO NOTHING`

/** Receipts per transaction. */
const CHAINED_AT_ONCE = 200

export function insertReceipt(booked: Booked): Statement {
  return { sql: { text: INSERT, params: COLUMNS.map((name) => booked[name]) } }
}

export async function chainOf(db: Db, orgId: number): Promise<Chain> {
  const chain = await db.get<Chain>(
    sql`SELECT head_seq, head_hash, anchor_seq, anchor_hash FROM savings_chains WHERE org_id = ${orgId}`,
  )
  return chain ?? { head_seq: 0, head_hash: GENESIS, anchor_seq: 0, anchor_hash: GENESIS }
}

/** Returns organizations with receipts that are not in the chain yet. */
export async function unchained(db: Db): Promise<number[]> {
  const rows = await db.all<{ org_id: number }>(
    sql`SELECT DISTINCT org_id FROM savings_receipts WHERE seq IS NULL ORDER BY org_id`,
  )
  return rows.map(({ org_id }) => org_id)
}

/** Adds the waiting receipts to the chain, oldest first. Any number of processes may do so at once. */
export async function chainPending(db: Db, orgId: number, signal?: AbortSignal): Promise<void> {
  const waits = await db.get(sql`SELECT 1 AS one FROM savings_receipts WHERE org_id = ${orgId} AND seq IS NULL LIMIT 1`)
  let count = waits === undefined ? 0 : CHAINED_AT_ONCE
  while (count === CHAINED_AT_ONCE && signal?.aborted !== true) count = await chainSome(db, orgId)
}

function chainSome(db: Db, orgId: number): Promise<number> {
  return alone(db, orgId, async (tx, { head_seq, head_hash }) => {
    const waiting = await tx.all<Booked>(
      sql`SELECT ${sql.join(COLUMNS.map((name) => sql.id(name)))} FROM savings_receipts WHERE org_id = ${orgId} AND seq IS NULL
          ORDER BY at, request_id, source LIMIT ${CHAINED_AT_ONCE}`,
    )
    if (waiting.length === 0) return 0
    let hash = head_hash
    const rows = waiting.map((booked, index) => {
      const receipt = chained(booked, head_seq + index + 1, hash)
      hash = receipt.hash
      return [receipt.request_id, receipt.source, receipt.seq, receipt.prev_hash, receipt.hash]
    })
    // Both engines give the columns of VALUES these names.
    await tx.run(
      sql`UPDATE savings_receipts SET seq = CAST(v.column3 AS BIGINT), prev_hash = v.column4, hash = v.column5
          FROM (VALUES ${sql.values(rows)}) AS v
          WHERE savings_receipts.request_id = v.column1 AND savings_receipts.source = v.column2`,
    )
    await tx.run(sql`UPDATE savings_chains SET head_seq = ${head_seq + rows.length}, head_hash = ${hash} WHERE org_id = ${orgId}`)
    return rows.length
  })
}

/** Returns receipts of the chain, oldest first, as stored: after tampering they may be invalid. */
export function receiptsAfter(db: Db, orgId: number, seq: number, limit: number): Promise<Receipt[]> {
  return db.all(sql`SELECT * FROM savings_receipts WHERE org_id = ${orgId} AND seq > ${seq} ORDER BY seq LIMIT ${limit}`)
}

/** Returns receipts of the chain, newest first. */
export function newestReceipts(db: Db, matching: Sql, limit: number): Promise<Receipt[]> {
  return db.all(sql`SELECT * FROM savings_receipts WHERE ${matching} ORDER BY seq DESC LIMIT ${limit}`)
}

export async function chains(db: Db): Promise<number[]> {
  const rows = await db.all<{ org_id: number }>(sql`SELECT org_id FROM savings_chains ORDER BY org_id`)
  return rows.map(({ org_id }) => org_id)
}

/** Deletes up to `limit` of the oldest receipts, up to the first that is not older than `cutoff`. Returns how many. */
export function pruneOldest(db: Db, orgId: number, cutoff: number, limit: number): Promise<number> {
  return alone(db, orgId, async (tx, { anchor_seq, head_seq }) => {
    const bound = Math.min(head_seq, anchor_seq + limit)
    const young = await tx.get<{ seq: number }>(
      sql`SELECT seq FROM savings_receipts WHERE org_id = ${orgId} AND seq > ${anchor_seq} AND seq <= ${bound} AND at >= ${cutoff}
          ORDER BY seq LIMIT 1`,
    )
    const last = await tx.get<{ seq: number; hash: string }>(
      sql`SELECT seq, hash FROM savings_receipts
          WHERE org_id = ${orgId} AND seq > ${anchor_seq} AND seq <= ${young === undefined ? bound : young.seq - 1}
          ORDER BY seq DESC LIMIT 1`,
    )
    if (last === undefined) return 0
    await tx.run(sql`UPDATE savings_chains SET anchor_seq = ${last.seq}, anchor_hash = ${last.hash} WHERE org_id = ${orgId}`)
    return (await tx.run(sql`DELETE FROM savings_receipts WHERE org_id = ${orgId} AND seq <= ${last.seq}`)).changes
  })
}

/** Allows one writer of an organization's chain at a time across processes. It sees the writes of the one before. */
function alone<T>(db: Db, orgId: number, fn: (tx: Db, chain: Chain) => Promise<T>): Promise<T> {
  return db.tx(async (tx) => {
    // A SERIALIZABLE snapshot would be older than the wait for the lock.
    if (tx.dialect === 'postgresql') await tx.run(sql`SET TRANSACTION ISOLATION LEVEL READ COMMITTED`)
    await lock(tx, `savings:${orgId}`)
    await tx.run(
      sql`INSERT INTO savings_chains (org_id, head_seq, head_hash, anchor_seq, anchor_hash)
          VALUES (${orgId}, 0, ${GENESIS}, 0, ${GENESIS}) ON CONFLICT (org_id) DO NOTHING`,
    )
    return fn(tx, await chainOf(tx, orgId))
  })
}

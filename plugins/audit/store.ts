// Stores the chain as rows: entries, and one row with the chain's first and last entry and the export position.
import { lock } from '../../core/db/lock.ts'
import { sql } from '../../core/db/sql.ts'
import type { Db } from '../../core/types/ports/db.ts'
import { type Entry, type Link, linked } from './chain.ts'

export interface ChainState {
  readonly head_seq: number
  readonly head_hash: string
  /** Sequence number of the last pruned entry; 0 with a hash of zeros when none was pruned. */
  readonly anchor_seq: number
  readonly anchor_hash: string
  readonly exported_seq: number
}

export interface AuditFilter {
  /** Returns entries before this one. */
  before?: number
  action?: string
  actor?: string
  /** Epoch ms; `since` is inclusive, `until` exclusive. */
  since?: number
  until?: number
}

export async function chainState(db: Db): Promise<ChainState> {
  const state = await db.get<ChainState>(
    sql`SELECT head_seq, head_hash, anchor_seq, anchor_hash, exported_seq FROM audit_state WHERE id = 1`,
  )
  if (state === undefined) throw new Error('The audit chain has lost its state row.')
  return state
}

/** Appends all entries in order, after the last one of any process. Call it outside a transaction. */
export function appendEntries(db: Db, entries: readonly Entry[]): Promise<Link[]> {
  return alone(db, async (tx, { head_seq, head_hash }) => {
    const links: Link[] = []
    let hash = head_hash
    for (const entry of entries) {
      const link = linked(entry, head_seq + links.length + 1, hash)
      links.push(link)
      hash = link.hash
    }
    const rows = links.map((l) => [l.seq, l.org_id, l.at, l.actor, l.action, l.target, l.details, l.ip, l.prev_hash, l.hash])
    await tx.run(
      sql`INSERT INTO audit_log (seq, org_id, at, actor, action, target, details, ip, prev_hash, hash) VALUES ${sql.values(rows)}`,
    )
    await tx.run(sql`UPDATE audit_state SET head_seq = ${head_seq + links.length}, head_hash = ${hash} WHERE id = 1`)
    return links
  })
}

/** Returns links, oldest first, as they are stored: after tampering they may hold any value. */
export function linksAfter(db: Db, seq: number, limit: number): Promise<Link[]> {
  return db.all(sql`SELECT * FROM audit_log WHERE seq > ${seq} ORDER BY seq LIMIT ${limit}`)
}

/** Returns links, newest first, of one organization, or of all when it is null. */
export function newestLinks(db: Db, orgId: number | null, filter: AuditFilter, limit: number): Promise<Link[]> {
  const { before, action, actor, since, until } = filter
  const conditions = [
    ...(orgId === null ? [] : [sql`org_id = ${orgId}`]),
    ...(before === undefined ? [] : [sql`seq < ${before}`]),
    ...(action === undefined ? [] : [sql`action = ${action}`]),
    ...(actor === undefined ? [] : [sql`actor = ${actor}`]),
    ...(since === undefined ? [] : [sql`at >= ${since}`]),
    ...(until === undefined ? [] : [sql`at < ${until}`]),
  ]
  return db.all(sql`SELECT * FROM audit_log WHERE ${sql.and(conditions)} ORDER BY seq DESC LIMIT ${limit}`)
}

/** Moves the cursor forward only, never beyond the last entry. */
export async function moveExportCursor(db: Db, seq: number): Promise<void> {
  await db.run(sql`UPDATE audit_state SET exported_seq = ${seq} WHERE id = 1 AND exported_seq < ${seq} AND head_seq >= ${seq}`)
}

/** Deletes up to `limit` of the oldest entries: exported ones older than `cutoff`, up to the first that is not. Returns how many. */
export function pruneOldest(db: Db, cutoff: number, limit: number): Promise<number> {
  return alone(db, async (tx, { anchor_seq, exported_seq }) => {
    const bound = Math.min(exported_seq, anchor_seq + limit)
    const young = await tx.get<{ seq: number }>(
      sql`SELECT seq FROM audit_log WHERE seq > ${anchor_seq} AND seq <= ${bound} AND at >= ${cutoff} ORDER BY seq LIMIT 1`,
    )
    const last = await tx.get<{ seq: number; hash: string }>(
      sql`SELECT seq, hash FROM audit_log WHERE seq <= ${young === undefined ? bound : young.seq - 1} ORDER BY seq DESC LIMIT 1`,
    )
    if (last === undefined) return 0
    await tx.run(sql`UPDATE audit_state SET anchor_seq = ${last.seq}, anchor_hash = ${last.hash} WHERE id = 1`)
    return (await tx.run(sql`DELETE FROM audit_log WHERE seq <= ${last.seq}`)).changes
  })
}

/** Allows one writer of the chain at a time across processes. It sees the writes of the one before. */
function alone<T>(db: Db, fn: (tx: Db, state: ChainState) => Promise<T>): Promise<T> {
  return db.tx(async (tx) => {
    // A SERIALIZABLE snapshot would be older than the wait for the lock.
    if (tx.dialect === 'postgresql') await tx.run(sql`SET TRANSACTION ISOLATION LEVEL READ COMMITTED`)
    await lock(tx, 'audit')
    return fn(tx, await chainState(tx))
  })
}

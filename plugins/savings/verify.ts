// Verifies an organization's chain from its first stored receipt to its head. It finds every changed, removed or added receipt. It cannot
// detect that the whole chain was rewritten; only earlier exports can.
import { sql } from '../../core/db/sql.ts'
import type { Db } from '../../core/types/ports/db.ts'
import { intact } from './receipt.ts'
import { type Chain, chainOf, receiptsAfter } from './store.ts'

export interface ChainReport {
  readonly ok: boolean
  /** Expected number of receipts. */
  readonly count: number
  /** The first receipt that is missing, altered, or out of place. */
  readonly first_bad_seq: number | null
}

const PAGE = 500

/** Reads page by page, while writers continue. @param orgId 0: no organization. */
export async function verifyChain(db: Db, orgId: number): Promise<ChainReport> {
  for (;;) {
    // Read first: every number assigned by now is below the head that is read later.
    const beyond = await lastSeq(db, orgId)
    const chain = await chainOf(db, orgId)
    const bad = (await firstBad(db, orgId, chain)) ?? (beyond > chain.head_seq ? chain.head_seq + 1 : null)
    // A prune removed receipts meanwhile: the missing one may be deleted legitimately.
    if (bad !== null && (await chainOf(db, orgId)).anchor_seq !== chain.anchor_seq) continue
    return { ok: bad === null, count: chain.head_seq - chain.anchor_seq, first_bad_seq: bad }
  }
}

async function lastSeq(db: Db, orgId: number): Promise<number> {
  const row = await db.get<{ seq: number | null }>(sql`SELECT MAX(seq) AS seq FROM savings_receipts WHERE org_id = ${orgId}`)
  return row?.seq ?? 0
}

async function firstBad(db: Db, orgId: number, { anchor_seq, anchor_hash, head_seq, head_hash }: Chain): Promise<number | null> {
  const pruned = await db.get<{ seq: number }>(
    sql`SELECT seq FROM savings_receipts WHERE org_id = ${orgId} AND seq <= ${anchor_seq} ORDER BY seq LIMIT 1`,
  )
  if (pruned !== undefined) return pruned.seq
  let seq = anchor_seq
  let hash = anchor_hash
  while (seq < head_seq) {
    const page = (await receiptsAfter(db, orgId, seq, PAGE)).filter((receipt) => receipt.seq <= head_seq)
    if (page.length === 0) return seq + 1
    for (const receipt of page) {
      if (receipt.seq !== seq + 1 || receipt.prev_hash !== hash || !intact(receipt)) return seq + 1
      seq = receipt.seq
      hash = receipt.hash
    }
  }
  return hash === head_hash ? null : head_seq
}

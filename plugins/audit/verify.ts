// Verifies the chain from its first stored entry to its head.
import type { Db } from '../../core/types/ports/db.ts'
import { intact, type Link } from './chain.ts'
import { type ChainState, chainState, linksAfter } from './store.ts'

export interface ChainReport {
  readonly ok: boolean
  /** The expected entries; null when there are none. */
  readonly from_seq: number | null
  readonly to_seq: number | null
  /** The first entry that is missing, altered or out of place. */
  readonly first_bad_seq: number | null
  /** The last pruned entry; null when none was pruned. */
  readonly anchor_seq: number | null
}

const PAGE = 500
const TAIL = 200

/** Reads page by page, while writers continue. */
export async function verifyChain(db: Db): Promise<ChainReport> {
  for (;;) {
    const state = await chainState(db)
    const bad = await firstBad(db, state)
    // A prune removed entries meanwhile: the missing one may be deleted legitimately.
    if (bad !== null && (await chainState(db)).anchor_seq !== state.anchor_seq) continue
    const { anchor_seq, head_seq } = state
    const empty = anchor_seq === head_seq
    return {
      ok: bad === null,
      from_seq: empty ? null : anchor_seq + 1,
      to_seq: empty ? null : head_seq,
      first_bad_seq: bad,
      anchor_seq: anchor_seq === 0 ? null : anchor_seq,
    }
  }
}

/** Verifies the newest entries only. Returns the first one that is missing, altered or out of place; null: none. */
export async function brokenTail(db: Db, entries = TAIL): Promise<number | null> {
  const state = await chainState(db)
  const from = Math.max(state.anchor_seq, state.head_seq - entries)
  const [before] = from === state.anchor_seq ? [] : await linksAfter(db, from - 1, 1)
  // Pruned meanwhile: the next look sees the new anchor.
  if (from !== state.anchor_seq && before === undefined) return (await chainState(db)).anchor_seq >= from ? null : from
  return firstBad(db, { ...state, anchor_seq: from, anchor_hash: before?.hash ?? state.anchor_hash })
}

async function firstBad(db: Db, { anchor_seq, anchor_hash, head_seq, head_hash }: ChainState): Promise<number | null> {
  let seq = anchor_seq
  let hash = anchor_hash
  while (seq < head_seq) {
    const page = (await linksAfter(db, seq, PAGE)).filter((link) => link.seq <= head_seq)
    if (page.length === 0) return seq + 1
    for (const link of page) {
      if (!follows(link, seq, hash) || !intact(link)) return seq + 1
      seq = link.seq
      hash = link.hash
    }
  }
  return hash === head_hash ? null : head_seq
}

function follows(link: Link, seq: number, hash: string): boolean {
  return link.seq === seq + 1 && link.prev_hash === hash
}

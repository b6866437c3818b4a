// The chain of an organization as lines of JSON or CSV, read page by page while it is sent.
import { csvText } from '../../core/text/csv-text.ts'
import type { Db } from '../../core/types/db.ts'
import { exportLine, type Receipt } from './receipt.ts'
import { chainOf, receiptsAfter } from './store.ts'

const PAGE = 500

/** Everything hashed, and the hash. */
const COLUMNS = [
  ...(['seq', 'org_id', 'request_id', 'at', 'source', 'provider', 'model', 'key_id', 'virtual_model', 'cost_center'] as const),
  ...(['user_id', 'usage_source', 'tokens_before', 'tokens_after', 'tokens_saved', 'usd_saved_nano', 'method'] as const),
  ...(['details', 'price_ref', 'prev_hash', 'hash'] as const),
]

export async function* jsonLines(db: Db, orgId: number, after: number): AsyncGenerator<string> {
  for await (const receipt of receipts(db, orgId, after)) yield exportLine(receipt)
}

export async function* csv(db: Db, orgId: number, after: number): AsyncGenerator<string> {
  yield `${COLUMNS.join(',')}\r\n`
  for await (const receipt of receipts(db, orgId, after)) yield `${COLUMNS.map((name) => cell(receipt, name)).join(',')}\r\n`
}

/** Up to the head as it is at the beginning. */
async function* receipts(db: Db, orgId: number, after: number): AsyncGenerator<Receipt> {
  const { head_seq } = await chainOf(db, orgId)
  for (let seq = after; seq < head_seq; ) {
    const page = (await receiptsAfter(db, orgId, seq, PAGE)).filter((receipt) => receipt.seq <= head_seq)
    yield* page
    if (page.length < PAGE) return
    seq = (page.at(-1) as Receipt).seq
  }
}

function cell(receipt: Receipt, name: (typeof COLUMNS)[number]): string {
  const value = receipt[name]
  if (value === null || (name === 'org_id' && value === 0)) return ''
  if (name === 'at') return new Date(receipt.at).toISOString()
  return typeof value === 'number' ? String(value) : csvText(value)
}

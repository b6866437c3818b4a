// /api/savings: receipts, sums, the export and its verification. Each route first adds pending receipts to the chain of the caller's
// organization.
import { z } from 'zod'
import { streamed } from '../../core/http/streamed.ts'
import { shownWindow, windowAnswer, windowOf, windowQuery } from '../../core/http/window.ts'
import { csvText } from '../../core/text/csv-text.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { Db } from '../../core/types/ports/db.ts'
import { conditions, listQuery, receiptRecord, recordOf, sequence, shownSum, sumAnswer } from './fields.ts'
import { exportLine, type Receipt } from './receipt.ts'
import { SOURCES } from './service.ts'
import { chainOf, chainPending, newestReceipts, receiptsAfter } from './store.ts'
import { ROLLUPS, rolledUp, totalOf } from './sums.ts'
import { verifyChain } from './verify.ts'

/** Maximum groups of a rollup. */
const MAX_GROUPS = 1000

// The chain of an organization as lines of JSON or CSV, read page by page while it is sent.
const PAGE = 500

/** The hashed columns, and the hash. */
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

/** Up to the head at the start of the export. */
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

export function savingsRoutes(gateway: PluginGateway): void {
  const { db, clock } = gateway
  const placed = (orgId: number | null) => chainPending(db, orgId ?? 0)

  gateway.api({
    method: 'GET',
    path: '/api/savings',
    summary: 'Receipts of what was saved, newest first.',
    role: 'member',
    query: listQuery,
    response: z.strictObject({ data: z.array(receiptRecord), next_cursor: z.string().nullable() }),
    async handler({ query, orgId }) {
      await placed(orgId)
      const found = await newestReceipts(db, conditions(orgId, query), query.limit + 1)
      const page = found.slice(0, query.limit)
      return { data: page.map(recordOf), next_cursor: found.length > query.limit ? String(page.at(-1)?.seq) : null }
    },
  })

  gateway.api({
    method: 'GET',
    path: '/api/savings/totals',
    summary: 'Sums the tokens and money saved in a window, in total and by source.',
    role: 'member',
    query: z.strictObject(windowQuery),
    response: sumAnswer.extend({
      window: windowAnswer,
      by_source: z.record(z.string(), sumAnswer).describe(`${SOURCES.join(', ')}, and what other plugins book under.`),
    }),
    async handler({ query, orgId }) {
      const window = windowOf(query, clock.now())
      await placed(orgId)
      const sums = await rolledUp(db, { ...window, orgId }, 'source', MAX_GROUPS)
      return {
        window: shownWindow(window),
        ...shownSum(await totalOf(db, { ...window, orgId })),
        by_source: Object.fromEntries(sums.map((sum) => [sum.key as string, shownSum(sum)])),
      }
    },
  })

  gateway.api({
    method: 'GET',
    path: '/api/savings/rollup',
    summary: 'Sums the tokens and money saved in a window, by day, source, model, key or virtual model.',
    role: 'member',
    query: z.strictObject({ ...windowQuery, group_by: z.enum(ROLLUPS).default('day') }),
    response: z.strictObject({
      window: windowAnswer,
      group_by: z.enum(ROLLUPS),
      truncated: z.boolean().describe(`There are more than ${MAX_GROUPS} groups: those are shown that saved most.`),
      data: z.array(
        sumAnswer.extend({ key: z.string().nullable().describe('null: none. Keys are client key ids, days of UTC.') }),
      ),
    }),
    async handler({ query, orgId }) {
      const window = windowOf(query, clock.now())
      await placed(orgId)
      const sums = await rolledUp(db, { ...window, orgId }, query.group_by, MAX_GROUPS + 1)
      const data = sums.slice(0, MAX_GROUPS).map((sum) => ({ key: sum.key, ...shownSum(sum) }))
      return { window: shownWindow(window), group_by: query.group_by, truncated: sums.length > MAX_GROUPS, data }
    },
  })

  gateway.api({
    method: 'GET',
    path: '/api/savings/export',
    summary:
      'The chain of receipts, oldest first, as JSON lines or CSV. A line’s `hash` is of `prev_hash`, a line feed, and the rest.',
    role: 'member',
    query: z.strictObject({
      format: z.enum(['jsonl', 'csv']).default('jsonl'),
      after_seq: sequence.default(0).describe('Only those behind this one.'),
    }),
    async handler({ query: { format, after_seq }, orgId }) {
      await placed(orgId)
      const content = (format === 'csv' ? csv : jsonLines)(db, orgId ?? 0, after_seq)
      return new Response(streamed(content), {
        headers: {
          'content-type': format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson',
          'content-disposition': `attachment; filename="savings.${format}"`,
        },
      })
    },
  })

  gateway.api({
    method: 'GET',
    path: '/api/savings/verify',
    summary: 'Walks the chain of receipts; names the first one that was altered, added or is missing.',
    role: 'member',
    response: z.strictObject({
      ok: z.boolean(),
      count: z.int().describe('Receipts there should be; pruned ones are not counted.'),
      first_bad_seq: z.int().nullable(),
    }),
    async handler({ orgId }) {
      await placed(orgId)
      return verifyChain(db, orgId ?? 0)
    },
  })
}

// GET /api/savings/statement: the savings of a month as JSON, Markdown or CSV.
import { z } from 'zod'
import type { Calendar } from '../../../core/timing/calendar.ts'
import type { PluginGateway } from '../../../core/types/plugin/plugin.ts'
import { chainPending } from '../store.ts'
import { verifyChain } from '../verify.ts'
import { csv, exactUsd, markdown } from './render.ts'
import { type Amount, lastMonth, MONTH, statementOf } from './statement.ts'

const TYPES = { md: 'text/markdown; charset=utf-8', csv: 'text/csv; charset=utf-8' } as const

const amount = {
  receipts: z.int(),
  tokens_saved: z.int(),
  usd_saved: z.string().describe('USD with nine digits: exact.'),
  usd_saved_nano: z.int(),
}

export function statementRoute(gateway: PluginGateway, calendar: Calendar, retentionDays: number): void {
  const { db, clock } = gateway
  gateway.api({
    method: 'GET',
    path: '/api/savings/statement',
    summary: 'The statement of savings of a calendar month: by source and method, what is measured and what estimated.',
    role: 'member',
    query: z.strictObject({
      month: z
        .string()
        .regex(MONTH, 'must be a month like 2026-11')
        .optional()
        .describe('A month in GATEWAY_BUDGET_TIMEZONE; default: the last one that is over.'),
      format: z.enum(['json', 'md', 'csv']).default('json'),
    }),
    response: z.strictObject({
      month: z.string(),
      timezone: z.string(),
      since: z.string(),
      until: z.string(),
      generated_at: z.string(),
      is_over: z.boolean(),
      kept_since: z.string().nullable().describe('Receipts before may have been deleted: the month is not whole. null: it is.'),
      chain: z.strictObject({ verified: z.boolean(), receipts: z.int(), first_bad_seq: z.int().nullable() }),
      lines: z.array(
        z.strictObject({
          source: z.string(),
          method: z.string(),
          basis: z.enum(['measured', 'estimated']),
          baseline: z.string().describe('The cost that the requests did not have.'),
          unpriced_receipts: z.int(),
          ...amount,
        }),
      ),
      measured: z.strictObject(amount),
      estimated: z.strictObject(amount),
      total: z.strictObject(amount),
    }),
    async handler({ query, orgId }) {
      await chainPending(db, orgId ?? 0)
      const now = clock.now()
      const month = query.month ?? lastMonth(calendar, now)
      const verified = () => verifyChain(db, orgId ?? 0)
      const statement = await statementOf({ db, calendar, now, retentionDays, verified }, orgId, month)
      if (query.format !== 'json')
        return new Response(query.format === 'md' ? markdown(statement) : csv(statement), {
          headers: {
            'content-type': TYPES[query.format],
            'cache-control': 'no-store',
            'content-disposition': `attachment; filename="savings-${month}.${query.format}"`,
          },
        })
      const { zone, since, until, over, keptSince, chain, lines, measured, estimated, total } = statement
      return {
        month,
        timezone: zone,
        since: time(since),
        until: time(until),
        generated_at: time(now),
        is_over: over,
        kept_since: keptSince === null ? null : time(keptSince),
        chain: { verified: chain.ok, receipts: chain.count, first_bad_seq: chain.first_bad_seq },
        lines: lines.map(({ source, method, basis, baseline, unpriced, ...sum }) => ({
          source,
          method,
          basis,
          baseline,
          unpriced_receipts: unpriced,
          ...shown(sum),
        })),
        measured: shown(measured),
        estimated: shown(estimated),
        total: shown(total),
      }
    },
  })
}

function shown({ receipts, tokensSaved, nano }: Amount) {
  return { receipts, tokens_saved: tokensSaved, usd_saved: exactUsd(nano), usd_saved_nano: nano }
}

const time = (at: number): string => new Date(at).toISOString()

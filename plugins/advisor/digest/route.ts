// GET /api/advisor/digest: the digest of any week, as the event has it.
import { z } from 'zod'
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import type { Calendar } from '../../../core/timing/calendar.ts'
import type { PluginGateway } from '../../../core/types/plugin/plugin.ts'
import { recommendation, shownRecommendation } from '../api.ts'
import type { Advisor } from '../recommend.ts'
import { digestOf } from './digest.ts'
import { lastWeek, namedWeek, WEEK } from './week.ts'

export function digestRoute(gateway: PluginGateway, advisor: Advisor, calendar: Calendar): void {
  gateway.api({
    method: 'GET',
    path: '/api/advisor/digest',
    summary: 'The digest of a week: what was saved, and the largest opportunities now.',
    role: 'member',
    query: z.strictObject({
      week: z
        .string()
        .regex(WEEK, 'must be a week like 2026-W47')
        .optional()
        .describe('An ISO week in GATEWAY_BUDGET_TIMEZONE, `2026-W47`; default: the last one that is over.'),
    }),
    response: z.strictObject({
      week: z.string(),
      period_start: z.string(),
      period_end: z.string(),
      requests: z.int(),
      cost_usd: z.number(),
      total_usd_saved: z.number(),
      total_tokens_saved: z.int(),
      top_opportunities: z.array(recommendation),
      headline: z.string(),
    }),
    async handler({ query, orgId }) {
      const week = query.week === undefined ? lastWeek(calendar, gateway.clock.now()) : namedWeek(calendar, query.week)
      if (week === null) throw GatewayError.invalid('week', `\`week\`: the year of ${query.week} has 52 weeks.`)
      const digest = await digestOf(gateway, advisor, orgId, week)
      return {
        week: digest.week,
        period_start: digest.periodStart,
        period_end: digest.periodEnd,
        requests: digest.requests,
        cost_usd: digest.costUsd,
        total_usd_saved: digest.usdSaved,
        total_tokens_saved: digest.tokensSaved,
        top_opportunities: digest.opportunities.map(shownRecommendation),
        headline: digest.headline,
      }
    },
  })
}

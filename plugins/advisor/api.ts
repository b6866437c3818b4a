// /api/advisor.
import { z } from 'zod'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { Actions } from './actions/actions.ts'
import { type Applied, actionsOf, REASONS, STATES } from './actions/store.ts'
import { WINDOW_DAYS } from './facts.ts'
import type { Advice, Advisor } from './recommend.ts'
import { KINDS, type Recommendation } from './service.ts'

const action = z.strictObject({
  type: z.enum(['update_virtual_model', 'set_setting']),
  params: z.record(z.string(), z.unknown()),
})

export const recommendation = z.strictObject({
  id: z.string(),
  kind: z.enum(KINDS),
  title: z.string(),
  detail: z.string().describe('How the estimate was computed.'),
  est_monthly_usd: z.number().describe('Saving of 30 days; 0 when the gain is not money.'),
  confidence: z.number(),
  evidence: z.record(z.string(), z.unknown()),
  apply_action: action.nullable().describe('null: it cannot be applied here; `apply_hint` says what to do.'),
  apply_hint: z.string(),
  state: z.literal('suggested'),
})

const figures = z.strictObject({
  error_rate: z.number(),
  p95_ms: z.number().nullable(),
  cost_per_request: z.number().nullable().describe('USD.'),
  requests: z.int(),
})

const applied = z.strictObject({
  id: z.int(),
  recommendation_id: z.string(),
  kind: z.enum(KINDS),
  action,
  state: z.enum(STATES),
  rollback_reason: z.enum(REASONS).nullable(),
  before: z.record(z.string(), z.unknown()),
  after: z.record(z.string(), z.unknown()),
  baseline: figures.describe('Of the 14 days before.'),
  applied_at: z.string(),
  probation_until: z.string(),
  probation_active: z.boolean(),
})

const listed = applied.extend({
  since: figures.nullable().describe('Of the requests since the change; null: the action is confirmed or rolled back.'),
})

const idParams = z.strictObject({ id: z.coerce.number().int().min(1) })

export function advisorRoutes(gateway: PluginGateway, advisor: Advisor, actions: Actions): void {
  const now = () => gateway.clock.now()
  const shownApplied = (one: Applied) => appliedRecord(one, now())

  gateway.api({
    method: 'GET',
    path: '/api/advisor',
    summary: 'Recommendations with their evidence, the largest saving first. At most 15 minutes old.',
    role: 'member',
    response: z.strictObject({
      generated_at: z.string(),
      window_days: z.int(),
      monthly_budget: z
        .strictObject({
          limit_usd: z.number(),
          spend_usd: z.number(),
          projected_usd: z.number(),
          status: z.enum(['ok', 'at_risk', 'over']),
        })
        .nullable()
        .describe('null: GATEWAY_MONTHLY_BUDGET_USD is not set.'),
      data: z.array(recommendation),
    }),
    async handler({ orgId }) {
      const { at, data, spend } = await advisor.of(orgId, now())
      return {
        generated_at: new Date(at).toISOString(),
        window_days: WINDOW_DAYS,
        monthly_budget: shownSpend(spend),
        data: data.map(shownRecommendation),
      }
    },
  })

  gateway.api({
    method: 'POST',
    path: '/api/advisor/apply',
    summary:
      'Applies a recommendation. Until it is confirmed, at most for 14 days, it is taken back when errors, latency or cost rise.',
    role: 'manage',
    status: 201,
    body: z
      .strictObject({
        recommendation_id: z.string().min(1).max(100).optional(),
        id: z.string().min(1).max(100).optional().describe('Another name of `recommendation_id`.'),
        probation_hours: z.number().min(1).max(336).default(24),
      })
      .refine((body) => (body.recommendation_id ?? body.id) !== undefined, {
        path: ['recommendation_id'],
        message: 'is required',
      }),
    response: applied,
    audit: 'advisor.apply',
    async handler({ body, orgId, operator, audited }) {
      const id = body.recommendation_id ?? (body.id as string)
      const done = await actions.apply(orgId, operator, id, body.probation_hours)
      audited(done.id, { kind: done.kind, entity: done.entity, before: done.before, after: done.after })
      return shownApplied(done)
    },
  })

  gateway.api({
    method: 'GET',
    path: '/api/advisor/applied',
    summary: 'Applied actions, newest first.',
    role: 'member',
    response: z.strictObject({ data: z.array(listed) }),
    async handler({ orgId }) {
      const data: z.input<typeof listed>[] = []
      for (const one of await actionsOf(gateway.db, orgId))
        data.push({ ...shownApplied(one), since: one.state === 'applied' ? shownFigures(await actions.since(one)) : null })
      return { data }
    },
  })

  gateway.api({
    method: 'POST',
    path: '/api/advisor/confirm/:id',
    summary: 'Keeps an applied action; the watch ends.',
    role: 'manage',
    params: idParams,
    response: applied,
    audit: 'advisor.confirm',
    handler: async ({ params, orgId }) => shownApplied(await actions.confirm(orgId, params.id)),
  })

  gateway.api({
    method: 'POST',
    path: '/api/advisor/rollback/:id',
    summary: 'Restores what was there before an applied action, unless it was changed since.',
    role: 'manage',
    params: idParams,
    response: applied,
    audit: 'advisor.rollback',
    handler: async ({ params, orgId, operator }) => shownApplied(await actions.rollBack(orgId, params.id, operator)),
  })
}

export function shownRecommendation({ id, kind, title, detail, confidence, evidence, ...rest }: Recommendation) {
  const { estMonthlyUsd, applyAction, applyHint } = rest
  return {
    id,
    kind,
    title,
    detail,
    est_monthly_usd: estMonthlyUsd,
    confidence,
    evidence: { ...evidence },
    apply_action: applyAction === null ? null : { type: applyAction.type, params: { ...applyAction.params } },
    apply_hint: applyHint,
    state: 'suggested' as const,
  }
}

function shownSpend(spend: Advice['spend']) {
  if (spend === null) return null
  const { limitUsd, spentUsd, projectedUsd } = spend
  const status = spentUsd > limitUsd ? ('over' as const) : projectedUsd > limitUsd ? ('at_risk' as const) : ('ok' as const)
  return { limit_usd: limitUsd, spend_usd: spentUsd, projected_usd: projectedUsd, status }
}

function shownFigures({ errorRate, p95Ms, costPerRequestUsd, requests }: Applied['baseline']): z.input<typeof figures> {
  return { error_rate: errorRate, p95_ms: p95Ms, cost_per_request: costPerRequestUsd, requests }
}

function appliedRecord(one: Applied, now: number): z.input<typeof applied> {
  return {
    id: one.id,
    recommendation_id: one.recommendationId,
    kind: one.kind,
    action: { type: one.action.type, params: { ...one.action.params } },
    state: one.state,
    rollback_reason: one.rollbackReason,
    before: one.before as Record<string, unknown>,
    after: one.after as Record<string, unknown>,
    baseline: shownFigures(one.baseline),
    applied_at: new Date(one.appliedAt).toISOString(),
    probation_until: new Date(one.probationUntil).toISOString(),
    probation_active: one.state === 'applied' && now < one.probationUntil,
  }
}

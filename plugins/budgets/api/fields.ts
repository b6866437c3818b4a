// Schemas of a budget in the control plane: bodies and records.
import { z } from 'zod'
import type { Window } from '../../../core/timing/calendar.ts'
import { percentOf, time } from '../alerts/announcement.ts'
import type { Entity } from '../directory.ts'
import { isActive, limitOf } from '../limit.ts'
import { hardLimitUsd, MAX_USD, NANO } from '../resource.ts'
import { type Budget, SCOPES, WINDOWS } from '../service.ts'

export const createBody = z.strictObject({
  scope: z.enum(SCOPES),
  entity_id: z.int('must be the id of a key or virtual model').min(1).nullable().optional(),
  entity_label: z.string().min(1).max(200).nullable().optional().describe('Name of a virtual model, instead of its id.'),
  window: z.enum(WINDOWS),
  hard_limit_usd: hardLimitUsd.describe('0 blocks everything.'),
  enabled: z.boolean().optional(),
})
export type CreateBody = z.output<typeof createBody>

export const updateBody = z.strictObject({
  window: z.enum(WINDOWS).optional().describe('The gateway computes the spending of the new window from usage.'),
  hard_limit_usd: hardLimitUsd.optional(),
  enabled: z.boolean().optional(),
})

const amount = z.number('must be a number of USD').min(1e-9, 'must be more than 0').max(MAX_USD, `must be at most ${MAX_USD}`)
export const increaseBody = z.strictObject({
  amount_usd: amount.optional().describe('The amount to add. Give this or one of the other two members.'),
  additional_usd: amount.optional().describe('The same as `amount_usd`.'),
  hard_limit_usd: amount.optional().describe('The limit to reach, including the increases that hold now.'),
  expires_at: z.iso.datetime({ offset: true, error: 'must be an RFC 3339 time such as 2027-01-31T00:00:00Z' }),
  reason: z.string().max(500).nullable().optional(),
})
export type IncreaseBody = z.output<typeof increaseBody>

const increaseRecord = z.strictObject({
  id: z.int(),
  amount_usd: z.number(),
  reason: z.string().nullable(),
  expires_at: z.string(),
  created_at: z.string(),
  created_by: z.string(),
  active: z.boolean(),
})

export const budgetRecord = z.strictObject({
  id: z.int(),
  org_id: z.int().nullable(),
  scope: z.enum(SCOPES),
  entity_id: z.int().nullable(),
  entity_label: z.string().nullable(),
  window: z.enum(WINDOWS),
  hard_limit_usd: z.number(),
  enabled: z.boolean(),
  effective_limit_usd: z.number().describe('With the increases that hold now.'),
  spend_usd: z.number(),
  reserved_usd: z.number().describe('Kept back for requests that run.'),
  remaining_usd: z.number().describe('Of the effective limit, without what is spent and kept back; may be negative.'),
  percent_used: z.number().describe('Spent, of the effective limit.'),
  window_start: z.string().nullable(),
  window_end: z.string().nullable(),
  projected_usd: z.number().nullable().describe('At the end of the window; null while it is too early to say.'),
  projected_exceeded: z.boolean(),
  breaks_at: z.string().nullable().describe('When the limit is reached at the current pace; null: not before the window ends.'),
  increases: z.array(increaseRecord),
  managed_by: z.enum(['config', 'api']),
  config_key: z.string().nullable().describe('Its name in gateway.config.ts; null for rows of the API.'),
  created_at: z.string(),
  updated_at: z.string(),
  warning: z.strictObject({ code: z.literal('entity_not_found'), message: z.string() }).optional(),
})

export interface Standing {
  readonly budget: Budget
  readonly entity: Entity
  readonly window: Window
  /** Nano-USD. */
  readonly spent: number
  readonly reserved: number
  readonly projected: number | null
  /** Epoch ms. */
  readonly now: number
}

export function recordOf({ budget, entity, window, spent, reserved, projected, now }: Standing): z.input<typeof budgetRecord> {
  const limit = limitOf(budget, now)
  return {
    id: budget.id,
    org_id: budget.orgId,
    scope: budget.scope,
    entity_id: entity.id,
    entity_label: entity.label,
    window: budget.window,
    hard_limit_usd: budget.hardLimitNano / NANO,
    enabled: budget.enabled,
    effective_limit_usd: limit / NANO,
    spend_usd: spent / NANO,
    reserved_usd: reserved / NANO,
    remaining_usd: (limit - spent - reserved) / NANO,
    percent_used: Math.round(percentOf(spent, limit) * 100) / 100,
    window_start: window.end === null ? null : time(window.start),
    window_end: window.end === null ? null : time(window.end),
    projected_usd: projected === null ? null : projected / NANO,
    projected_exceeded: projected !== null && projected > limit,
    breaks_at: breakOf({ window, spent, projected, limit, now }),
    increases: budget.increases.map((increase) => ({
      id: increase.id,
      amount_usd: increase.amountNano / NANO,
      reason: increase.reason,
      expires_at: time(increase.expiresAt),
      created_at: time(increase.createdAt),
      created_by: increase.createdBy,
      active: isActive(increase, now),
    })),
    managed_by: budget.managedBy,
    config_key: budget.configKey,
    created_at: time(budget.createdAt),
    updated_at: time(budget.updatedAt),
    ...(entity.found ? {} : { warning: { code: 'entity_not_found' as const, message: notFoundText(budget, entity) } }),
  }
}

/** Spending goes on as it did since the window began. An exhausted budget does not break: it has broken. */
function breakOf({
  window,
  spent,
  projected,
  limit,
  now,
}: Pick<Standing, 'window' | 'spent' | 'projected' | 'now'> & { limit: number }) {
  if (projected === null || projected <= limit || spent <= 0 || spent >= limit) return null
  return time(Math.round(window.start + ((now - window.start) * limit) / spent))
}

export function notFoundText({ scope }: Budget, { id, label }: Entity): string {
  const named = label === null ? String(id) : `\`${label}\``
  return `There is no ${scope === 'key' ? 'client key' : 'virtual model'} ${named}: this budget counts nothing and blocks nothing.`
}

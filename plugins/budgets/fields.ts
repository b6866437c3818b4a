// Members of a budget as the configuration file spells them.
import { z } from 'zod'
import { type BudgetScope, SCOPES, WINDOWS } from './service.ts'

export const NANO = 1e9
export const MAX_USD = Math.floor(Number.MAX_SAFE_INTEGER / NANO)

/** 0 blocks everything. */
export const hardLimitUsd = z
  .number('must be a number of USD')
  .min(0, 'must not be negative')
  .max(MAX_USD, `must be at most ${MAX_USD}`)

export function nanoOf(usd: number): number {
  return Math.round(usd * NANO)
}

/** A key's budget above GATEWAY_MAX_KEY_BUDGET_USD; 0 = no bound. */
export function isAboveKeyCap(scope: BudgetScope, limitUsd: number, maxKeyUsd: number): boolean {
  return scope === 'key' && maxKeyUsd > 0 && limitUsd > maxKeyUsd
}

/** One entry of the file. */
export const declaredBudget = z
  .strictObject({
    scope: z.enum(SCOPES),
    entity: z.string().min(1, 'must not be empty').max(200).optional(),
    window: z.enum(WINDOWS),
    hardLimitUsd,
    enabled: z.boolean().default(true),
  })
  .superRefine(({ scope, entity }, context) => {
    if (scope === 'org' && entity !== undefined)
      context.addIssue({ code: 'custom', path: ['entity'], message: 'a budget of scope `org` has none' })
    if (scope !== 'org' && entity === undefined)
      context.addIssue({
        code: 'custom',
        path: ['entity'],
        message: scope === 'key' ? 'name the label of a key' : 'name a virtual model',
      })
  })
export type DeclaredBudget = z.output<typeof declaredBudget>

// 402: whose budget does not cover a request, and what can be done.
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { NANO } from './fields.ts'
import type { Budget } from './service.ts'

export interface Spent {
  readonly budget: Budget
  readonly label: string | null
  /** Nano-USD. */
  readonly limit: number
  /** Epoch ms; null: never. */
  readonly windowEnd: number | null
  readonly now: number
  /** True when the budget is used up; false when the rest is too small for this request. */
  readonly usedUp: boolean
}

const SCOPES: Readonly<Record<Budget['scope'], (label: string) => string>> = {
  key: (label) => `client key \`${label}\``,
  virtual_model: (label) => `virtual model \`${label}\``,
  org: () => 'organization',
}

export function budgetExhausted({ budget, label, limit, windowEnd, now, usedUp }: Spent): GatewayError {
  const whose = `The ${budget.window} budget of the ${SCOPES[budget.scope](label ?? String(budget.entityId ?? ''))}`
  const resets = windowEnd === null ? '' : `It resets at ${new Date(windowEnd).toISOString()}. `
  const what = usedUp
    ? `is used up: its limit is ${usd(limit)} USD. ${resets}Ask your gateway administrator to raise it.`
    : `does not cover the possible cost of this request: too little of its limit of ${usd(limit)} USD is free. Set a lower output limit, or wait until running requests end. ${resets}Ask your gateway administrator to raise it.`
  return GatewayError.budgetExhausted(`${whose} ${what}`, windowEnd === null ? null : Math.max(0, windowEnd - now))
}

/** A session's limit has no window, so there is no Retry-After. */
export function sessionExhausted(sessionId: string, limit: number): GatewayError {
  const named = sessionId.replace(/[^\x20-\x7e]/g, '?').slice(0, 64)
  return GatewayError.budgetExhausted(
    `The session \`${named}\` may spend ${usd(limit)} USD, which does not cover this request. Start another session, or ask your gateway administrator to raise the limit.`,
  )
}

function usd(nano: number): string {
  return String(nano / NANO)
}

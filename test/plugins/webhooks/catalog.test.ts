// The event types an endpoint may subscribe to.
import { describe, expect, it } from 'vitest'
import { EVENT_TYPES, kindOf } from '../../../plugins/webhooks/events/catalog.ts'

describe('the catalogue', () => {
  it('lists exactly the documented events, with their defaults', () => {
    const on = EVENT_TYPES.filter((type) => kindOf(type)?.defaultOn)
    expect(on).toEqual([
      ...['request.failed', 'request.rate_limited', 'request.budget_rejected'],
      ...['budget.threshold_crossed', 'budget.crossed', 'budget.projected_exceeded'],
      ...['provider.circuit_opened', 'provider.circuit_closed', 'account.cooldown_started', 'account.quota_exhausted'],
      ...['provider.outage', 'webhook.endpoint_auto_disabled', 'report.weekly_digest'],
    ])
    expect(EVENT_TYPES.filter((type) => !on.includes(type))).toEqual([
      ...['key.created', 'key.rotated', 'key.deleted', 'user.created', 'user.deleted', 'spend.tracked'],
    ])
  })
})

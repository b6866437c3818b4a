// The event types an endpoint may subscribe to.
import { describe, expect, it } from 'vitest'
import { EVENT_TYPES, kindOf } from '../../../plugins/webhooks/events/catalog.ts'
import { sampleOf } from '../../../plugins/webhooks/events/samples.ts'

describe('the catalogue', () => {
  it('has a sample for each event, with the members that are sent', () => {
    for (const type of EVENT_TYPES) {
      const { data, ...envelope } = sampleOf(type) as { data: object }
      expect(envelope, type).toMatchObject({ type, api_version: 'v1', org_id: null })
      const members = kindOf(type)?.members
      if (members !== undefined) expect(Object.keys(data).sort(), type).toEqual([...members].sort())
    }
  })

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

// The events, and when each is sent.

export const EVENTS: readonly (readonly [type: string, about: string])[] = [
  ['request.failed', 'A request failed at the upstream or in the gateway.'],
  ['request.rate_limited', 'A rate limit refused a request.'],
  ['request.budget_rejected', 'A budget refused a request.'],
  ['budget.threshold_crossed', 'A budget is used to one of its thresholds.'],
  ['budget.crossed', 'A budget is used up.'],
  ['budget.projected_exceeded', 'At this pace a budget is used up before its window ends.'],
  ['provider.circuit_opened', 'The circuit of a connection opened: it is not asked for a while.'],
  ['provider.circuit_closed', 'The circuit of a connection closed: it answers again.'],
  ['account.cooldown_started', 'A connection is left out until its cooldown ends.'],
  ['account.quota_exhausted', 'The quota of a connection is used up.'],
  ['provider.outage', 'A provider fails for all of its connections.'],
  ['webhook.endpoint_auto_disabled', 'An endpoint failed for five days and was disabled.'],
  ['report.weekly_digest', 'Once a week: what was used and what it cost.'],
  ['key.created', 'A client key was created.'],
  ['key.rotated', 'A client key got a new secret.'],
  ['key.deleted', 'A client key was revoked.'],
  ['user.created', 'A user was created.'],
  ['user.deleted', 'A user was deleted.'],
  ['spend.tracked', 'A request was settled, with its cost.'],
]

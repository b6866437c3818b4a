// Describes when each event of the webhook catalogue is sent, for docs/webhooks.md.
export const EVENT_TEXT = {
  'request.failed': 'An upstream could not answer a request: 5xx, no connection, a timeout, a broken stream.',
  'request.rate_limited': 'A request failed because of the upstream’s rate limit. The gateway’s own limits send no event.',
  'request.budget_rejected': 'A budget or a session’s cap refused a request with 402.',
  'budget.threshold_crossed': '85 or 95 percent of a budget is spent.',
  'budget.crossed': 'A budget refused a request. Reaching the limit alone sends no event.',
  'budget.projected_exceeded': 'At the current rate, the spending will exceed a budget before its window ends.',
  'provider.circuit_opened': 'A connection failed several times in a row and gets no requests for some time.',
  'provider.circuit_closed': 'The connection works again.',
  'account.cooldown_started': 'A connection gets no requests until its rate limit ends.',
  'account.quota_exhausted': 'A connection’s quota is used up.',
  'provider.outage': 'A provider failed five times within a minute (minor), or ten times (major).',
  'webhook.endpoint_auto_disabled': 'Another endpoint was disabled after five days of failures.',
  'report.weekly_digest': 'The savings of a week, and the largest opportunities.',
  'key.created': 'A client key was created.',
  'key.rotated': 'A client key got a new secret.',
  'key.deleted': 'A client key was revoked.',
  'user.created':
    'A person signed up, was added by a system administrator, or signed in through the identity provider for the first time.',
  'user.deleted': 'An account of a person was deleted.',
  'spend.tracked': 'The costs of up to 512 requests, every 5 seconds.',
}

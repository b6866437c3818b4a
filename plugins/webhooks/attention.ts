// Facts about webhook endpoints that need attention: failing ones, and those that failed until they were disabled.
import type { AttentionFacts, AttentionItem } from '../../core/types/attention.ts'
import type { Db } from '../../core/types/ports/db.ts'
import { FAILING_LIMIT_MS } from './delivery/auto-disable.ts'
import { activeEndpoints, type EndpointRow } from './store.ts'

export function endpointFacts(db: Db): AttentionFacts {
  return async ({ orgId }) => {
    const mine = (await activeEndpoints(db)).filter((row) => row.org_id === (orgId ?? 0))
    return mine.flatMap(endpointFact)
  }
}

function endpointFact({ public_id: id, url, enabled, failing_since, auto_disabled_at }: EndpointRow): AttentionItem[] {
  // The path of an address may be a credential.
  const label = URL.canParse(url) ? new URL(url).host : id
  const path = `/api/webhooks/endpoints/${id}`
  const fact = { subject: { kind: 'webhook', id, label }, link: `/webhooks?open=${id}` }
  const test = { label: 'Send a test', method: 'POST', path: `${path}/test`, body: null } as const
  if (!enabled && auto_disabled_at !== null)
    return [
      {
        ...fact,
        kind: 'webhook_disabled',
        severity: 'critical',
        title: `The webhook endpoint ${label} failed for days and was disabled.`,
        since: auto_disabled_at,
        effect: 'It gets no events until it is enabled again.',
        levers: [test, { label: 'Enable it', method: 'PUT', path, body: { enabled: true } }],
      },
    ]
  if (!enabled || failing_since === null) return []
  return [
    {
      ...fact,
      kind: 'webhook_failing',
      severity: 'warning',
      title: `The webhook endpoint ${label} fails.`,
      since: failing_since,
      effect: `Its events wait and are tried again; without a success it is disabled at ${new Date(failing_since + FAILING_LIMIT_MS).toISOString()}.`,
      levers: [test],
    },
  ]
}

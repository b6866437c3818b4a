// Facts about accounts without quota. Each is one fact with that of the account's state.
import type { AttentionFacts } from '../../core/types/attention.ts'
import type { Services } from '../../core/types/plugin/plugin.ts'
import type { ExhaustedAccounts } from './exhausted.ts'

export function quotaFacts(accounts: Pick<Services['accounts'], 'list'>, exhausted: ExhaustedAccounts): AttentionFacts {
  return ({ orgId }) => {
    if (exhausted.none) return []
    const mine = accounts.list().filter((account) => account.orgId === orgId && account.enabled)
    return mine.flatMap(({ connection }) => {
      const until = exhausted.ofAccount(connection)
      if (until === null) return []
      const label = `${connection.provider}/${connection.label}`
      return [
        {
          kind: 'quota_exhausted',
          severity: 'warning' as const,
          subject: { kind: 'connection', id: connection.id, label },
          title: `${label} has no quota left until ${new Date(until).toISOString()}.`,
          since: null,
          effect: 'Requests go to other connections, where there are any.',
          levers: [{ label: 'Test it', method: 'POST' as const, path: `/api/providers/${connection.id}/test`, body: null }],
          link: `/connections?open=${connection.id}`,
        },
      ]
    })
  }
}

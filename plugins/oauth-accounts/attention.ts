// Facts about accounts whose refresh token the vendor refused.
import type { AttentionFacts } from '../../core/types/attention.ts'
import type { Services } from '../../core/types/plugin/plugin.ts'
import type { Connection } from '../../core/types/ports/provider.ts'

export function signInFacts(
  accounts: Pick<Services['accounts'], 'list'>,
  needs: (connection: Connection) => boolean,
): AttentionFacts {
  return ({ orgId }) => {
    const mine = accounts.list().filter((account) => account.orgId === orgId && needs(account.connection))
    return mine.map(({ connection }) => {
      const label = `${connection.provider}/${connection.label}`
      return {
        kind: 'reauth_required',
        severity: 'warning' as const,
        subject: { kind: 'connection', id: connection.id, label },
        title: `${label} needs a new sign-in: the vendor refused its refresh token.`,
        since: null,
        effect: 'Requests go to other connections, where there are any.',
        levers: [],
        link: `/connections?open=${connection.id}`,
      }
    })
  }
}

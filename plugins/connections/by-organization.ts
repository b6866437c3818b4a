// Keeps organizations apart: each is served by its own connections only, and does not learn which providers others have.
import type { Configuration } from '../../core/config/configuration.ts'
import type { ConnectionService } from '../../core/services.ts'
import { directoryOf } from './directory.ts'
import type { OpenConnection } from './opened.ts'

/** The gateway's own organization has the connections of the configuration file, and everything else without an organization. */
export function directoriesOf(entries: readonly OpenConnection[], configuration: Configuration): ConnectionService {
  const byOrg = new Map<number, OpenConnection[]>()
  for (const entry of entries) byOrg.set(entry.row.org_id, [...(byOrg.get(entry.row.org_id) ?? []), entry])
  const own = directoryOf(byOrg.get(0) ?? [], configuration)
  const others = new Map([...byOrg].map(([orgId, some]) => [orgId, directoryOf(some, configuration)]))
  const none = directoryOf([], configuration)
  const all = directoryOf(entries, configuration)
  const of = (orgId: number | null) => (orgId === null ? own : (others.get(orgId) ?? none))
  return {
    ...own,
    list: (provider, model, ctx) => of(ctx.principal.orgId).list(provider, model, ctx),
    knows: (provider, orgId = null) => of(orgId).knows(provider),
    secretOf: all.secretOf,
  }
}

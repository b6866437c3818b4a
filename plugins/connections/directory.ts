// Lists connections by provider for the hot path. The lists are built when rows change, not per request.
import type { Configuration } from '../../core/config/configuration.ts'
import type { ConnectionService } from '../../core/services.ts'
import { globMatch } from '../../core/text/glob.ts'
import type { Connection } from '../../core/types/ports/provider.ts'
import type { OpenConnection } from './opened.ts'

export function directoryOf(entries: readonly OpenConnection[], { providerId }: Configuration): ConnectionService {
  const byProvider = new Map<string, Connection[]>()
  const byId = new Map<string, Connection>()
  const secrets = new Map<string, string | null>()
  for (const { connection, enabled, secret } of [...entries].sort(byPriority)) {
    secrets.set(connection.id, secret)
    if (!enabled) continue
    byId.set(connection.id, connection)
    byProvider.set(connection.provider, [...(byProvider.get(connection.provider) ?? []), connection])
  }
  const unrestricted = new Map([...byProvider].filter(([, list]) => list.every((one) => one.allowedModels.length === 0)))
  const serves = ({ allowedModels }: Connection, model: string): boolean =>
    allowedModels.length === 0 || allowedModels.some((glob) => globMatch(glob, model))
  return {
    list: (provider, model) => {
      const id = providerId(provider)
      return unrestricted.get(id) ?? (byProvider.get(id) ?? []).filter((connection) => serves(connection, model))
    },
    shared: (id) => byId.get(id),
    knows: (provider) => byProvider.has(providerId(provider)),
    secretOf: (connection) => secrets.get(connection.id) ?? null,
  }
}

/** The lowest number first, equal ones by id. */
function byPriority(a: OpenConnection, b: OpenConnection): number {
  return a.connection.priority - b.connection.priority || a.row.id - b.row.id
}

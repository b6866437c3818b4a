// A connection's credentials for its upstream: address, headers, key. Only a change of these lets a refused account try again.
import type { ConnectionService } from '../../core/services.ts'
import type { Connection } from '../../core/types/provider.ts'

/** By connection as it is now: the record of a changed one is another object. */
export function accessOf({ secretOf }: Pick<ConnectionService, 'secretOf'>): (connection: Connection) => unknown {
  const known = new WeakMap<Connection, string>()
  return (connection) => {
    let access = known.get(connection)
    if (access === undefined) {
      access = JSON.stringify([connection.baseUrl, connection.headers, secretOf(connection)])
      known.set(connection, access)
    }
    return access
  }
}

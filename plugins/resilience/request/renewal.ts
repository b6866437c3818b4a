// Renews a refused credential (OAuth) once for all requests that were refused; these are then retried once.
import type { PluginGateway } from '../../../core/types/plugin/plugin.ts'
import type { Connection } from '../../../core/types/ports/provider.ts'

export interface Renewal {
  /** Returns how often this account's credential was renewed. Read it before a call, and pass it with the refusal. */
  count(connectionId: string): number
  /** Resolves to true when there is another credential than the refused one. */
  renewed(connection: Connection, countBefore: number): Promise<boolean>
}

export function renewal(gateway: PluginGateway): Renewal {
  const credentials = gateway.optional('credentials')
  const counts = new Map<string, number>()
  const running = new Map<string, Promise<boolean>>()
  const count = (id: string): number => counts.get(id) ?? 0

  const renew = async (connection: Connection): Promise<boolean> => {
    try {
      const done = (await credentials()?.renew(connection)) === true
      if (done) counts.set(connection.id, count(connection.id) + 1)
      return done
    } catch (error) {
      gateway.log.warn('credential.not_renewed', { connection: connection.id, error: (error as Error).message })
      return false
    } finally {
      running.delete(connection.id)
    }
  }

  return {
    count,
    renewed(connection, countBefore) {
      // Another request has renewed it since this one was sent.
      if (count(connection.id) !== countBefore) return Promise.resolve(true)
      if (credentials() === undefined) return Promise.resolve(false)
      let one = running.get(connection.id)
      if (one === undefined) {
        one = renew(connection)
        running.set(connection.id, one)
      }
      return one
    },
  }
}

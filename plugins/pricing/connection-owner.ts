// Owner of a connection, and whether its address is this machine. Used on every request: cached until connections change.
import type { Connection } from '../../core/types/provider.ts'
import { isLoopback } from './source-url.ts'

/** The part of the service `accounts` that is used here. The list keeps its identity until a change. */
interface AccountList {
  list(): readonly { connection: Connection; orgId: number | null }[]
}

export interface ConnectionOwners {
  orgOf(connection: Connection): number | null
  isLocal(connection: Connection): boolean
  /** True: some connection of the provider leads here, or it is one that always does. */
  isLocalProvider(provider: string): boolean
}

/** @param baseOf the provider's own address; null: it has none. */
export function connectionOwners(accounts: AccountList, baseOf: (provider: string) => string | null): ConnectionOwners {
  let asOf: unknown = null
  let orgs = new Map<string, number | null>()
  let local = new Set<string>()
  const known = new WeakMap<Connection, boolean>()
  const isLocal = (connection: Connection): boolean => {
    let found = known.get(connection)
    if (found === undefined) {
      found = leadsHere(connection.baseUrl ?? baseOf(connection.provider))
      known.set(connection, found)
    }
    return found
  }
  const follow = () => {
    const list = accounts.list()
    if (list === asOf) return
    asOf = list
    orgs = new Map(list.map(({ connection, orgId }) => [connection.id, orgId]))
    local = new Set(list.filter(({ connection }) => isLocal(connection)).map(({ connection }) => connection.provider))
  }
  return {
    isLocal,
    orgOf(connection) {
      follow()
      return orgs.get(connection.id) ?? null
    },
    isLocalProvider(provider) {
      follow()
      return local.has(provider) || leadsHere(baseOf(provider))
    },
  }
}

function leadsHere(address: string | null): boolean {
  return address !== null && URL.canParse(address) && isLoopback(new URL(address).hostname)
}

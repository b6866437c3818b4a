// The connections that people signed in with, looked for again when connections change.
import type { Services } from '../../core/types/plugin.ts'

/** Connection id → provider id. */
export type SignedIn = ReadonlyMap<string, string>

export function signedInOf(accounts: Services['accounts']): () => SignedIn {
  let seen: ReturnType<typeof accounts.list> | null = null
  let found: SignedIn = new Map()
  return () => {
    const list = accounts.list()
    if (list !== seen) {
      seen = list
      const oauth = list.filter(({ authType }) => authType === 'oauth')
      found = new Map(oauth.map(({ connection }) => [connection.id, connection.provider]))
    }
    return found
  }
}

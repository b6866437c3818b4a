// Finds connections with a user's sign-in, and recognizes vendors' refusals of such credentials.
import type { GatewayErrorShape } from '../../core/types/error.ts'
import type { Services } from '../../core/types/plugin/plugin.ts'

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

/**
 * An error may quote the caller, whose text must not block a provider. So only a sentence at the very start counts, which is the vendor's
 * own.
 */
const CREDENTIAL =
  /^(?:this|your|the) (?:oauth )?(?:credential|token|subscription|account)\b[^."]{0,60}\b(?:only (?:be )?(?:authori[sz]ed|used|allowed|valid)|not (?:authori[sz]ed|allowed|permitted) (?:for|to))\b[^."]{0,60}\b(?:use|used|apps?|applications?|clients?|third[- ]party)\b/i
const THIRD_PARTY = /^third[- ]party (?:apps?|applications?|clients?|tools?|use)\b/i

export function isPolicyRefusal({ upstream, message }: GatewayErrorShape): boolean {
  if (upstream === null || ![400, 401, 403].includes(upstream.status)) return false
  return CREDENTIAL.test(message) || THIRD_PARTY.test(message)
}

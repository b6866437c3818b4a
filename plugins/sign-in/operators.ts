// Authenticates callers of the control plane: the service `operators`. A credential is accepted only in the Authorization header.
import type { OperatorService } from '../../core/services.ts'
import type { Operator } from '../../core/types/operator.ts'
import { refused } from './refusal.ts'
import type { Sessions } from './session.ts'
import { TOKEN_PREFIX, type Tokens } from './tokens.ts'

const CLIENT_KEY_PREFIX = 'gw_'

export interface OperatorRules {
  readonly owner: Operator
  /** Without a password and with one tenant, local callers have operator access. */
  readonly open: boolean
  /** The route that gives a session to tenants; undefined: there are no tenants. */
  readonly signInRoute: string | undefined
  readonly sessions: Pick<Sessions, 'verify'>
  readonly tokens: Pick<Tokens, 'identify'>
}

export function operatorService({ owner, open, signInRoute, sessions, tokens }: OperatorRules): OperatorService {
  return {
    ...(signInRoute !== undefined && { signInRoute }),
    async identify(request, peer) {
      const credential = bearerOf(request)
      // Only `true` is local: an embedding server that gave no value did not confirm it.
      if (credential === null) return open && peer.local === true ? owner : null
      if (credential.startsWith(TOKEN_PREFIX)) return tokens.identify(credential)
      if (credential.startsWith(CLIENT_KEY_PREFIX))
        throw refused('A client key opens the data plane only. Send a session token or a management token (`gmt_…`).')
      return (await sessions.verify(credential)).operator
    },
  }
}

/** Returns null when there is none; other schemes are ignored. */
export function bearerOf(request: Request): string | null {
  const header = request.headers.get('authorization')
  return header !== null && /^bearer\s/i.test(header) ? header.slice(7).trim() : null
}

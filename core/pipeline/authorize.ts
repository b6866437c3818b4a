// Gets the credential of an upstream call and adds it. A promise is awaited only where there is one, so a plain key costs a request
// nothing. Every failure is one of the connection: the next one is tried.
import { GatewayError } from '../errors/gateway-error.ts'
import type { ConnectionService } from '../services.ts'
import { withTimeout } from '../timing/with-timeout.ts'
import type { Clock, WireRequest } from '../types/ports/ports.ts'
import type { AuthorizedCall, Connection, Provider } from '../types/ports/provider.ts'
import type { Awaitable, Dialect } from '../types/request/canonical.ts'

/** A credential that takes longer counts as failed. */
const LIMIT_MS = 30_000

/** Returns the credential itself, or a promise while it is renewed. */
export function credentialOf(connections: ConnectionService, connection: Connection, clock: Clock): Awaitable<string | null> {
  if (connections.credentialOf === undefined) return connections.secretOf(connection)
  try {
    const found = connections.credentialOf(connection)
    return found instanceof Promise ? withTimeout(clock, LIMIT_MS, found).catch(failed) : found
  } catch (error) {
    return failed(error)
  }
}

/** Returns a promise only when the provider does. */
export function authorize(
  provider: Provider,
  wire: WireRequest,
  dialect: Dialect,
  secret: string | null,
  call: AuthorizedCall,
  clock: Clock,
): Awaitable<void> {
  const { clientVersion } = provider
  if (clientVersion !== undefined && !has(wire.headers, clientVersion.header))
    wire.headers.push(clientVersion.header, clientVersion.version)
  try {
    const authorizing = provider.authorize(wire, dialect, secret, call)
    if (authorizing) return withTimeout(clock, LIMIT_MS, authorizing).catch(failed)
  } catch (error) {
    failed(error)
  }
}

function has(headers: readonly string[], name: string): boolean {
  for (let i = 0; i < headers.length; i += 2) if ((headers[i] as string).toLowerCase() === name) return true
  return false
}

/** The cause may hold the secret, so the message does not quote it. @throws GatewayError */
function failed(error: unknown): never {
  if (GatewayError.is(error) && (error.upstream !== null || error.skip !== null)) throw error
  throw new GatewayError('The credential of this connection could not be used.', {
    status: 502,
    type: 'api_error',
    code: 'credential_unavailable',
    upstream: { kind: 'connect' },
    cause: error,
  })
}

// Selects the proxy of a call: the connection's own, the one assigned to it, OUTBOUND_PROXY, or none.
import type { Generation } from '../plugins/generation.ts'
import type { ProxyService } from '../services.ts'
import type { RequestContext } from '../types/context.ts'
import type { Connection } from '../types/provider.ts'
import type { Runtime } from './runtime.ts'

export function proxyFor(
  runtime: Runtime,
  generation: Generation,
  connection: Connection,
  url: string,
  ctx: RequestContext | null,
): string | null {
  if (connection.proxyUrl !== null) return connection.proxyUrl === 'direct' ? null : connection.proxyUrl
  const assigned = (generation.service('proxies') as ProxyService | undefined)?.for(connection, url, ctx)
  return assigned === undefined ? runtime.options.outboundProxy : assigned
}

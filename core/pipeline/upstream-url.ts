// Builds the address of an upstream call: its URL and its proxy. A base URL is everything before the operation path, as the vendor's SDK
// shows it. When the base URL already ends in a version segment, the path's own is left out.
import { memoize } from '../collections/memoize.ts'
import type { Generation } from '../plugins/generation.ts'
import type { ProxyService } from '../services.ts'
import type { Connection, Provider } from '../types/ports/provider.ts'
import type { Dialect } from '../types/request/canonical.ts'
import type { RequestContext } from '../types/request/context.ts'
import type { Runtime } from './runtime.ts'

const VERSION = /\/v\d+(?:beta\d*|alpha\d*)?$/

/** `https://h/v1` + `/v1/messages` → `https://h/v1/messages`; `https://h` + `/v1/messages` → the same; chat never adds a version. */
export function joinUrl(base: string, path: string): string {
  return under(base)(path)
}

const under = memoize((base) => memoize((path) => joined(base, path)))

function joined(base: string, path: string): string {
  const stem = base.endsWith('/') ? base.slice(0, -1) : base
  const versioned = /^\/v\d+(?:beta\d*|alpha\d*)?(?=\/)/.exec(path)?.[0]
  if (versioned === undefined) return stem + path
  const rest = path.slice(versioned.length)
  return VERSION.test(stem) || NEVER_VERSIONED.test(rest) ? stem + rest : stem + path
}

/** Vendors of these two dialects put any prefix before the path (`/openai`, `/inference`, `/api/paas/v4`). */
const NEVER_VERSIONED = /^\/(?:chat\/completions|responses)(?:\/|$)/

export function addressOf(connection: Connection, provider: Provider, dialect: Dialect, path: string): string {
  // A registry row with '' means: the dialect is served at the provider's own address.
  return joinUrl(connection.baseUrl ?? (provider.dialects[dialect] || provider.baseUrl || ''), path)
}

// Returns the proxy of a call: the connection's own, the one assigned to it, OUTBOUND_PROXY, or none.
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

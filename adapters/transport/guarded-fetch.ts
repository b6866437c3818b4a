// fetch() through the outbound guard, for plugins: every address and every redirect is checked before it is dialled.
import type { Dispatcher, ProxyAgent as ProxyTypes } from 'undici/index.js'
import { type GuardOptions, guardedAgent } from './outbound-guard.ts'
import { checkOutboundUrl } from './outbound-url.ts'
import { SocksAgent, tunnelling } from './proxies.ts'
import { ProxyAgent } from './undici-parts.ts'

const CONNECT_MS = 10_000

export interface GuardedFetchOptions extends GuardOptions {
  /** The proxy of all calls (GATEWAY_OUTBOUND_PROXY); it resolves names itself. null: no proxy. */
  proxyUrl?: string | null
}

/** Calls reject with a GatewayError 400 for a URL that does not lead to a public address. */
export function guardedFetch({ proxyUrl = null, ...options }: GuardedFetchOptions = {}): typeof globalThis.fetch {
  const dispatcher = (proxyUrl === null ? guardedAgent(options) : proxied(proxyUrl)).compose(judged)
  return (async (input: string, init?: object) => {
    checkOutboundUrl(input, 'url')
    const { fetch: undiciFetch } = await import('undici/index.js')
    return undiciFetch(input, { ...init, dispatcher }).catch(unwrapped)
  }) as typeof globalThis.fetch
}

/** Redirects are checked here too. Without a proxy the agent also checks the addresses of names, at every dial. */
function judged(dispatch: Dispatcher['dispatch']): Dispatcher['dispatch'] {
  return (request, handler) => {
    try {
      checkOutboundUrl(String(request.origin), 'url')
    } catch (error) {
      handler.onError?.(error as Error)
      return false
    }
    return dispatch(request, handler)
  }
}

function proxied(proxyUrl: string): Dispatcher {
  if (proxyUrl.startsWith('socks5:')) return new SocksAgent(proxyUrl, { timeout: CONNECT_MS })
  return new ProxyAgent({ uri: proxyUrl, ...tunnelling(proxyUrl, CONNECT_MS), connectTimeout: CONNECT_MS } as ProxyTypes.Options)
}

/** undici wraps the guard's refusal as `fetch failed`. */
function unwrapped(error: unknown): never {
  throw error instanceof TypeError && error.cause !== undefined ? error.cause : error
}

// Holds connection pools by origin, proxy and connect timeout. Idle sockets are kept for 20 s; those above the configured number per host
// are closed after 5 idle seconds.
import { createSecureContext, rootCertificates } from 'node:tls'
import type { Dispatcher, Pool as PoolTypes, ProxyAgent as ProxyTypes } from 'undici/index.js'
import { systemClock } from '../../core/timing/clock.ts'
import type { Clock } from '../../core/types/ports/ports.ts'
import { directReads } from './direct-reads.ts'
import { PoolSockets } from './pool-sockets.ts'
import { SocksAgent, tunnelling } from './proxies.ts'
import { buildConnector, ProxyAgent } from './undici-parts.ts'

export interface PoolOptions {
  /** Idle sockets per origin (GATEWAY_UPSTREAM_POOL_MAX_IDLE_PER_HOST); default 32. */
  maxIdlePerHost?: number
  /** TCP keep-alive, s; 0 disables; default 60. */
  tcpKeepAliveSecs?: number
  /** Maximum sockets per origin; default unlimited. */
  maxConnections?: number
  /** Default: the system clock. */
  clock?: Pick<Clock, 'timer'>
  /** Certificates to trust besides Node's own roots, PEM; for tests. */
  ca?: string
}

export interface PoolTable {
  /** Returns the pool. @throws a plain Error (no GatewayError) for an invalid proxy URL. */
  get(origin: string, proxyUrl: string | null, connectTimeoutMs: number): Dispatcher
  /** True: no idle socket is kept; each closes after its answer. */
  readonly keepsNone: boolean
  close(): Promise<void>
}

const KEEP_ALIVE_MS = 20_000

export function poolTable(options: PoolOptions): PoolTable {
  const { maxIdlePerHost = 32, tcpKeepAliveSecs = 60, maxConnections = null, clock = systemClock, ca } = options
  const pools = new Map<string, Dispatcher>()
  // Created once: parsing a hundred certificates for each connection would cost more than its handshake.
  const trust = ca === undefined ? {} : { secureContext: createSecureContext({ ca: [...rootCertificates, ca] }) }
  const idle: PoolSockets[] = []
  const common = {
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: 0,
    bodyTimeout: 0,
    allowH2: false,
    connections: maxConnections,
  }

  const open = (origin: string, proxyUrl: string | null, timeout: number, sockets: PoolSockets): Dispatcher => {
    const tcp = {
      timeout,
      keepAlive: tcpKeepAliveSecs > 0,
      keepAliveInitialDelay: tcpKeepAliveSecs * 1000,
      ...trust,
    }
    // Not through ProxyAgent: with TLS options it would use TLS to the proxy itself.
    if (proxyUrl?.startsWith('socks5:')) return new SocksAgent(proxyUrl, tcp)
    if (proxyUrl !== null)
      return new ProxyAgent({
        ...common,
        uri: proxyUrl,
        ...tunnelling(proxyUrl, timeout),
        proxyTls: tcp,
        requestTls: tcp,
        connectTimeout: timeout,
        factory: (to: URL, made: PoolTypes.Options) => sockets.pool(to, made),
      } as ProxyTypes.Options)
    const connect = origin.startsWith('http:') ? directReads(tcp) : buildConnector(tcp)
    return sockets.pool(origin, { ...common, connect })
  }

  return {
    get(origin, proxyUrl, connectTimeoutMs) {
      const key = proxyUrl === null && connectTimeoutMs === 10_000 ? origin : `${origin} ${proxyUrl ?? ''} ${connectTimeoutMs}`
      let pool = pools.get(key)
      if (pool !== undefined) return pool
      const sockets = new PoolSockets(maxIdlePerHost, clock)
      pool = open(origin, proxyUrl, connectTimeoutMs, sockets)
      pools.set(key, pool)
      idle.push(sockets)
      return pool
    },
    keepsNone: maxIdlePerHost === 0,
    async close() {
      const all = [...pools.values()]
      pools.clear()
      for (const sockets of idle.splice(0)) sockets.close()
      await Promise.all(all.map((pool) => pool.destroy()))
    },
  }
}

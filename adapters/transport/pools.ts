// Connection pools by origin, proxy and connect timeout. Idle sockets are kept 20 s and, approximately, up to the
// configured number per host: sockets that nobody needed for a whole window are closed by the requests that follow it.
import type { Socket } from 'node:net'
import { buildConnector, type Dispatcher, Pool, ProxyAgent, Socks5ProxyAgent } from 'undici'

export interface PoolOptions {
  /** Idle sockets per origin (GATEWAY_UPSTREAM_POOL_MAX_IDLE_PER_HOST); default 32. */
  maxIdlePerHost?: number
  /** TCP keep-alive, s; 0 disables; default 60. */
  tcpKeepAliveSecs?: number
  /** Sockets per origin at the same time; default unlimited. */
  maxConnections?: number
  /** Certificates to trust beside the system's; tests. */
  ca?: string
}

export interface PoolTable {
  /** @throws GatewayError-free plain Error for a proxy URL that cannot be used. */
  get(origin: string, proxyUrl: string | null, connectTimeoutMs: number): Dispatcher
  /** True when the socket of this request is one too many and should close after its answer. */
  surplus(pool: Dispatcher): boolean
  close(): Promise<void>
}

const KEEP_ALIVE_MS = 20_000

export function poolTable(options: PoolOptions): PoolTable {
  const { maxIdlePerHost = 32, tcpKeepAliveSecs = 60, maxConnections = null, ca } = options
  const pools = new Map<string, Dispatcher>()
  const idle = new WeakMap<Dispatcher, IdleWindow>()
  const common = {
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: 0,
    bodyTimeout: 0,
    allowH2: false,
    connections: maxConnections,
  }

  const open = (origin: string, proxyUrl: string | null, timeout: number): Dispatcher => {
    const tcp = {
      timeout,
      keepAlive: tcpKeepAliveSecs > 0,
      keepAliveInitialDelay: tcpKeepAliveSecs * 1000,
      ...(ca === undefined ? {} : { ca }),
    }
    // Not through ProxyAgent: with TLS options it would speak TLS to the proxy itself.
    if (proxyUrl?.startsWith('socks5:'))
      return new Socks5ProxyAgent(proxyUrl, { connect: buildConnector(tcp), requestTls: tcp } as Socks5ProxyAgent.Options)
    if (proxyUrl !== null)
      return new ProxyAgent({
        ...common,
        uri: proxyUrl,
        proxyTls: tcp,
        requestTls: tcp,
        connectTimeout: timeout,
        factory: (to: URL, made: Pool.Options) =>
          new Pool(to, { ...made, connect: noting(made.connect as buildConnector.connector) }),
      } as ProxyAgent.Options)
    return new Pool(origin, { ...common, connect: noting(buildConnector(tcp)) })
  }

  return {
    get(origin, proxyUrl, connectTimeoutMs) {
      const key = proxyUrl === null && connectTimeoutMs === 10_000 ? origin : `${origin} ${proxyUrl ?? ''} ${connectTimeoutMs}`
      let pool = pools.get(key)
      if (pool !== undefined) return pool
      pool = open(origin, proxyUrl, connectTimeoutMs)
      pools.set(key, pool)
      idle.set(pool, new IdleWindow())
      return pool
    },
    surplus(pool) {
      if (maxIdlePerHost === 0) return true
      return pool instanceof Pool && (idle.get(pool)?.surplus(pool.stats.free, maxIdlePerHost) ?? false)
    },
    async close() {
      const all = [...pools.values()]
      pools.clear()
      await Promise.all(all.map((pool) => pool.destroy()))
    },
  }
}

const WINDOW_MS = 5000

/** The fewest sockets that were idle at once in a window: only those were never needed in it. */
class IdleWindow {
  #fewest = Number.POSITIVE_INFINITY
  #until = performance.now() + WINDOW_MS
  #closing = 0

  surplus(free: number, max: number): boolean {
    this.#fewest = Math.min(this.#fewest, free)
    const now = performance.now()
    if (now >= this.#until) {
      this.#closing = Math.max(0, this.#fewest - max)
      this.#fewest = Number.POSITIVE_INFINITY
      this.#until = now + WINDOW_MS
    }
    if (this.#closing === 0) return false
    this.#closing--
    return true
  }
}

/** Errors of a socket say whether it was a reused one that had not answered a byte of its last request (row 9). */
function noting(connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) =>
    connect(options, (...result) => {
      if (result[1]) note(result[1])
      callback(...result)
    })
}

function note(socket: Socket): void {
  // Through a tunnel the proxy's own answer has been read already.
  const fresh = socket.bytesRead
  let before = fresh
  const write = socket.write as (...args: unknown[]) => boolean
  // undici writes a request's head as text, and nothing else.
  socket.write = (...args: unknown[]): boolean => {
    if (typeof args[0] === 'string') before = socket.bytesRead
    return write.apply(socket, args)
  }
  socket.prependListener('error', (error: Error & { reused?: boolean }) => {
    error.reused = before > fresh && socket.bytesRead === before
  })
}

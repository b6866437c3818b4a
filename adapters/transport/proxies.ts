// Makes undici dispatchers for proxies. A tunnel that cannot be opened is a failure of the proxy, not of the upstream.
import type { Socket } from 'node:net'
import type { buildConnector as Connector, ProxyAgent, Socks5ProxyAgent as Socks } from 'undici/index.js'
import { buildConnector, Pool, Socks5ProxyAgent } from './undici-parts.ts'

/** It does not use undici's own code: after `UND_ERR_SOCKET` its client would dial again, at once and forever. */
export class ProxyError extends Error {
  readonly code = 'ERR_PROXY'
}

/** Returns options of a ProxyAgent, without its address. */
export function tunnelling(proxyUrl: string, timeout: number): Pick<ProxyAgent.Options, 'token' | 'clientFactory'> {
  return {
    ...loginOf(proxyUrl),
    clientFactory(origin, options) {
      const pool = new Pool(origin, { ...options, headersTimeout: timeout })
      const connect = pool.connect.bind(pool) as (options: object) => Promise<unknown>
      return Object.assign(pool, { connect: (to: object) => connect(to).catch(failed) })
    },
  }
}

type Tunnel = (host: string, port: number) => Promise<Socket>
const { createSocks5Connection } = Socks5ProxyAgent.prototype as unknown as { createSocks5Connection: Tunnel }

export class SocksAgent extends Socks5ProxyAgent {
  constructor(proxyUrl: string, tcp: Connector.BuildOptions) {
    const dial = buildConnector(tcp)
    const connect: Connector.connector = (to, callback) =>
      dial(to, (...result) => {
        result[1]?.once('end', hungUp)
        callback(...result)
      })
    super(proxyUrl, { connect, requestTls: tcp } as Socks.Options)
  }

  async createSocks5Connection(host: string, port: number): Promise<Socket> {
    const socket = await createSocks5Connection.call(this, host, port).catch(failed)
    return socket.off('end', hungUp)
  }
}

/** undici would wait for the answer of a proxy that has closed the connection. */
function hungUp(this: Socket): void {
  this.destroy(new Error('The proxy hung up.'))
}

/** A user name without a password is usually a token, and undici would omit it. */
function loginOf(proxyUrl: string): { token?: string } {
  const { username, password } = new URL(proxyUrl)
  if (username === '' || password !== '') return {}
  return { token: `Basic ${Buffer.from(`${decodeURIComponent(username)}:`).toString('base64')}` }
}

function failed(cause: unknown): never {
  throw new ProxyError('The proxy made no tunnel.', { cause })
}

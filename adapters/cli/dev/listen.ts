// The server of `hookgate dev`, by listhen: it takes the next free port and makes a certificate.
import type { Server } from 'node:http'
import { networkInterfaces } from 'node:os'
import type { Listener, ListenOptions } from 'listhen'
import type { NodeListener } from '../../node/server/node-handler.ts'

export interface DevListen {
  readonly host: string
  /** Another one is taken if it is in use. */
  readonly port: number
  readonly https: boolean
}

/** A certificate of a day: it is made again at each start. */
const CERTIFICATE = { validityDays: 1 }

export async function devListen(listener: NodeListener, { host, port, https }: DevListen): Promise<Listener> {
  const { listen } = await import('listhen')
  const options: Partial<ListenOptions> = {
    hostname: host,
    public: isAny(host),
    port: { port, portRange: port === 0 ? [0, 0] : [port, Math.min(port + 100, 65_535)], verbose: false },
    https: https ? CERTIFICATE : false,
    isProd: false,
    isTest: false,
    showURL: false,
    autoClose: false,
    // Its own way to open a browser runs a script from the shared temporary directory, which another user may have put there.
    open: false,
    clipboard: false,
  }
  return listen(listener, options)
}

/** Returns the address that another machine in the network uses; null: the server listens for this machine only. */
export function networkUrl({ server, url }: Pick<Listener, 'server' | 'url'>, host: string): string | null {
  if (!isAny(host)) return null
  const address = Object.values(networkInterfaces())
    .flat()
    .find((one) => one !== undefined && !one.internal && one.family === 'IPv4')?.address
  if (address === undefined) return null
  return `${new URL(url).protocol}//${address}:${((server as Server).address() as { port: number }).port}`
}

function isAny(host: string): boolean {
  return host === '0.0.0.0' || host === '::'
}

// The parts of undici that a gateway uses at its start. The package's entry loads its fetch, its WebSockets and its mocks as well, which
// cost ten megabytes and need the web objects of Node. Each part is the same object as the entry's.
import { createRequire } from 'node:module'
import type * as undici from 'undici/index.js'
import { finishPausedAnswers } from './paused-parser.ts'

type Undici = typeof undici

const require = createRequire(import.meta.url)

export const Client = part('Client', 'dispatcher/client')
export const Pool = part('Pool', 'dispatcher/pool')
export const Agent = part('Agent', 'dispatcher/agent')
export const ProxyAgent = part('ProxyAgent', 'dispatcher/proxy-agent')
export const Socks5ProxyAgent = part('Socks5ProxyAgent', 'dispatcher/socks5-proxy-agent')
export const buildConnector = part('buildConnector', 'core/connect')

// The package's entry gives all dispatchers the methods of its API. They are loaded with the first call of one.
const { prototype } = part('Dispatcher', 'dispatcher/dispatcher')
for (const name of ['connect', 'pipeline', 'request', 'stream', 'upgrade'] as const) {
  if (name in prototype) continue
  const load = function (this: undici.Dispatcher, ...args: unknown[]): unknown {
    Object.assign(prototype, require('undici/lib/api/index.js'))
    // Not a method of the same name that a dispatcher has of its own.
    return (prototype[name] as (...args: unknown[]) => unknown).apply(this, args)
  }
  Object.assign(prototype, { [name]: load })
}
finishPausedAnswers(Client)

/** These files are no part of undici's interface, so another version of it may have them elsewhere. */
function part<K extends keyof Undici>(name: K, path: string): Undici[K] {
  try {
    return require(`undici/lib/${path}.js`) as Undici[K]
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'MODULE_NOT_FOUND') throw error
    return (require('undici/index.js') as Undici)[name]
  }
}

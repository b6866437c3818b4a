// Refuses calls to internal addresses: the host of a URL when it is an address, and every address that a name resolves to, at every dial.
// A lookup hook alone is not enough, because address literals skip it.
import { lookup as systemLookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { rootCertificates } from 'node:tls'
import ipaddr from 'ipaddr.js'
import type { Agent as AgentType, buildConnector as Connector } from 'undici/index.js'
import { isPublicAddress, refused } from './outbound-url.ts'
import { Agent, buildConnector } from './undici-parts.ts'

export type Resolver = (host: string) => Promise<readonly { address: string; family: number }[]>

export interface GuardOptions {
  /** For tests and rebinding checks; default: the system's resolver. */
  resolve?: Resolver
  /** For tests: where a checked address is really dialled; default: the address itself. */
  dial?: (address: string, port: number) => { host: string; port: number }
  /** Certificates to trust besides Node's own roots, PEM; for tests. */
  ca?: string
}

export interface GuardedWaits {
  connectMs: number
  /** Limit for the start of the answer, and between two pieces of it; 0: only the caller's signal ends the wait. */
  answerMs: number
}

const WAITS: GuardedWaits = { connectMs: 5000, answerMs: 10_000 }

/** Returns a dispatcher that resolves, checks every address and connects to the checked one. */
export function guardedAgent(options: GuardOptions = {}, waits: GuardedWaits = WAITS): AgentType {
  const resolve = options.resolve ?? systemResolve
  const lookup: LookupFunction = (host, lookupOptions, callback) => {
    resolve(host).then(
      (addresses) => {
        const first = addresses[0]
        if (first === undefined || !addresses.every(({ address }) => isPublicAddress(address)))
          return callback(refused('url') as unknown as NodeJS.ErrnoException, '', 4)
        if (lookupOptions.all) (callback as unknown as (error: null, list: typeof addresses) => void)(null, addresses)
        else callback(null, first.address, first.family)
      },
      (error) => callback(error, '', 4),
    )
  }
  const trust = options.ca === undefined ? {} : { ca: [...rootCertificates, options.ca] }
  const connect = buildConnector({ lookup, timeout: waits.connectMs, ...trust } as Connector.BuildOptions)
  return new Agent({
    headersTimeout: waits.answerMs,
    bodyTimeout: waits.answerMs,
    connect: (target, callback) => {
      const host = target.hostname.replace(/^\[|\]$/g, '')
      if (ipaddr.isValid(host) && !isPublicAddress(host)) return callback(refused('url'), null)
      if (options.dial === undefined) return connect(target, callback)
      dialChecked(target, resolve, options.dial, connect, callback)
    },
  })
}

function dialChecked(
  target: Connector.Options,
  resolve: Resolver,
  dial: NonNullable<GuardOptions['dial']>,
  connect: Connector.connector,
  callback: Connector.Callback,
): void {
  const host = target.hostname.replace(/^\[|\]$/g, '')
  const port = Number(target.port) || (target.protocol === 'https:' ? 443 : 80)
  const addresses = ipaddr.isValid(host) ? Promise.resolve([{ address: host, family: 4 }]) : resolve(host)
  addresses.then(
    (list) => {
      const first = list[0]
      if (first === undefined || !list.every(({ address }) => isPublicAddress(address))) return callback(refused('url'), null)
      const to = dial(first.address, port)
      // The certificate belongs to the name, whichever address is dialled.
      const servername = target.servername ?? (ipaddr.isValid(host) ? undefined : host)
      connect({ ...target, hostname: to.host, host: to.host, port: String(to.port), servername }, callback)
    },
    (error) => callback(error, null),
  )
}

export function systemResolve(host: string): ReturnType<Resolver> {
  return new Promise((resolve, reject) => {
    systemLookup(host, { all: true }, (error, addresses) => (error ? reject(error) : resolve(addresses)))
  })
}

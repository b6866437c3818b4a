// Decides whether a peer is local: its socket is loopback, it sends no forwarding header, and its Host is one of ours. Loopback alone is
// not enough, because DNS rebinding and malicious pages reach it too.
import type { IncomingMessage } from 'node:http'
import type { Peer } from '../../../core/types/ports/ports.ts'
import { headerLines } from './exchange.ts'
import { hostName } from './host-header.ts'

export interface PeerRules {
  /** The host names that are answered and whose pages may call: localhost, the bind address, the host of PUBLIC_URL. */
  readonly hosts: ReadonlySet<string>
  /** Returns whether a Host header names one of them. */
  isOurs(header: string): boolean
}

/** Headers that only proxies, load balancers and CDNs add. Every name with the prefix `x-forwarded` counts too. */
const FORWARDED: ReadonlySet<string> = new Set([
  'cdn-loop',
  'cf-connecting-ip',
  'cf-connecting-ipv6',
  'do-connecting-ip',
  'fastly-client-ip',
  'fly-client-ip',
  'forwarded',
  'forwarded-for',
  'true-client-ip',
  'via',
  'x-appengine-user-ip',
  'x-azure-clientip',
  'x-azure-socketip',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-envoy-external-address',
  'x-original-forwarded-for',
  'x-original-host',
  'x-real-ip',
  'x-vercel-forwarded-for',
])

export function peerRules(host: string, publicUrl: string | null): PeerRules {
  const hosts = new Set(['localhost', '127.0.0.1', '[::1]', host.includes(':') ? `[${host}]` : host])
  if (publicUrl !== null) hosts.add(new URL(publicUrl).hostname)
  /** Nearly all clients send the same header. */
  let last = ''
  let isOurs = false
  return {
    hosts,
    isOurs(header) {
      if (header === last) return isOurs
      last = header
      isOurs = hosts.has(hostName(header) ?? '')
      return isOurs
    },
  }
}

export function peerOf(req: IncomingMessage, rules: PeerRules): Peer {
  const address = req.socket.remoteAddress ?? null
  const loopback = address !== null && (address === '::1' || address.startsWith('127.') || address.startsWith('::ffff:127.'))
  return {
    address,
    local: loopback && direct(req) && hostAllowed(req, rules) && originAllowed(req, rules),
    secure: 'encrypted' in req.socket,
  }
}

function direct({ headers }: IncomingMessage): boolean {
  for (const name in headers) if (FORWARDED.has(name) || name.startsWith('x-forwarded')) return false
  return true
}

/** Requires exactly one Host. For an absolute-form target its authority must match too, because that one applies (RFC 9112). */
function hostAllowed(req: IncomingMessage, rules: PeerRules): boolean {
  const { host } = req.headers
  if (host === undefined || headerLines(req, 'host') > 1 || !rules.isOurs(host)) return false
  const target = req.url ?? '/'
  if (target.startsWith('/')) return true
  return URL.canParse(target) && rules.hosts.has(new URL(target).hostname)
}

/** A page of another site must not act as the local user. */
function originAllowed(req: IncomingMessage, rules: PeerRules): boolean {
  if (req.headers['sec-fetch-site'] === 'cross-site') return false
  const { origin } = req.headers
  if (origin === undefined) return true
  return URL.canParse(origin) && rules.hosts.has(new URL(origin).hostname)
}

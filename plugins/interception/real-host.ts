// Finds the real address of an intercepted host. The hosts file may name this machine, so only name servers are asked.
import { Resolver } from 'node:dns/promises'
import { rootCertificates } from 'node:tls'
import type { InterceptedHost } from './options.ts'

export interface RealHost {
  readonly address: string
  readonly port: number
  readonly ca: string[] | undefined
}

const TIMEOUT_MS = 5000

/** @throws Error when the name servers know no address, or one of this machine. */
export async function realHost({ host, address, ca }: InterceptedHost): Promise<RealHost> {
  const trusted = ca === undefined ? undefined : [...rootCertificates, ca]
  if (address !== undefined) {
    const mark = address.lastIndexOf(':')
    return { address: address.slice(0, mark).replace(/^\[|\]$/g, ''), port: Number(address.slice(mark + 1)), ca: trusted }
  }
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: 2 })
  const found = await resolver.resolve4(host).catch(() => resolver.resolve6(host))
  // A name server that reads the hosts file would send the request back to this proxy.
  const usable = found.find((one) => !/^(?:127\.|0\.|::1$|::ffff:127\.)/.test(one))
  if (usable === undefined) throw new Error(`the name servers say that ${host} is this machine`)
  return { address: usable, port: 443, ca: trusted }
}

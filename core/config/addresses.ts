// Checks addresses that administrators enter: only allowed schemes, never a metadata service.
import { GatewayError } from '../errors/gateway-error.ts'
import type { OutboundGuard } from '../types/ports/ports.ts'

export interface AddressRules {
  readonly profile: 'local' | 'cloud'
  readonly outbound: OutboundGuard
}

/** Cloud metadata services: never allowed as an upstream, on any profile. */
const METADATA =
  /^(?:169\.254\.\d+\.\d+|100\.100\.100\.200|168\.63\.129\.16|\[::ffff:(?:a9fe:[0-9a-f]+|6464:64c8|a83f:8110)\]|\[fd00:ec2::254\]|metadata(?:\.google\.internal)?\.?)$/

const OPERATION = /(?:\/chat\/completions|(?<=\/v\d\w*)\/(?:messages|responses)|\/models\/[^/]+:\w+)\/?$/

/** Returns a message for a base URL that already contains an operation path, because every request would get 404; otherwise null. */
export function operationIn(baseUrl: string): string | null {
  const operation = OPERATION.exec(baseUrl)?.[0]
  if (operation === undefined) return null
  return `ends in \`${operation}\`, which the gateway appends itself; leave it out: ${baseUrl.slice(0, -operation.length)}`
}

/** Checks the field `proxy_url`. @param wanted the expected form, for the message. @throws GatewayError 400. */
export function checkProxyUrl(text: string, wanted: string, rules: AddressRules): void {
  const url = parsedAddress(text, 'proxy_url', /^(https?|socks5):$/, wanted)
  const plain = new URL(text.replace(/^socks5:/i, 'http:'))
  guardAddress(url.protocol === 'socks5:' ? plain : url, 'proxy_url', rules)
}

/** @throws GatewayError 400 for a metadata service, and on the cloud profile for an internal address. */
export function guardAddress(url: URL, param: string, { profile, outbound }: AddressRules): void {
  if (METADATA.test(url.hostname)) throw GatewayError.invalid(param, `\`${param}\` leads to a metadata service.`)
  if (profile === 'cloud') outbound.check(url.href, param)
}

/** Returns the parsed URL. @throws GatewayError 400: not a URL, or another scheme. */
export function parsedAddress(text: string, param: string, protocol: RegExp, wanted: string): URL {
  if (!URL.canParse(text) || !protocol.test(new URL(text).protocol) || new URL(text).hostname === '')
    throw GatewayError.invalid(param, `\`${param}\` must be ${wanted}.`)
  return new URL(text)
}

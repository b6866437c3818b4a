// Checks the URL of an outbound call without a dial: its scheme, and its host when that is an address or a name of an internal network.
import ipaddr from 'ipaddr.js'
import { GatewayError } from '../../core/errors/gateway-error.ts'

/** Azure's platform answers here, also with a machine's certificates: the range is public, but the address is internal. */
const AZURE_PLATFORM = '168.63.129.16'

/** Returns true when an address belongs to the public internet. NAT64, 6to4 and Teredo do not: they contain private addresses. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.process(address)
  if (parsed.range() !== 'unicast' || parsed.toString() === AZURE_PLATFORM) return false
  // Addresses outside 2000::/3 are not global, for example `::127.0.0.1`.
  return parsed.kind() === 'ipv4' || ((parsed.toByteArray()[0] as number) & 0xe0) === 0x20
}

/** @throws GatewayError 400 for any URL except http(s) with a name or a public address. The dial checks whether a name is public. */
export function checkOutboundUrl(text: string, param: string): URL {
  if (!URL.canParse(text)) throw GatewayError.invalid(param, `\`${param}\` is not a URL.`)
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw GatewayError.invalid(param, `\`${param}\` must be an http or https URL.`)
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (ipaddr.isValid(host) ? !isPublicAddress(host) : inward(host)) throw refused(param)
  return url
}

function inward(host: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, '')
  return (
    name === 'localhost' ||
    name.endsWith('.localhost') ||
    name.endsWith('.local') ||
    name.endsWith('.internal') ||
    !name.includes('.')
  )
}

export function refused(param: string): GatewayError {
  return GatewayError.invalid(param, 'The URL does not lead to a public address.')
}

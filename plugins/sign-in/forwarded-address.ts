// Whom a sign-in is counted for: the address that the nearest proxy saw, never the socket's.
import ipaddr from 'ipaddr.js'

/** Address from the last X-Forwarded-For entry, else from X-Real-IP; IPv6 as its /64. null when neither holds an address. */
export function forwardedAddress(headers: Headers): string | null {
  const last = headers.get('x-forwarded-for')?.split(',').at(-1)
  return bucketOf(last) ?? bucketOf(headers.get('x-real-ip'))
}

function bucketOf(text: string | null | undefined): string | null {
  const address = withoutPort((text ?? '').trim().slice(0, 64))
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) return ipaddr.IPv4.parse(address).toString()
  if (!ipaddr.IPv6.isValid(address)) return null
  const parsed = ipaddr.process(address)
  if (parsed.kind() === 'ipv4') return parsed.toString()
  return `${(parsed as ipaddr.IPv6).parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`
}

/** Some proxies say `1.2.3.4:567` and `[::1]:567`. */
function withoutPort(text: string): string {
  if (text.startsWith('[')) return text.slice(1, text.includes(']') ? text.indexOf(']') : undefined)
  return /^[\d.]+:\d+$/.test(text) ? text.slice(0, text.indexOf(':')) : text
}

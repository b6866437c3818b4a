// The unit that connections are counted by: an IPv4 address, or the /64 of an IPv6 address, which one subscriber usually has.
import ipaddr from 'ipaddr.js'

/** Block of an address. Sockets without an address (already closed) share one block. */
export function addressBlock(address: string | undefined): string {
  if (address === undefined || !ipaddr.isValid(address)) return 'unknown'
  const parsed = ipaddr.process(address)
  if (parsed.kind() === 'ipv4') return parsed.toString()
  const parts = (parsed as ipaddr.IPv6).parts.slice(0, 4).map((part) => part.toString(16))
  return `${parts.join(':')}::/64`
}

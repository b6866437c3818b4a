// Encodes the extension that limits a CA to some hosts (RFC 5280, section 4.2.1.10), which the certificate library does not have.

export const NAME_CONSTRAINTS = '2.5.29.30'

/** Returns the DER of NameConstraints with these names, and the names below them, as permitted subtrees. */
export function permittedHosts(hosts: readonly string[]): Uint8Array<ArrayBuffer> {
  const subtrees = hosts.map((host) => element(SEQUENCE, element(DNS_NAME, new TextEncoder().encode(host))))
  return Uint8Array.from(element(SEQUENCE, element(PERMITTED, joined(subtrees))))
}

const SEQUENCE = 0x30
const PERMITTED = 0xa0
/** `dNSName` of GeneralName. */
const DNS_NAME = 0x82

function element(tag: number, content: Uint8Array): Uint8Array {
  return joined([Uint8Array.of(tag, ...lengthOf(content.length)), content])
}

function lengthOf(size: number): number[] {
  if (size < 0x80) return [size]
  return size < 0x100 ? [0x81, size] : [0x82, size >> 8, size & 0xff]
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]))
}

// Parses the Host header (RFC 9112): a name or an address, and a valid port.

/** Returns the header's name or address in lower case, IPv6 in brackets; null when no URL can contain it. */
export function hostName(header: string): string | null {
  const [, name, port = ''] = SHAPE.exec(header) ?? []
  if (name === undefined || Number(port) > 65_535) return null
  // The pattern also matches dotted numbers that are not addresses (`1.2.3.4.5`, `999.1.1.1`) and broken brackets.
  return URL.canParse(`http://${name}/`) ? name.toLowerCase() : null
}

const SHAPE = /^(\[[0-9a-f:.]{2,45}\]|[\w.~!$&'()*+,;=%-]{1,255})(?::(\d{0,5}))?$/i

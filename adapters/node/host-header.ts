// The Host header as RFC 9112 has it: a name or an address, and a port that can be one.

/** Name or address of the header, in lower case, IPv6 in its brackets; null for what no URL could be made of. */
export function hostName(header: string): string | null {
  const [, name, port = ''] = SHAPE.exec(header) ?? []
  if (name === undefined || Number(port) > 65_535) return null
  // Numbers with dots that are no address (`1.2.3.4.5`, `999.1.1.1`) and broken brackets have a right shape.
  return URL.canParse(`http://${name}/`) ? name.toLowerCase() : null
}

const SHAPE = /^(\[[0-9a-f:.]{2,45}\]|[\w.~!$&'()*+,;=%-]{1,255})(?::(\d{0,5}))?$/i

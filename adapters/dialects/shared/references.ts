// What points at something elsewhere: items that a responses vendor stored, servers that Anthropic connects to (DIALECTS 3.2).
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import type { CanonicalRequest, Frozen } from '../../../core/types/canonical.ts'

/** @throws GatewayError.unsupported `input` for an `item_reference`. */
export function refuseReferences(request: Frozen<CanonicalRequest>): void {
  if (request.source !== 'responses') return
  for (const { parts } of request.messages) {
    for (const part of parts) {
      if (part.t !== 'opaque' || part.dialect !== 'responses') continue
      const { raw } = part
      if (typeof raw === 'object' && raw !== null && 'type' in raw && raw.type === 'item_reference') {
        throw GatewayError.unsupported(
          'input',
          'An `item_reference` names an item that is not stored here. Send the item itself, as clients do with `store: false`.',
        )
      }
    }
  }
}

/** @throws GatewayError.unsupported `mcp_servers`; an empty list names none. */
export function refuseMcpServers({ ext }: Frozen<CanonicalRequest>): void {
  const servers = ext.messages?.mcp_servers
  if (servers === undefined || (Array.isArray(servers) && servers.length === 0)) return
  throw GatewayError.unsupported('mcp_servers', 'This target cannot connect to MCP servers.')
}

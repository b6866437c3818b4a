// Refuses data that only its own vendor can read: items that a responses vendor stores or has sealed, servers that Anthropic connects to.
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import type { CanonicalRequest, Frozen, JsonObject } from '../../../core/types/request/canonical.ts'
import { isObject } from './fields.ts'

/** @throws GatewayError.unsupported `input` for an `item_reference`, and for the compaction items of a vendor. */
export function refuseReferences(request: Frozen<CanonicalRequest>): void {
  if (request.source !== 'responses') return
  for (const { parts } of request.messages) {
    for (const part of parts) {
      if (part.t !== 'opaque' || part.dialect !== 'responses') continue
      const { raw } = part
      if (isObject(raw) && isReference(raw)) {
        throw GatewayError.unsupported(
          'input',
          'An `item_reference` names an item that is not stored here. Send the item itself, as clients do with `store: false`.',
        )
      }
      if (isObject(raw) && COMPACTIONS.has(raw.type)) {
        throw GatewayError.unsupported(
          'input',
          'The input has a compaction item of another vendor, which this target cannot read. Send the conversation without it, or to the vendor that made it.',
        )
      }
    }
  }
}

const COMPACTIONS: ReadonlySet<unknown> = new Set(['compaction', 'compaction_summary', 'compaction_trigger'])

/** The type may be omitted. */
function isReference(raw: Frozen<JsonObject>): boolean {
  return (raw.type ?? 'item_reference') === 'item_reference'
}

/** @throws GatewayError.unsupported `mcp_servers`; an empty list is allowed. */
export function refuseMcpServers({ ext }: Frozen<CanonicalRequest>): void {
  const servers = ext.messages?.mcp_servers
  if (servers === undefined || (Array.isArray(servers) && servers.length === 0)) return
  throw GatewayError.unsupported('mcp_servers', 'This target cannot connect to MCP servers.')
}

// Responses items that only point at something stored elsewhere: no other dialect can resolve them (DIALECTS 3.2).
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

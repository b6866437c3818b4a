// Validates the output limit of every body, also on the byte lane.
import type { WireBody } from '../../../../core/types/request/dialect.ts'
import { checkBound } from '../../shared/bounds.ts'

/** @throws GatewayError 400 with `param` set. */
export function validateMessages(body: WireBody): void {
  checkBound(body.get('max_tokens'), 'max_tokens')
}

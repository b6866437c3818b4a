// Checks the output bound of every body, also of one that is passed on as bytes.
import type { WireBody } from '../../../../core/types/dialect.ts'
import { checkBound } from '../../shared/bounds.ts'

/** @throws GatewayError 400 with `param` set. */
export function validateMessages(body: WireBody): void {
  checkBound(body.get('max_tokens'), 'max_tokens')
}

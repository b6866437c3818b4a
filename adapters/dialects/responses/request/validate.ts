// Validates every body, also on the byte lane: its output limit, and the limit of calls of the vendor's own tools.
import type { WireBody } from '../../../../core/types/request/dialect.ts'
import { checkBound } from '../../shared/bounds.ts'

/** @throws GatewayError 400 with `param` set. */
export function validateResponses(body: WireBody): void {
  checkBound(body.get('max_output_tokens'), 'max_output_tokens')
  checkBound(body.get('max_tool_calls'), 'max_tool_calls')
}

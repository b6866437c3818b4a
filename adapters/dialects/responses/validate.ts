// What is judged of every body, also of one that is passed on as it came: how long the answer may be, and how many calls of
// the vendor's own tools it may take.
import type { WireBody } from '../../../core/types/dialect.ts'
import { checkBound } from '../shared/bounds.ts'

/** @throws GatewayError 400 with `param` set. */
export function validateResponses(body: WireBody): void {
  checkBound(body.get('max_output_tokens'), 'max_output_tokens')
  checkBound(body.get('max_tool_calls'), 'max_tool_calls')
}

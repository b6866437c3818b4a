// Bounds of an answer, as a caller gives them: whole numbers of at least 1. What a budget keeps back goes by them, so one that
// an upstream could read otherwise is refused here, whether or not anything else reads the request.
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import type { Json } from '../../../core/types/canonical.ts'

/** null counts as absent. @throws GatewayError 400 */
export function checkBound(value: Json | undefined, param: string): void {
  if (value === undefined || value === null) return
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 1)
    throw GatewayError.invalid(param, `\`${param}\` must be an integer of at least 1.`)
}

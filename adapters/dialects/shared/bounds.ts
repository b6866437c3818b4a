// Checks the output limits of a request: whole numbers of at least 1. Budgets reserve by them, so a limit that an upstream could read
// differently is refused here, also when the gateway reads nothing else of the request.
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import type { Json } from '../../../core/types/request/canonical.ts'

/** null counts as absent. @throws GatewayError 400. */
export function checkBound(value: Json | undefined, param: string): void {
  if (value === undefined || value === null) return
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 1)
    throw GatewayError.invalid(param, `\`${param}\` must be an integer of at least 1.`)
}

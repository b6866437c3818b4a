// What everybody gets who comes, or is still served, while the gateway ends.
import { GatewayError } from './gateway-error.ts'

export function shuttingDown(): GatewayError {
  return GatewayError.unavailable('The gateway is shutting down.', { code: 'shutting_down', retryAfterMs: 1000 })
}

export function refuseNew(): never {
  throw shuttingDown()
}

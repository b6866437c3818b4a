// The error of new and unfinished requests while the gateway shuts down.
import { GatewayError } from './gateway-error.ts'

export function shuttingDown(): GatewayError {
  return GatewayError.unavailable('The gateway is shutting down.', { code: 'shutting_down', retryAfterMs: 1000 })
}

export function refuseNew(): never {
  throw shuttingDown()
}

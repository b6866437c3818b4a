// Builds the 401 of the control plane.
import { GatewayError } from '../../core/errors/gateway-error.ts'

export function refused(message: string): GatewayError {
  return new GatewayError(message, {
    status: 401,
    type: 'authentication_error',
    code: 'invalid_credentials',
    headers: ['www-authenticate', 'Bearer'],
  })
}

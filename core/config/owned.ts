// Refuses API changes to rows that the configuration file owns.
import { GatewayError } from '../errors/gateway-error.ts'

interface Owned {
  managedBy: 'config' | 'api'
  configKey: string | null
}

/** @throws GatewayError 409 naming the entry of the file. */
export function refuseOwnedByFile(section: string, row: Owned): void {
  if (row.managedBy !== 'config') return
  throw conflict(
    `This is declared in gateway.config.ts as \`${section}.${row.configKey}\`: change it there.`,
    'managed_by_config',
  )
}

/** @throws GatewayError 409 when only the file may create rows of this section. */
export function refuseExclusive(section: string, exclusive: readonly string[]): void {
  if (exclusive.includes(section))
    throw conflict(`gateway.config.ts says \`exclusive: ['${section}']\`: declare it there.`, 'managed_by_config')
}

/** Returns a 409: the current state does not allow the request. */
export function conflict(message: string, code: string): GatewayError {
  return new GatewayError(message, { status: 409, type: 'invalid_request_error', code })
}

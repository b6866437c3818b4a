// What a caller hears when the database cannot be asked, and the one constraint that callers ask about.
import { GatewayError } from '../errors/gateway-error.ts'

/** 503 `storage_unavailable`. `what` in the operator's words, without an address. */
export function storageUnavailable(what: string, cause?: unknown): GatewayError {
  return GatewayError.unavailable(`The gateway's database cannot be used now: ${what}`, { code: 'storage_unavailable', cause })
}

export function isStorageUnavailable(error: unknown): error is GatewayError {
  return GatewayError.is(error) && error.code === 'storage_unavailable'
}

/** True when a row with this key is there already, on any engine. */
export function isUniqueViolation(error: unknown): boolean {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined
  return code === '23505' || code === 'SQLITE_CONSTRAINT_UNIQUE' || code === 'SQLITE_CONSTRAINT_PRIMARYKEY'
}

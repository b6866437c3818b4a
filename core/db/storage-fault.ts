// Errors for an unavailable database, and the test for a unique-constraint violation.
import { GatewayError } from '../errors/gateway-error.ts'

/** Returns a 503 `storage_unavailable`. `what` is text for the operator, without an address. */
export function storageUnavailable(what: string, cause?: unknown): GatewayError {
  return GatewayError.unavailable(`The gateway's database cannot be used now: ${what}`, { code: 'storage_unavailable', cause })
}

export function isStorageUnavailable(error: unknown): error is GatewayError {
  return GatewayError.is(error) && error.code === 'storage_unavailable'
}

/** The cause of a fault: the answer to a COMMIT was lost, so its writes may be stored. */
export class CommitInDoubt extends Error {
  constructor(cause: unknown) {
    super('The answer to COMMIT did not come.', { cause })
  }
}

/** Returns whether the failed writes may be stored. */
export function isInDoubt(error: unknown): boolean {
  for (let one = error, depth = 0; one instanceof Error && depth < 8; one = one.cause, depth++)
    if (one instanceof CommitInDoubt) return true
  return false
}

/** Returns whether a row with this key exists already, on any engine. */
export function isUniqueViolation(error: unknown): boolean {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined
  return code === '23505' || code === 'SQLITE_CONSTRAINT_UNIQUE' || code === 'SQLITE_CONSTRAINT_PRIMARYKEY'
}

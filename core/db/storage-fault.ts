// Errors that callers get when the database is unavailable, and the test for a unique-constraint violation.
import { GatewayError } from '../errors/gateway-error.ts'

/** 503 `storage_unavailable`. `what` in the operator's words, without an address. */
export function storageUnavailable(what: string, cause?: unknown): GatewayError {
  return GatewayError.unavailable(`The gateway's database cannot be used now: ${what}`, { code: 'storage_unavailable', cause })
}

export function isStorageUnavailable(error: unknown): error is GatewayError {
  return GatewayError.is(error) && error.code === 'storage_unavailable'
}

/** As the cause of a fault: the answer to a COMMIT did not come, so its writes may be there. */
export class CommitInDoubt extends Error {
  constructor(cause: unknown) {
    super('The answer to COMMIT did not come.', { cause })
  }
}

/** True where what was to be written may have been written all the same. */
export function isInDoubt(error: unknown): boolean {
  for (let one = error, depth = 0; one instanceof Error && depth < 8; one = one.cause, depth++)
    if (one instanceof CommitInDoubt) return true
  return false
}

/** True when a row with this key is there already, on any engine. */
export function isUniqueViolation(error: unknown): boolean {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined
  return code === '23505' || code === 'SQLITE_CONSTRAINT_UNIQUE' || code === 'SQLITE_CONSTRAINT_PRIMARYKEY'
}

// Classifies errors of PostgreSQL and the socket: the server is unavailable, or a transaction had a conflict and may be retried.
import { storageUnavailable } from '../../../core/db/storage-fault.ts'

/** Classes: connection, log-in, resources, operator intervention, system; also a missing database, a read-only standby, time limits. */
const FAULT = /^(08|28|53|57P|58|XX)|^(25006|25P03|25P04|3D000|55P03|57014)$/
const CONFLICT = /^(40001|40P01)$/

/** The statement had no effect, and a retry may succeed. */
export function isConflict(error: unknown): boolean {
  return CONFLICT.test(sqlState(error) ?? '') || isStalePlan(error)
}

/** A named statement was prepared before its table changed. */
export function isStalePlan(error: unknown): boolean {
  return sqlState(error) === '0A000' && /cached plan/.test((error as Error).message)
}

/** Returns true when the transaction as a whole has failed; false for a wrong statement or a constraint. */
export function isPostgresFault(error: unknown): boolean {
  const state = sqlState(error)
  // An error without a state did not come from the server: the connection is lost or timed out.
  return state === null || FAULT.test(state) || isConflict(error)
}

/** Returns true when the connection must not return to the pool. */
export function isConnectionLost(error: unknown): boolean {
  const state = sqlState(error)
  return state === null || /^(08|57P|25P0[34])/.test(state)
}

/** An error that prevents the connection makes the database unavailable, whatever its state is. */
export function unreachable(error: unknown): Error {
  return storageUnavailable(wordsFor(sqlState(error)), error)
}

/** Other transactions conflicted with every attempt. */
export function outrun(error: unknown): Error {
  return storageUnavailable('PostgreSQL put other transactions on the same rows first, again and again.', error)
}

/** Returns the error to throw: a fault as 503 `storage_unavailable`, any other error unchanged. */
export function postgresError(error: unknown): unknown {
  return isConflict(error) || !isPostgresFault(error) ? error : unreachable(error)
}

function wordsFor(state: string | null): string {
  return state === '57014' || state === '55P03'
    ? 'PostgreSQL stopped a statement that took too long.'
    : state === '25006'
      ? 'PostgreSQL is read-only; point GATEWAY_DATABASE_URL to the primary server.'
      : state?.startsWith('53')
        ? 'PostgreSQL is out of disk, memory or connections.'
        : state === '3D000'
          ? 'PostgreSQL has no database of this name.'
          : state?.startsWith('28') || state === '42501'
            ? 'PostgreSQL refuses the user or the password.'
            : 'PostgreSQL cannot be reached, or closed the connection.'
}

function sqlState(error: unknown): string | null {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !/^E[A-Z]{4}$/.test(code) ? code : null
}

// Classifies SQLite's result codes: those that make the whole database unavailable, with a text for the operator.
import { storageUnavailable } from '../../../core/db/storage-fault.ts'

const FAULTS: readonly [prefix: string, what: string][] = [
  ['SQLITE_BUSY', 'another process holds the write lock; look for a second gateway or a long command on the same file.'],
  ['SQLITE_LOCKED', 'another connection holds the write lock.'],
  ['SQLITE_FULL', 'the disk is full; free space on the volume of the data directory.'],
  ['SQLITE_READONLY', 'the database file or its directory is read-only.'],
  ['SQLITE_IOERR', 'the disk reports an input/output error.'],
  ['SQLITE_CORRUPT', 'the file is damaged; restore a backup.'],
  ['SQLITE_NOTADB', 'the file is not a SQLite database.'],
  ['SQLITE_CANTOPEN', 'the file cannot be opened; check its directory and permissions.'],
  ['SQLITE_NOMEM', 'SQLite is out of memory.'],
  ['SQLITE_PROTOCOL', 'the lock protocol failed; keep the file on a local disk.'],
]

export function isBusy(error: unknown): boolean {
  return sqliteCode(error).startsWith('SQLITE_BUSY')
}

/** Returns true when no statement of the transaction can succeed; false for a wrong statement or a constraint. */
export function isSqliteFault(error: unknown): boolean {
  const code = sqliteCode(error)
  return FAULTS.some(([prefix]) => code.startsWith(prefix))
}

/** Returns the error to throw: a fault as 503 `storage_unavailable`, any other error unchanged. */
export function sqliteError(error: unknown): unknown {
  const code = sqliteCode(error)
  const fault = FAULTS.find(([prefix]) => code.startsWith(prefix))
  return fault === undefined ? error : storageUnavailable(fault[1], error)
}

function sqliteCode(error: unknown): string {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined
  return typeof code === 'string' ? code : ''
}

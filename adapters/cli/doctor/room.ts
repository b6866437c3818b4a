// Checks the room on the disk of the database: without any, nothing is settled or logged.
import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Finding, ok, warn } from './finding.ts'

const LEAST_BYTES = 1e9

/** @param file of the database; null: it is elsewhere. */
export function roomOf(file: string | null): Finding[] {
  if (file === null) return []
  try {
    const { bavail, bsize } = statfsSync(dirname(file))
    return [checkRoom(dirname(file), bavail * bsize)]
  } catch {
    // The directory is not there yet.
    return []
  }
}

/** @param free bytes that the gateway may use */
export function checkRoom(directory: string, free: number): Finding {
  const message = `${directory} has ${(free / 1e9).toFixed(1)} GB free.`
  if (free >= LEAST_BYTES) return ok('disk', message)
  return warn('disk', message, 'Make room: without any, requests are refused and rows of the log are lost.')
}

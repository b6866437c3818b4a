// Reads a file that may be missing.
import { readFileSync } from 'node:fs'

/** Returns null when the file cannot be read. */
export function readFile(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}

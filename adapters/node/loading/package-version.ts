// Finds the version of the package that contains a file.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** null: no manifest above the file has a version. */
export function versionAt(path: string | null): string | null {
  for (let folder = path; folder !== null && folder !== dirname(folder); folder = dirname(folder)) {
    const manifest = join(folder, 'package.json')
    if (!existsSync(manifest)) continue
    try {
      const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version?: unknown }
      return typeof version === 'string' ? version : null
    } catch {
      return null
    }
  }
  return null
}

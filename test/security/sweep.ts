// Secrets of which there is one of a kind, and the search for them.
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

export const canary = (name: string) => `canary-${name}-${randomBytes(9).toString('hex')}`

export type Place = readonly [name: string, content: string]

/** Every file below, by its path in there. */
export function filesOf(folder: string): Place[] {
  return pathsOf(folder).map((path) => [path.slice(folder.length), readFileSync(path, 'latin1')])
}

function pathsOf(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name)
    return statSync(path).isDirectory() ? pathsOf(path) : [path]
  })
}

/** What was found where. */
export function hitsOf(secrets: Readonly<Record<string, string>>, places: readonly Place[]): string[] {
  return places.flatMap(([place, content]) =>
    Object.entries(secrets)
      .filter(([, secret]) => content.includes(secret))
      .map(([name]) => `${name} in ${place}`),
  )
}

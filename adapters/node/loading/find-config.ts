// Finds the configuration file.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'

const NAMES = ['gateway.config.ts', 'gateway.config.mjs', 'gateway.config.js']

/** Returns the file to load: the given one, or the first usual name in the working directory. null: there is none. */
export function findConfig(asked: string | null, cwd: string): string | null {
  if (asked !== null) {
    const path = resolve(cwd, asked)
    if (!existsSync(path)) throw new Error(`The configuration file ${path} does not exist (GATEWAY_CONFIG or --config).`)
    return path
  }
  return NAMES.map((name) => resolve(cwd, name)).find((path) => existsSync(path)) ?? null
}

// Reads `.env` of the working directory into the environment. Variables that are already set take precedence.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'

export interface DotEnv {
  readonly path: string
  /** Names of the variables that the file set. */
  readonly names: readonly string[]
}

let read: DotEnv | null = null

/** The file that this process has read. */
export function dotEnvOfProcess(): DotEnv | null {
  return read
}

/** Call it before any command runs. */
export function readDotEnvOfProcess(): void {
  read = readDotEnv(process.cwd(), process.env)
}

/** Returns null when there is no file. @throws Error when the file cannot be read. */
export function readDotEnv(folder: string, environment: NodeJS.ProcessEnv): DotEnv | null {
  const path = join(folder, '.env')
  if (!existsSync(path)) return null
  const names: string[] = []
  for (const [name, value] of Object.entries(parseEnv(readFileSync(path, 'utf8')))) {
    if (environment[name] !== undefined) continue
    environment[name] = value
    names.push(name)
  }
  return { path, names }
}

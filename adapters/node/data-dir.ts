// The data directory of `hookgate serve`.
import { homedir } from 'node:os'
import { join } from 'node:path'

/** Returns the default data directory of `hookgate serve`. */
export function defaultDataDir(env: Readonly<Record<string, string | undefined>>): string {
  return env.XDG_DATA_HOME ? join(env.XDG_DATA_HOME, 'hookgate') : join(homedir(), '.local', 'share', 'hookgate')
}

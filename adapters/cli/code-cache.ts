// Keeps the code that V8 compiles for the next start, where Node can: 22.1 and later. V8 then compiles almost nothing at a start.
import module from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** Node 20 has no such function. @see https://nodejs.org/api/module.html#moduleenablecompilecachecachedir */
type EnableCompileCache = (folder: string) => unknown

const { enableCompileCache } = module as { enableCompileCache?: EnableCompileCache }

/**
 * Call it before the modules are loaded. Node writes the folder when the process exits, and goes on without one that it cannot write. The
 * folder belongs to the user, because who can write it decides what code runs. `NODE_COMPILE_CACHE` names another one and
 * `NODE_DISABLE_COMPILE_CACHE=1` turns it off.
 */
export function keepCompiledCode(environment: NodeJS.ProcessEnv, enable = enableCompileCache): void {
  if (enable === undefined) return
  const folder = cacheFolder(environment)
  if (folder !== null) enable(join(folder, 'hookgate'))
}

function cacheFolder({ XDG_CACHE_HOME }: NodeJS.ProcessEnv): string | null {
  if (XDG_CACHE_HOME) return XDG_CACHE_HOME
  try {
    return join(homedir(), '.cache')
  } catch {
    // A user without a home, for example in a container.
    return null
  }
}

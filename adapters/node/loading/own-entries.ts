// The entries of this package, by the name under which a user's module imports them. They are the running code, also for a module in a
// folder without an installed `hookgate`.
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Returns every entry of package.json `exports`. */
export function ownEntries(): Record<string, string> {
  return {
    ...sharedEntries(),
    'hookgate/edge': own('adapters/edge/index'),
    'hookgate/testing': own('adapters/testing/index'),
    'hookgate/adapters': fileURLToPath(at('adapters')),
  }
}

/** Returns the entries that are loaded anyway: the preset has loaded every plugin. */
export function sharedEntries(): Record<string, string> {
  const plugins = readdirSync(at('plugins'), { withFileTypes: true }).filter((entry) => entry.isDirectory())
  return {
    ...Object.fromEntries(plugins.map(({ name }) => [`hookgate/plugins/${name}`, own(`plugins/${name}/index`)])),
    'hookgate/core': own('core/index'),
    'hookgate/preset': own('plugins/preset'),
    hookgate: own('adapters/node/index'),
  }
}

/** Folders of this package. */
export const OWN = ['core', 'adapters', 'plugins'].map((folder) => fileURLToPath(at(`${folder}/`)))

function own(path: string): string {
  return fileURLToPath(at(`${path}.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`))
}

function at(path: string): URL {
  return new URL(`../../../${path}`, import.meta.url)
}

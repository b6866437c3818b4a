// Checks a configuration file as a boot does, if all that it has are connections and other rows of the preset's plugins.
import { configuredConnections } from '../../../core/config/connections.ts'
import { defineConfig, parseConfig, pin } from '../../../core/config/define.ts'
import type { Environment } from '../../../core/config/env.ts'
import { hasPluginSecrets, secret } from '../../../core/config/secret.ts'
import { offeredProviders } from '../../../core/providers.ts'
import { type LoadEntry, plainModule } from '../../node/loading/plain-module.ts'
import { readFile } from '../../node/loading/read-file.ts'
import { builtInProviders } from '../../providers/index.ts'

/** Sections of the preset without organizations. A boot compares no row of theirs unless it reconciles. */
export const SECTIONS = ['budgets', 'connections', 'keys', 'virtualModels', 'webhooks']

/** Such a file imports no more than this from `hookgate`. Reading another name fails. */
const ENTRY = new Proxy(
  { defineConfig, pin, secret },
  {
    get(exports, name) {
      // A promise asks its value for `then`.
      if (!Object.hasOwn(exports, name) && name !== 'then') throw new Error(`The whole entry has ${String(name)}.`)
      return Reflect.get(exports, name) as unknown
    },
  },
)

const entries: LoadEntry = (name) => (name === 'hookgate' ? async () => ENTRY : null)

/** False for any other file. @throws Error for a file that a boot refuses */
export async function declaresRows(path: string, env: Environment): Promise<boolean> {
  const plain = plainModule(path, entries)
  // A file that does more than declare must not run twice.
  if (plain === null || !plain.declares) return false
  const { default: given } = await plain.run()
  if (typeof given !== 'object' || given === null) return false
  const config = parseConfig(given)
  if (!Object.keys(config).every((name) => SECTIONS.includes(name)) || hasPluginSecrets(config)) return false
  configuredConnections(config, offeredProviders({ providers: builtInProviders }, config, 'local'), { env, readFile })
  return true
}

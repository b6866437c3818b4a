// `hookgate env`: prints every variable, those of plugins included, with its value, source and default. It never prints a credential.
import { fileOptions, parseConfig } from '../../../core/config/define.ts'
import { type Env, type Resolved, readEnv } from '../../../core/config/env.ts'
import { FILE_VARIABLES } from '../../../core/config/variables.ts'
import { knownVariables } from '../../node/gateway.ts'
import { findConfig } from '../../node/loading/find-config.ts'
import { loadConfig } from '../../node/loading/load-config.ts'
import { action } from '../action.ts'
import { printJson, table } from '../output/table.ts'

const args = {
  config: { type: 'string', description: 'Configuration file (GATEWAY_CONFIG)' },
  json: { type: 'boolean', description: 'JSON instead of a table' },
} as const

export const envCommand = action({
  name: 'env',
  description: 'Print every GATEWAY_* variable: value, source, default, meaning.',
  args,
  async run(given) {
    const env = await effective(given.config)
    const rows = env.all().map((entry) => ({
      name: `GATEWAY_${entry.variable.name}`,
      type: entry.variable.type,
      value: masked(entry),
      source: entry.source,
      default: entry.variable.default,
      plugin: entry.variable.plugin ?? 'core',
      about: entry.variable.about,
    }))
    if (given.json) printJson(rows)
    else
      console.log(
        table(
          ['VARIABLE', 'VALUE', 'SOURCE', 'DEFAULT', 'PLUGIN', 'MEANING'],
          rows.map((row) => [row.name, shown(row.value), row.source, shown(row.default), row.plugin, row.about]),
        ),
      )
    for (const warning of env.warnings) console.error(warning)
  },
})

/** Returns the values that `serve` would use: defaults, then the file's options, then the environment. */
async function effective(file: string | undefined): Promise<Env> {
  const environment = process.env
  const flags = { CONFIG: file }
  const path = findConfig(readEnv({ environment, flags, variables: FILE_VARIABLES }).get<string | null>('CONFIG'), process.cwd())
  const config = path === null ? {} : parseConfig(await loadConfig(path))
  return readEnv({ environment, flags, options: fileOptions(config), variables: knownVariables(config) })
}

/** Returns the value with its own type. A secret, and a password in an address, become `***`. */
function masked({ variable, value }: Resolved): unknown {
  if (variable.type === 'secret' && value !== null) return '***'
  return variable.type === 'url' && typeof value === 'string' ? withoutPassword(value) : value
}

function withoutPassword(text: string): string {
  const url = new URL(text)
  if (url.password === '') return text
  url.password = '***'
  return url.href
}

function shown(value: unknown): string {
  if (value === null || value === '') return '-'
  return Array.isArray(value) ? value.join(',') || '-' : typeof value === 'object' ? JSON.stringify(value) : String(value)
}

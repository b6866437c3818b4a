// `hookgate env`: every variable with its value here, its source and its default.
import { defineCommand } from 'citty'
import { readEnv } from '../../core/config/env.ts'
import { failBoot } from './fail.ts'
import { table } from './table.ts'

export const envCommand = defineCommand({
  meta: { name: 'env', description: 'Print every GATEWAY_* variable: value, source, default, meaning.' },
  args: { json: { type: 'boolean', description: 'JSON instead of a table' } },
  run({ args }) {
    try {
      const env = readEnv({ environment: process.env })
      const rows = env.all().map(({ variable, value, source }) => ({
        name: `GATEWAY_${variable.name}`,
        value: variable.type === 'secret' && value !== null ? '***' : shown(value),
        source,
        default: shown(variable.default),
        about: variable.about,
      }))
      if (args.json) console.log(JSON.stringify(rows, null, 2))
      else
        console.log(
          table(
            ['VARIABLE', 'VALUE', 'SOURCE', 'DEFAULT', 'MEANING'],
            rows.map((row) => Object.values(row)),
          ),
        )
      for (const warning of env.warnings) console.error(warning)
    } catch (error) {
      failBoot(error)
    }
  },
})

function shown(value: unknown): string {
  if (value === null || value === '') return '-'
  return Array.isArray(value) ? value.join(',') || '-' : typeof value === 'object' ? JSON.stringify(value) : String(value)
}

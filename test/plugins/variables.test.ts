// Every variable of the built-in plugins is declared once: by its plugin, or by the core where several parts read it.
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createGateway } from '../../adapters/node/gateway.ts'
import { type Env, readEnv } from '../../core/config/env.ts'
import { VARIABLES } from '../../core/config/variables.ts'
import { silentLog } from '../../core/log.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import { optionVariables, variablesOf } from '../../core/plugins/variables.ts'
import type { Plugin } from '../../core/types/plugin/plugin.ts'
import { preset } from '../../plugins/preset.ts'

async function boot(plugins: Plugin[], env: Record<string, string> = {}): Promise<Env> {
  const gateway = await createGateway({ plugins }, { log: silentLog, env })
  await gateway.close()
  return gateway.env
}
/** The choices of an enum, in defaults and nullables. */
function choicesOf(schema: unknown): readonly unknown[] | undefined {
  if (schema instanceof z.ZodEnum) return schema.options
  return schema instanceof z.ZodDefault || schema instanceof z.ZodNullable ? choicesOf(schema.unwrap()) : undefined
}
const row = (env: Env, name: string) => env.all().find(({ variable }) => variable.name === name)

describe('the variables of the preset', () => {
  it('repeat neither default nor range of a schema: those that the core declares for several readers say the same', () => {
    const rows = new Map(variablesOf(preset()).map((variable) => [variable.name, variable]))
    const differing: string[] = []
    for (const plugin of preset()) {
      const { variables = {}, config, settings = {} } = plugin.definition
      const own = new Set(Object.keys(variables))
      const read = [
        ...optionVariables(plugin).map(([key, name]) => [name, config.shape[key]] as const),
        ...Object.entries(settings).flatMap(([, schema]) => {
          const name = (schema as z.ZodType).meta()?.env
          return typeof name === 'string' ? [[name, schema] as const] : []
        }),
        ...Object.entries(variables as Record<string, { setting?: string }>).flatMap(([name, { setting }]) =>
          setting === undefined ? [] : [[name, settings[setting]] as const],
        ),
      ]
      for (const [name, schema] of read) {
        const variable = rows.get(name)
        if (variable === undefined) throw new Error(`${plugin.name} reads ${name}`)
        expect(variable.plugin, name).toBe(own.has(name) ? plugin.name : undefined)
        const accepts = (value: unknown) => (schema as z.ZodType).safeParse(value).success
        const byDefault = (schema as z.ZodType).safeParse(undefined)
        const schemaDefault = byDefault.success ? (byDefault.data ?? null) : null
        const { min, max, values } = variable
        const wrong =
          JSON.stringify(schemaDefault) !== JSON.stringify(variable.default) ||
          (min !== undefined && (!accepts(min) || accepts(min - 1))) ||
          (max !== undefined && (!accepts(max) || accepts(max + 1))) ||
          (['int', 'number'].includes(variable.type) && max === undefined && !accepts(Number.MAX_SAFE_INTEGER)) ||
          (['int', 'number'].includes(variable.type) && min === undefined && !accepts(Number.MIN_SAFE_INTEGER)) ||
          (values !== undefined && !values.every(accepts)) ||
          (choicesOf(schema) !== undefined && String(choicesOf(schema)) !== String(values))
        if (wrong) differing.push(`${plugin.name}: ${name}`)
      }
    }
    expect(differing).toEqual([])
  })

  it('stay known, and checked, when a plugin is left out; another plugin may take the name over', async () => {
    const without = () => preset({ liveEvents: false })
    expect((await boot(without(), { GATEWAY_LIVE_EVENT_BUFFER: '3' })).get('LIVE_EVENT_BUFFER')).toBe(3)
    await expect(boot(without(), { GATEWAY_LIVE_EVENT_BUFFER: '0' })).rejects.toThrow(/GATEWAY_LIVE_EVENT_BUFFER/)
    const own = definePlugin({
      name: 'own-events',
      config: z.object({ word: z.string().default('x') }),
      variables: { LIVE_EVENT_BUFFER: { option: 'word', about: 'A word.' } },
      setup() {},
    })
    expect(row(await boot([...without(), own()]), 'LIVE_EVENT_BUFFER')).toMatchObject({
      value: 'x',
      variable: { plugin: 'own-events' },
    })
    await expect(boot([...preset(), own()])).rejects.toThrow(/`live-events` and `own-events` both declare/)
  })

  it('are none of the core’s', () => {
    const names = preset().flatMap(({ definition }) => Object.keys(definition.variables ?? {}))
    expect(VARIABLES.filter(({ name }) => names.includes(name))).toEqual([])
    expect(() => readEnv({ environment: {} }).get('LIVE_EVENT_BUFFER')).toThrow(/GATEWAY_LIVE_EVENT_BUFFER is not declared/)
  })
})

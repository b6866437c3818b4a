// Collects the variables that plugins declare: each becomes a row of the gateway's table, with type, range and default from the plugin's
// schema.
import type { ZodObject, ZodType } from 'zod'
import type { Env } from '../config/env.ts'
import { refusalOf, schemaFacts } from '../config/schema-variable.ts'
import { VARIABLES } from '../config/variables.ts'
import type { Plugin } from '../types/plugin/plugin.ts'
import type { PluginVariable, Variable, VariableType, VariableValue } from '../types/plugin/variables.ts'
import { checkPlugin } from './check.ts'
import { refuseOtherApi } from './define.ts'

/**
 * Returns the variables of core, then those of these plugins. `bundled` are the plugins that the host includes: the variables of those
 * that are left out stay known, and another plugin may declare their names.
 * @throws Error naming a variable that is declared twice, or a plugin with an invalid definition or another API version.
 */
export function variablesOf(plugins: readonly Plugin[], bundled: readonly Plugin[] = []): Variable[] {
  const rows = new Map(VARIABLES.map((variable) => [variable.name, variable]))
  for (const plugin of plugins) {
    refuseOtherApi(plugin)
    checkPlugin(plugin)
    for (const variable of declaredBy(plugin)) {
      const other = rows.get(variable.name)
      if (other !== undefined && other.plugin !== plugin.name) throw new Error(clash(variable, other))
      rows.set(variable.name, variable)
    }
  }
  const loaded = new Set(plugins.map(({ definition }) => definition))
  for (const plugin of bundled)
    for (const variable of loaded.has(plugin.definition) ? [] : declaredBy(plugin))
      if (!rows.has(variable.name)) rows.set(variable.name, variable)
  return [...rows.values()]
}

/** Returns [field of `config`, variable] for everything that this plugin reads from the environment. */
export function optionVariables({ definition }: Plugin): [field: string, variable: string][] {
  const shape = ((definition.config as ZodObject | undefined)?.shape ?? {}) as Record<string, ZodType>
  return [...named(shape), ...declarations(definition.variables).flatMap(([name, { option }]) => linked(option, name))]
}

/** Reads the variable of a setting; undefined: it has none, or it is not set. */
export function settingsFromEnv(plugins: readonly Plugin[], env: Env): (key: string) => FromVariable | undefined {
  const variables = new Map(plugins.flatMap(settingVariables))
  return (key) => {
    const variable = variables.get(key)
    return variable !== undefined && env.isSet(variable)
      ? { variable: `GATEWAY_${variable}`, value: env.get(variable) }
      : undefined
  }
}

export interface FromVariable {
  readonly variable: string
  readonly value: VariableValue
}

function settingVariables({ definition }: Plugin): [key: string, variable: string][] {
  const schemas = (definition.settings ?? {}) as Record<string, ZodType>
  return [...named(schemas), ...declarations(definition.variables).flatMap(([name, { setting }]) => linked(setting, name))]
}

/** Returns the fields that name a variable of the core, or of another plugin, in `.meta({ env })`. */
function named(schemas: Record<string, ZodType>): [string, string][] {
  return Object.entries(schemas).flatMap(([key, schema]) => {
    const variable = schema.meta()?.env
    return typeof variable === 'string' ? linked(key, variable) : []
  })
}

function linked(key: string | undefined, variable: string): [string, string][] {
  return key === undefined ? [] : [[key, variable]]
}

function declarations(variables: unknown): [name: string, declared: PluginVariable][] {
  return Object.entries((variables ?? {}) as Record<string, PluginVariable>)
}

const NAME = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*$/
const TYPES: readonly VariableType[] = ['string', 'int', 'number', 'bool', 'enum', 'list', 'json', 'url', 'secret']

/** By definition: a boot asks several times, and reading a schema is slow. */
const known = new WeakMap<Plugin['definition'], { readonly name: string; readonly variables: readonly Variable[] }>()

/** @throws Error naming the plugin and the mistake. */
function declaredBy(plugin: Plugin): readonly Variable[] {
  const { name, definition } = plugin
  const before = known.get(definition)
  if (before?.name === name) return before.variables
  const variables = declarationsOf(plugin)
  known.set(definition, { name, variables })
  return variables
}

function declarationsOf(plugin: Plugin): Variable[] {
  const fed = new Set<string>()
  return declarations(plugin.definition.variables).map(([name, declared]) => {
    const key = declared?.option ?? declared?.setting
    const wrong = (what: string): never => {
      throw new Error(`The plugin \`${plugin.name}\` is defined wrongly: \`variables.${name}\` ${what}.`)
    }
    if (!NAME.test(name) || name.startsWith('GATEWAY_'))
      wrong('must be a name in capitals, without the prefix GATEWAY_, as `SLOW_LOG_MS`')
    const schema = schemaOf(plugin, declared)
    if (schema === undefined) return wrong('must name a field of `config` in `option`, or a key of `settings` in `setting`')
    if (typeof declared.about !== 'string' || declared.about === '') wrong('must say in `about` what it sets')
    if (declared.type !== undefined && !TYPES.includes(declared.type)) wrong(`must have a \`type\` of ${TYPES.join(', ')}`)
    const from = declared.option === undefined ? 'setting' : 'option'
    if (fed.has(`${from} ${key}`)) wrong(`is the second variable of the ${from} \`${key}\``)
    fed.add(`${from} ${key}`)
    return row(plugin.name, name, declared, schema) ?? wrong(`needs a \`type\`: the schema of \`${key}\` does not say one`)
  })
}

function schemaOf({ definition }: Plugin, declared: PluginVariable | null | undefined): ZodType | undefined {
  const { option, setting } = declared ?? {}
  if ((option === undefined) === (setting === undefined)) return undefined
  const schemas = ((option === undefined ? definition.settings : definition.config?.shape) ?? {}) as Record<string, ZodType>
  const key = (option ?? setting) as string
  return Object.hasOwn(schemas, key) ? schemas[key] : undefined
}

function row(plugin: string, name: string, declared: PluginVariable, schema: ZodType): Variable | null {
  const { option: _option, setting: _setting, type: given, ...traits } = declared
  const { type: found, ...facts } = schemaFacts(schema)
  const type = given ?? found
  if (type === null) return null
  return { name, plugin, type, ...facts, ...traits, check: (value) => refusalOf(schema, value) }
}

function clash(variable: Variable, other: Variable): string {
  const name = `GATEWAY_${variable.name}`
  if (other.plugin === undefined)
    return `The plugin \`${variable.plugin}\` declares the variable ${name}, which belongs to the core.`
  return `The plugins \`${other.plugin}\` and \`${variable.plugin}\` both declare the variable ${name}.`
}

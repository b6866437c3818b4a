// definePlugin: a definition becomes a factory; the options are checked against the plugin's own schema at set-up.
import type { ZodObject, ZodType, z } from 'zod'
import type { Env } from '../config/env.ts'
import { WORDED } from '../text/issue-text.ts'
import type { Plugin, PluginDefinition } from '../types/plugin.ts'
import { VERSION } from '../version.ts'

/** Plugins built against this API version load; see CHANGELOG for what changes it. */
export const PLUGIN_API_VERSION = 1

/** Makes a plugin factory. The options argument is typed by `config`. */
export function definePlugin<
  C extends ZodObject = ZodObject<Record<never, never>>,
  S extends Record<string, ZodType> = Record<never, ZodType>,
>(definition: PluginDefinition<C, S>): (options?: z.input<C>) => Plugin {
  const { name, requires = [] } = definition
  return (options) => ({ name, apiVersion: PLUGIN_API_VERSION, requires, definition, options: options ?? {} })
}

/** @throws Error naming the plugin, both versions, and what to do. */
export function refuseOtherApi({ name, apiVersion }: Plugin): void {
  if (apiVersion === PLUGIN_API_VERSION) return
  const made = typeof apiVersion === 'number' ? `plugin API ${apiVersion}` : 'no plugin API that it names'
  const update = typeof apiVersion === 'number' && apiVersion > PLUGIN_API_VERSION ? 'Update hookgate' : 'Update the plugin'
  throw new Error(
    `The plugin \`${name}\` was made for ${made}; hookgate ${VERSION} has plugin API ${PLUGIN_API_VERSION}. ${update}, or take the plugin out of \`plugins\`.`,
  )
}

/**
 * A plugin's options: what the config file gave, overridden by the variables its fields name in `.meta({ env })`.
 * @throws Error naming plugin and field.
 */
export function resolveOptions(plugin: Plugin, env: Env): Record<string, unknown> {
  const schema = plugin.definition.config as ZodObject | undefined
  const given = plugin.options as Record<string, unknown>
  const wrong = (what: string): Error => new Error(`The plugin \`${plugin.name}\` got wrong options: ${what}`)
  if (typeof given !== 'object' || Array.isArray(given)) throw wrong('they must be an object')
  if (schema === undefined) return given
  const merged: Record<string, unknown> = { ...given }
  for (const [field, type] of Object.entries(schema.shape)) {
    const variable = (type as ZodType).meta()?.env
    if (typeof variable !== 'string') continue
    if (!env.all().some(({ variable: { name } }) => name === variable))
      throw new Error(
        `The plugin \`${plugin.name}\` takes \`${field}\` from GATEWAY_${variable}, which is no variable of this gateway. One of your own is read where the plugin is made, in gateway.config.ts, and given as an option.`,
      )
    if (env.isSet(variable)) merged[field] = env.get(variable)
    else if (merged[field] === undefined && env.get(variable) !== null) merged[field] = env.get(variable)
  }
  let parsed: ReturnType<typeof schema.safeParse>
  try {
    parsed = schema.safeParse(merged, WORDED)
  } catch (error) {
    throw wrong((error as Error).message)
  }
  if (parsed.success) return parsed.data
  const lines = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'options'}: ${issue.message}`)
  throw wrong(lines.join('; '))
}

/** True when two resolved option values are the same; functions and class instances by identity. */
export function sameOptions(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  const plain = (value: object) => Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype
  if (!plain(a) || !plain(b) || Array.isArray(a) !== Array.isArray(b)) return false
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    keys.every(
      (key) => Object.hasOwn(b, key) && sameOptions((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]),
    )
  )
}

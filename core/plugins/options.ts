// Resolves a plugin's options: the factory's argument with the values of its secrets, overridden by variables, checked against the plugin's
// schema.
import type { ZodObject } from 'zod'
import type { Env } from '../config/env.ts'
import { type SecretRef, withSecretValues } from '../config/secret.ts'
import { WORDED_ONCE } from '../text/issue-text.ts'
import type { Plugin } from '../types/plugin/plugin.ts'
import { optionVariables } from './variables.ts'

/**
 * Returns the options of the config file, overridden by the variables that are declared for the fields.
 * @param at the position in `plugins`; errors of a plugin that the file names say it.
 * @throws Error naming plugin and field, and the variable that the value came from, or that a secret reference names.
 */
export function resolveOptions(
  plugin: Plugin,
  env: Env,
  secretOf: (reference: SecretRef, where: string) => string,
  at: number,
): Record<string, unknown> {
  const schema = plugin.definition.config as ZodObject | undefined
  const wrong = (what: string): Error => new Error(`The plugin \`${plugin.name}\` got wrong options: ${what}`)
  const place = plugin.origin?.kind === 'package' || plugin.origin?.kind === 'file' ? `plugins.${at}.options` : ''
  if (typeof plugin.options !== 'object' || Array.isArray(plugin.options)) throw wrong('they must be an object')
  const given = withSecretValues(plugin.options, secretOf, `The options of the plugin \`${plugin.name}\``) as Record<
    string,
    unknown
  >
  if (schema === undefined) return given
  const merged: Record<string, unknown> = { ...given }
  const sources = new Map<string, string>()
  for (const [field, name] of optionVariables(plugin)) {
    const resolved = env.resolved(name)
    if (resolved === undefined)
      throw new Error(
        `The plugin \`${plugin.name}\` takes \`${field}\` from GATEWAY_${name}, which is no variable of this gateway. Declare one of your own in \`variables\` of the plugin.`,
      )
    const { source, value, variable } = resolved
    if (source !== 'default') {
      merged[field] = value
      sources.set(field, `GATEWAY_${name}`)
      continue
    }
    // For a plugin's own variable the schema applies its default, after its transforms.
    if (variable.plugin !== plugin.name && merged[field] === undefined && value !== null) merged[field] = value
  }
  let parsed: ReturnType<typeof schema.safeParse>
  try {
    parsed = schema.safeParse(merged, WORDED_ONCE)
  } catch (error) {
    throw wrong((error as Error).message)
  }
  if (parsed.success) return parsed.data
  const lines = parsed.error.issues.map(({ path, message }) => {
    const source = sources.get(String(path[0]))
    const field = [place, ...path].filter((part) => part !== '').join('.') || 'options'
    return `${field}${source === undefined ? '' : ` (from ${source})`}: ${message}`
  })
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

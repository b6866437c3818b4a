// The settings document (CONTRACTS 0.4): dotted keys as one nested object, and back.
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { DeclaredSetting } from '../../core/services.ts'

export type Nested = { [key: string]: unknown }

/** Every declared setting with its value, nested. */
export function nested(settings: readonly Pick<DeclaredSetting, 'key' | 'value'>[]): Nested {
  const document: Nested = Object.create(null)
  for (const { key, value } of settings) {
    const path = key.split('.')
    let at = document
    for (const part of path.slice(0, -1)) {
      at[part] ??= Object.create(null)
      at = at[part] as Nested
    }
    at[path.at(-1) as string] = value
  }
  return document
}

/**
 * What a body says, by dotted key; nested members and dotted ones mean the same.
 * @throws GatewayError 400 for a key nobody declared, and for one that is said twice.
 */
export function mentioned(body: Nested, declared: ReadonlyMap<string, DeclaredSetting>): Map<string, unknown> {
  const found = new Map<string, unknown>()
  const walk = (value: unknown, path: string): void => {
    if (declared.has(path)) {
      if (found.has(path)) throw GatewayError.invalid(path, `\`${path}\` is given twice.`)
      found.set(path, value)
      return
    }
    const isGroup = [...declared.keys()].some((key) => key.startsWith(`${path}.`))
    if (!isGroup) throw GatewayError.invalid(path.slice(0, 200), `There is no setting \`${path.slice(0, 200)}\`.`)
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw GatewayError.invalid(path, `\`${path}\` is a group of settings: give an object.`)
    for (const [member, inner] of Object.entries(value)) walk(inner, `${path}.${member}`)
  }
  for (const [member, value] of Object.entries(body)) walk(value, member)
  return found
}

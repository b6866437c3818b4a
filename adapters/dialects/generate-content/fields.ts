// Reads wire objects: either key style, null as absent, and a 400 naming the field for a wrong type.
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import type { Frozen, Json, JsonObject } from '../../../core/types/request/canonical.ts'

/**
 * Returns the object with camelCase keys and without nulls; the same object when nothing changes. Shallow.
 * @throws GatewayError 400 for a member in both key styles.
 */
export function fieldsOf(value: Frozen<Json>, param: string): JsonObject {
  if (!isObject(value)) throw GatewayError.invalid(param, `\`${param}\` must be an object.`)
  return camelFields(value)
}

export function camelFields(value: JsonObject): JsonObject {
  let plain = true
  for (const key in value) {
    if (value[key] === null || key.includes('_')) {
      plain = false
      break
    }
  }
  if (plain) return value
  const entries = new Map<string, Json>()
  for (const [key, member] of Object.entries(value)) {
    const name = camel(key)
    // Two readers could choose different spellings, so both are refused.
    if (name !== key && Object.hasOwn(value, name))
      throw GatewayError.invalid(name, `\`${name}\` is also there as \`${key}\`: send one of them.`)
    if (member !== null) entries.set(name, member)
  }
  return Object.fromEntries(entries)
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function textField(value: Json | undefined, param: string): string | undefined {
  if (value === undefined || typeof value === 'string') return value
  throw GatewayError.invalid(param, `\`${param}\` must be a string.`)
}

export function numberField(value: Json | undefined, param: string): number | undefined {
  if (value === undefined || typeof value === 'number') return value
  // Protobuf JSON writes 64-bit numbers as strings.
  if (typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value)) return Number(value)
  throw GatewayError.invalid(param, `\`${param}\` must be a number.`)
}

export function booleanField(value: Json | undefined, param: string): boolean | undefined {
  if (value === undefined || typeof value === 'boolean') return value
  throw GatewayError.invalid(param, `\`${param}\` must be a boolean.`)
}

/** Returns a list; a single value counts as a list of one, as in Google's own parser. */
export function listField(value: Json | undefined): Json[] {
  if (value === undefined) return []
  return Array.isArray(value) ? value : [value]
}

export function textList(value: Json | undefined, param: string): string[] | undefined {
  if (value === undefined) return undefined
  return listField(value).map((entry, index) => textField(entry, `${param}.${index}`) as string)
}

export function camel(key: string): string {
  return key.indexOf('_', 1) === -1 ? key : key.replace(/(?<=.)_([a-z0-9])/g, (_, char: string) => char.toUpperCase())
}

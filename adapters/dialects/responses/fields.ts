// Reading wire objects: null counts as absent, and a wrong type is a 400 that names the field.
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import type { Json, JsonObject } from '../../../core/types/canonical.ts'

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function textField(source: JsonObject, key: string, at = key): string | undefined {
  const value = source[key]
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string') throw GatewayError.invalid(at, `\`${at}\` must be a string.`)
  return value
}

export function numberField(source: JsonObject, key: string, at = key): number | undefined {
  const value = source[key]
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'number') throw GatewayError.invalid(at, `\`${at}\` must be a number.`)
  return value
}

export function booleanField(source: JsonObject, key: string, at = key): boolean | undefined {
  const value = source[key]
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'boolean') throw GatewayError.invalid(at, `\`${at}\` must be a boolean.`)
  return value
}

export function objectField(source: JsonObject, key: string, at = key): JsonObject | undefined {
  const value = source[key]
  if (value === undefined || value === null) return undefined
  if (!isObject(value)) throw GatewayError.invalid(at, `\`${at}\` must be an object.`)
  return value
}

export function listField(source: JsonObject, key: string, at = key): Json[] | undefined {
  const value = source[key]
  if (value === undefined || value === null) return undefined
  if (!Array.isArray(value)) throw GatewayError.invalid(at, `\`${at}\` must be an array.`)
  return value
}

/** The members that are not named; null when none is left. */
export function others(source: JsonObject, known: ReadonlySet<string>): JsonObject | null {
  let rest: JsonObject | null = null
  for (const key in source) {
    const value = source[key]
    if (known.has(key) || value === undefined || value === null) continue
    rest ??= {}
    rest[key] = value
  }
  return rest
}

/** A string of upstream data, '' when it is anything else: answers are read leniently. */
export function loose(value: Json | undefined): string {
  return typeof value === 'string' ? value : ''
}

// Reads wire objects: null counts as absent, and a wrong type is a 400 that names the field.
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import type { Json, JsonObject } from '../../../core/types/request/canonical.ts'

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function textField(source: JsonObject, key: string, at = key): string | undefined {
  return field(source, key, at, 'a string', (value): value is string => typeof value === 'string')
}

export function numberField(source: JsonObject, key: string, at = key): number | undefined {
  return field(source, key, at, 'a number', (value): value is number => typeof value === 'number')
}

export function booleanField(source: JsonObject, key: string, at = key): boolean | undefined {
  return field(source, key, at, 'a boolean', (value): value is boolean => typeof value === 'boolean')
}

export function objectField(source: JsonObject, key: string, at = key): JsonObject | undefined {
  return field(source, key, at, 'an object', isObject)
}

export function listField(source: JsonObject, key: string, at = key): Json[] | undefined {
  return field(source, key, at, 'an array', (value): value is Json[] => Array.isArray(value))
}

/** Returns the members that are neither known nor null; null when none is left. */
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

/** Returns a string of upstream data, '' for any other type: answers are read leniently. */
export function loose(value: Json | undefined): string {
  return typeof value === 'string' ? value : ''
}

export function wrongType(at: string, wanted: string): GatewayError {
  return GatewayError.invalid(at, `\`${at}\` must be ${wanted}.`)
}

function field<T extends Json>(
  source: JsonObject,
  key: string,
  at: string,
  wanted: string,
  is: (value: Json) => value is T,
): T | undefined {
  const value = source[key]
  if (value === undefined || value === null) return undefined
  if (!is(value)) throw wrongType(at, wanted)
  return value
}

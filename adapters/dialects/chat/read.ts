// Reads wire objects with types: null counts as absent, and a wrong type is the caller's error and names the field.
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import type { Json, JsonObject } from '../../../core/types/request/canonical.ts'

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns a non-empty string, otherwise undefined. For upstream answers, where nothing is refused. */
export function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

export function optionalString(owner: JsonObject, key: string, at = ''): string | undefined {
  const value = owner[key] ?? undefined
  if (value === undefined || typeof value === 'string') return value
  throw wrongType(at + key, 'a string')
}

export function optionalNumber(owner: JsonObject, key: string): number | undefined {
  const value = owner[key] ?? undefined
  if (value === undefined || typeof value === 'number') return value
  throw wrongType(key, 'a number')
}

export function optionalBoolean(owner: JsonObject, key: string, at = ''): boolean | undefined {
  const value = owner[key] ?? undefined
  if (value === undefined || typeof value === 'boolean') return value
  throw wrongType(at + key, 'a boolean')
}

export function optionalObject(owner: JsonObject, key: string, at = ''): JsonObject | undefined {
  const value = owner[key] ?? undefined
  if (value === undefined || isObject(value)) return value
  throw wrongType(at + key, 'an object')
}

export function optionalArray(owner: JsonObject, key: string, at = ''): Json[] | undefined {
  const value = owner[key] ?? undefined
  if (value === undefined || Array.isArray(value)) return value
  throw wrongType(at + key, 'an array')
}

export function requiredString(owner: JsonObject, key: string, at = ''): string {
  const value = optionalString(owner, key, at)
  if (value === undefined || value === '') throw GatewayError.invalid(at + key, `\`${at + key}\` is required.`)
  return value
}

export function wrongType(param: string, wanted: string): GatewayError {
  return GatewayError.invalid(param, `\`${param}\` must be ${wanted}.`)
}

/** Returns the members that are not in `known`, without nulls; undefined when there are none. */
export function unknownMembers(owner: JsonObject, known: ReadonlySet<string>): JsonObject | undefined {
  let rest: JsonObject | undefined
  for (const key in owner) {
    const value = owner[key]
    if (known.has(key) || value === null || value === undefined) continue
    rest ??= {}
    rest[key] = value
  }
  return rest
}

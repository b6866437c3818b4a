// Prepares JSON Schema for backends that support it (`parametersJsonSchema`, `responseJsonSchema`): removes the dialect marker and puts
// an object at the top for a function.
import type { Frozen, Json, JsonObject } from '../../../../core/types/request/canonical.ts'
import { isObject } from '../fields.ts'

/** Returns the caller's schema without `$schema`; a copy when something was removed. */
export function jsonSchema(schema: Frozen<Json>): Json {
  const value = schema as Json
  if (!isObject(value) || !('$schema' in value)) return value
  const { $schema: _, ...rest } = value
  return rest
}

/** Returns the parameters of a function; null when it has none. */
export function parametersJsonSchema(schema: Frozen<Json> | undefined): Json | null {
  if (!isObject(schema)) return null
  const value = jsonSchema(schema) as JsonObject
  if (Object.keys(value).length === 0) return null
  return value.type === undefined && value.$ref === undefined ? { ...value, type: 'object' } : value
}

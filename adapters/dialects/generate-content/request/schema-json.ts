// JSON Schema for backends that read it (`parametersJsonSchema`, `responseJsonSchema`): passed on but for the dialect
// marker, and with an object at the top where a function needs one.
import type { Frozen, Json, JsonObject } from '../../../../core/types/canonical.ts'
import { isObject } from '../fields.ts'

/** The caller's schema without `$schema`; never the caller's object itself when something had to go. */
export function jsonSchema(schema: Frozen<Json>): Json {
  const value = schema as Json
  if (!isObject(value) || !('$schema' in value)) return value
  const { $schema: _, ...rest } = value
  return rest
}

/** Parameters of a function; null when it has none. */
export function parametersJsonSchema(schema: Frozen<Json> | undefined): Json | null {
  if (!isObject(schema)) return null
  const value = jsonSchema(schema) as JsonObject
  if (Object.keys(value).length === 0) return null
  return value.type === undefined && value.$ref === undefined ? { ...value, type: 'object' } : value
}

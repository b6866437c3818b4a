// Tests whether a JSON Schema may be used in strict mode: every object closed and every property required.
import type { Frozen, Json } from '../../../../core/types/request/canonical.ts'
import { isObject } from '../../shared/fields.ts'

export function isStrictSchema(schema: Frozen<Json> | undefined): boolean {
  return isObject(schema) && schema.type === 'object' && qualifies(schema)
}

// Bodies have at most 128 levels, so the recursion is limited.
function qualifies(schema: Json | undefined): boolean {
  if (!isObject(schema)) return true
  if (schema.type === 'object' || isObject(schema.properties)) {
    const names = isObject(schema.properties) ? Object.keys(schema.properties) : []
    const required = Array.isArray(schema.required) ? new Set(schema.required) : new Set<Json>()
    if (schema.additionalProperties !== false || !names.every((name) => required.has(name))) return false
  }
  for (const key of ['properties', '$defs', 'definitions']) {
    const group = schema[key]
    if (isObject(group) && !Object.values(group).every(qualifies)) return false
  }
  for (const key of ['anyOf', 'oneOf', 'allOf']) {
    const group = schema[key]
    if (Array.isArray(group) && !group.every(qualifies)) return false
  }
  return Array.isArray(schema.items) ? schema.items.every(qualifies) : qualifies(schema.items)
}

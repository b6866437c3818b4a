// Converts Google's OpenAPI-style Schema to JSON Schema: lower-case types, nullable as a type union, 64-bit bounds as numbers.
import type { Json, JsonObject } from '../../../../core/types/request/canonical.ts'
import { camelFields, isObject } from '../fields.ts'

const BOUNDS = new Set(['minItems', 'maxItems', 'minLength', 'maxLength', 'minProperties', 'maxProperties'])
/** Keywords that only Google's own parser uses. */
const DROPPED = new Set(['propertyOrdering', 'example', 'nullable'])

/** Plain JSON Schema passes unchanged, except for the letter case of types. */
export function jsonSchemaOf(schema: Json): Json {
  if (!isObject(schema)) return schema
  const source = camelFields(schema)
  const out: JsonObject = {}
  for (const [key, value] of Object.entries(source)) {
    if (DROPPED.has(key)) continue
    if (key === 'type') {
      const type = typeOf(value)
      if (type !== undefined) out.type = type
    } else if (key === 'properties' || key === '$defs' || key === 'definitions') {
      out[key] = isObject(value)
        ? Object.fromEntries(Object.entries(value).map(([name, child]) => [name, jsonSchemaOf(child)]))
        : value
    } else if (key === 'items' || key === 'additionalProperties') out[key] = jsonSchemaOf(value)
    else if (key === 'anyOf' || key === 'oneOf' || key === 'allOf' || key === 'prefixItems') {
      out[key] = Array.isArray(value) ? value.map(jsonSchemaOf) : value
    } else out[key] = BOUNDS.has(key) && typeof value === 'string' ? Number(value) : value
  }
  return source.nullable === true ? nullable(out) : out
}

function typeOf(value: Json): Json | undefined {
  if (typeof value !== 'string') return value
  return value === 'TYPE_UNSPECIFIED' ? undefined : value.toLowerCase()
}

function nullable(schema: JsonObject): JsonObject {
  if (typeof schema.type === 'string') {
    return {
      ...schema,
      type: [schema.type, 'null'],
      ...(Array.isArray(schema.enum) && !schema.enum.includes(null) ? { enum: [...schema.enum, null] } : {}),
    }
  }
  if (Array.isArray(schema.anyOf)) return { ...schema, anyOf: [...schema.anyOf, { type: 'null' }] }
  return schema
}

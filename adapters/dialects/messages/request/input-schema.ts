// A tool's parameters as this API wants them: an object at the root, no `$schema`, no alternatives at the top.
// The caller's schema is never changed.
import type { Frozen, Json, JsonObject } from '../../../../core/types/canonical.ts'
import { isObject } from '../../shared/fields.ts'

export interface InputSchema {
  schema: JsonObject
  /** The root was another type: it became the property `value`. */
  wrapped: boolean
}

export function inputSchema(source: Frozen<Json> | undefined): InputSchema {
  if (!isObject(source)) return { schema: { type: 'object', properties: {} }, wrapped: false }
  const { $schema: _, ...schema } = source
  const { type } = schema
  const other = typeof type === 'string' ? type !== 'object' : Array.isArray(type) && !type.includes('object')
  if (other) return { schema: wrap(schema), wrapped: true }
  const merged = schema.anyOf || schema.oneOf || schema.allOf ? withoutAlternatives(schema) : schema
  return { schema: { properties: {}, ...merged, type: 'object' }, wrapped: false }
}

/** References are relative to the root, so definitions stay there. */
function wrap(schema: JsonObject): JsonObject {
  const { $defs, definitions, ...value } = schema
  return {
    type: 'object',
    properties: { value },
    required: ['value'],
    ...($defs === undefined ? {} : { $defs }),
    ...(definitions === undefined ? {} : { definitions }),
  }
}

/** allOf: all properties, all required. anyOf and oneOf: all properties, required only what every alternative requires. */
function withoutAlternatives(schema: JsonObject): JsonObject {
  const { allOf, anyOf, oneOf, ...base } = schema
  const properties: Record<string, Json[]> = {}
  const collect = (part: JsonObject) => {
    for (const [name, property] of Object.entries(isObject(part.properties) ? part.properties : {})) {
      const known = Object.hasOwn(properties, name) ? (properties[name] as Json[]) : []
      if (!known.some((same) => JSON.stringify(same) === JSON.stringify(property))) properties[name] = [...known, property]
    }
  }
  const required = new Set(requiredOf(base))
  collect(base)
  for (const part of resolved(allOf, schema)) {
    collect(part)
    for (const name of requiredOf(part)) required.add(name)
  }
  for (const alternatives of [resolved(anyOf, schema), resolved(oneOf, schema)]) {
    for (const part of alternatives) collect(part)
    const [first, ...rest] = alternatives.map(requiredOf)
    for (const name of first ?? []) if (rest.every((names) => names.includes(name))) required.add(name)
  }
  const out: JsonObject = {
    ...base,
    properties: Object.fromEntries(
      Object.entries(properties).map(([name, found]) => [name, found.length === 1 ? (found[0] as Json) : { anyOf: found }]),
    ),
  }
  if (required.size > 0) out.required = [...required]
  // A member that one alternative forbids may be required by another.
  if (anyOf !== undefined || oneOf !== undefined) delete out.additionalProperties
  return out
}

function resolved(list: Json | undefined, root: JsonObject): JsonObject[] {
  if (!Array.isArray(list)) return []
  return list.map((entry) => (isObject(entry) ? target(entry, root) : {}))
}

function target(entry: JsonObject, root: JsonObject): JsonObject {
  const found = typeof entry.$ref === 'string' ? /^#\/(\$defs|definitions)\/(.+)$/.exec(entry.$ref) : null
  if (found === null) return entry
  const definitions = root[found[1] as string]
  const definition = isObject(definitions) ? definitions[found[2] as string] : undefined
  return isObject(definition) ? definition : entry
}

function requiredOf(part: JsonObject): string[] {
  return Array.isArray(part.required) ? part.required.filter((name) => typeof name === 'string') : []
}

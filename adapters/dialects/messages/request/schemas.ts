// Converts a tool's parameters to the form that this API accepts: an object at the root, no `$schema`, no alternatives at the top. The
// caller's schema is never changed.
import type { Frozen, Json, JsonObject } from '../../../../core/types/request/canonical.ts'
import { isObject } from '../../shared/fields.ts'

export interface InputSchema {
  schema: JsonObject
  /** True when the root had another type and became the property `value`. */
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

// Converts JSON Schema to the subset that structured output and strict tools accept: closed objects, anyOf only, no limits. The
// description mentions dropped rules. The caller's schema is never changed.
export function outputSchema(source: Frozen<Json> | undefined): JsonObject {
  if (!isObject(source)) return { type: 'object', properties: {}, additionalProperties: false }
  const { $schema: _, ...root } = source
  const definitions = definitionsOf(root)
  const cut = recursiveRefs(definitions)
  return sanitize(
    root,
    (ref) => ref === '#' || ref === '#/',
    (name) => (ref) => cut.has(`${name} ${ref}`) || ref === '#',
  )
}

const DROPPED: ReadonlySet<string> = new Set(
  `minimum maximum exclusiveMinimum exclusiveMaximum minLength maxLength minItems maxItems minProperties maxProperties minContains
   maxContains pattern multipleOf uniqueItems not if then else contains patternProperties propertyNames dependentRequired
   dependentSchemas dependencies unevaluatedProperties unevaluatedItems`.split(/\s+/),
)
const FORMATS: ReadonlySet<string> = new Set([
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'uri',
  'ipv4',
  'ipv6',
  'uuid',
])
const MAPS: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions'])

type Cuts = (ref: string) => boolean

/** `inside(name)` returns the references to cut within the definition of that name. */
function sanitize(schema: JsonObject, cuts: Cuts, inside: (name: string) => Cuts): JsonObject {
  if (typeof schema.$ref === 'string' && cuts(schema.$ref)) return { type: 'object', properties: {}, additionalProperties: false }
  const notes: string[] = []
  const out: [string, Json][] = []
  const walk = (value: Json, within = cuts): Json =>
    isObject(value) ? sanitize(value, within, inside) : value === true ? {} : value
  for (const [key, value] of Object.entries(schema)) {
    if (DROPPED.has(key) || (key === 'format' && !FORMATS.has(String(value)))) notes.push(`${key}: ${JSON.stringify(value)}`)
    else if (key === 'additionalProperties') {
      if (isObject(value) && Object.keys(value).length > 0) notes.push(`${key}: ${JSON.stringify(value)}`)
    } else if (MAPS.has(key) && isObject(value)) {
      const within = (name: string) => (key === 'properties' ? cuts : inside(name))
      out.push([key, Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, walk(inner, within(name))]))])
    } else if (key === 'oneOf' && Array.isArray(value)) {
      if (schema.anyOf === undefined) out.push(['anyOf', value.map((entry) => walk(entry))])
      else notes.push(`oneOf: ${JSON.stringify(value)}`)
    } else if (key === 'items' || key === 'anyOf' || key === 'allOf' || key === 'prefixItems') {
      out.push([key, Array.isArray(value) ? value.map((entry) => walk(entry)) : walk(value)])
    } else if (key !== 'description') out.push([key, value])
  }
  const description = [
    typeof schema.description === 'string' ? schema.description : '',
    notes.length > 0 ? `(${notes.join(', ')})` : '',
  ]
  const text = description.filter((piece) => piece !== '').join(' ')
  if (text !== '') out.push(['description', text])
  if (describesObject(schema)) out.push(['additionalProperties', false])
  return Object.fromEntries(out)
}

function describesObject({ type, properties }: JsonObject): boolean {
  return type === 'object' || (Array.isArray(type) && type.includes('object')) || isObject(properties)
}

function definitionsOf(root: JsonObject): Map<string, JsonObject> {
  const out = new Map<string, JsonObject>()
  for (const key of ['$defs', 'definitions']) {
    const group = root[key]
    if (isObject(group))
      for (const [name, definition] of Object.entries(group)) if (isObject(definition)) out.set(`#/${key}/${name}`, definition)
  }
  return out
}

/** Returns "name ref" pairs: references within a definition that close a cycle. Every cycle has one that points back in order. */
function recursiveRefs(definitions: Map<string, JsonObject>): Set<string> {
  const order = [...definitions.keys()]
  const edges = new Map(order.map((path) => [path, refsOf(definitions.get(path) as JsonObject, new Set<string>())]))
  const cut = new Set<string>()
  order.forEach((path, index) => {
    for (const ref of edges.get(path) ?? []) {
      const target = order.indexOf(ref)
      if (target >= 0 && target <= index && reaches(ref, path, edges)) cut.add(`${path.slice(path.lastIndexOf('/') + 1)} ${ref}`)
    }
  })
  return cut
}

function reaches(from: string, to: string, edges: Map<string, Set<string>>): boolean {
  const seen = new Set<string>()
  const queue = [from]
  for (let at = queue.pop(); at !== undefined; at = queue.pop()) {
    if (at === to) return true
    if (seen.has(at)) continue
    seen.add(at)
    queue.push(...(edges.get(at) ?? []))
  }
  return false
}

function refsOf(value: Json, into: Set<string>): Set<string> {
  if (Array.isArray(value)) for (const entry of value) refsOf(entry, into)
  else if (isObject(value)) {
    for (const [key, inner] of Object.entries(value)) {
      if (key === '$ref' && typeof inner === 'string') into.add(inner)
      else refsOf(inner, into)
    }
  }
  return into
}

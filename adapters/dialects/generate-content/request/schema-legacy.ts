// Converts JSON Schema to the OpenAPI subset of older backends. It is an allow-list: Google's proto parser rejects the whole request for
// one unknown key. References are inlined. Cycles and very large schemas become a bare object.
import { entryOf } from '../../../../core/collections/entry-of.ts'
import type { Frozen, Json, JsonObject } from '../../../../core/types/request/canonical.ts'
import { isObject } from '../fields.ts'

const COPIED = [
  'title',
  'description',
  'minItems',
  'maxItems',
  'minLength',
  'maxLength',
  'minProperties',
  'maxProperties',
  'minimum',
  'maximum',
  'pattern',
] as const
const FORMATS: Readonly<Record<string, readonly string[]>> = {
  STRING: ['date-time', 'enum'],
  INTEGER: ['int32', 'int64'],
  NUMBER: ['float', 'double'],
}
const TYPES = new Set(['STRING', 'NUMBER', 'INTEGER', 'BOOLEAN', 'ARRAY', 'OBJECT'])
/** Inlining may multiply nodes; a schema larger than this is shortened. */
const MAX_NODES = 5000
const MAX_DEPTH = 64

interface Walk {
  root: JsonObject
  open: ReadonlySet<string>
  depth: number
  budget: { nodes: number }
}

export function legacySchema(schema: Frozen<Json>): JsonObject {
  const root = isObject(schema) ? schema : {}
  return convert(root, { root, open: new Set(), depth: 0, budget: { nodes: MAX_NODES } })
}

/** Returns the parameters of a function; null when it has no properties: `parameters` is then left out. */
export function legacyParameters(schema: Frozen<Json> | undefined): JsonObject | null {
  if (!isObject(schema)) return null
  const converted = legacySchema(schema.type === undefined ? { ...schema, type: 'object' } : schema)
  return isObject(converted.properties) ? converted : null
}

function convert(value: Json, walk: Walk): JsonObject {
  if (walk.depth > MAX_DEPTH || --walk.budget.nodes < 0) return { type: 'OBJECT' }
  const resolved = resolve(value, walk)
  if (resolved === null) return { type: 'OBJECT' }
  const [node, inner] = resolved
  const { types, nullable } = typesOf(node)
  const out: JsonObject = {}
  for (const key of COPIED) if (scalar(node[key])) out[key] = node[key] as Json
  const union = alternatives(node, types)
  let isNullable = nullable
  if (union !== null) {
    const real = union.filter((member) => !isNullType(member))
    isNullable ||= real.length < union.length
    const members = real.map((member) => convert(member, deeper(inner)))
    if (members.length === 1) Object.assign(out, { ...members[0], ...out })
    else if (members.length > 1) out.anyOf = members
  }
  const values = enumOf(node)
  if (values.includes(null)) isNullable = true
  if (out.anyOf === undefined && out.type === undefined) fill(out, node, types[0] ?? guess(node), values, inner)
  if (isNullable) out.nullable = true
  return out
}

function fill(out: JsonObject, node: JsonObject, type: string, values: Json[], walk: Walk): void {
  out.type = type
  if (typeof node.format === 'string' && entryOf(FORMATS, type)?.includes(node.format)) out.format = node.format
  const texts = values.filter((value) => typeof value === 'string' && value !== '')
  if (type === 'STRING' && texts.length > 0 && texts.length === values.filter((value) => value !== null).length) out.enum = texts
  if (type === 'ARRAY') out.items = convertItems(node, walk)
  if (type === 'OBJECT') fillObject(out, node, walk)
}

function fillObject(out: JsonObject, node: JsonObject, walk: Walk): void {
  if (!isObject(node.properties)) return
  const entries = Object.entries(node.properties)
  if (entries.length === 0) return
  // fromEntries defines properties, so that one called __proto__ stays a property.
  out.properties = Object.fromEntries(entries.map(([name, child]) => [name, convert(child, deeper(walk))]))
  const names = new Set(entries.map(([name]) => name))
  const required = Array.isArray(node.required) ? node.required.filter((name) => typeof name === 'string' && names.has(name)) : []
  if (required.length > 0) out.required = required
}

function convertItems(node: JsonObject, walk: Walk): JsonObject {
  const tuple = Array.isArray(node.prefixItems) ? node.prefixItems : Array.isArray(node.items) ? node.items : null
  if (tuple !== null) return tuple.length === 0 ? { type: 'STRING' } : convert({ anyOf: tuple }, deeper(walk))
  return isObject(node.items) && Object.keys(node.items).length > 0 ? convert(node.items, deeper(walk)) : { type: 'STRING' }
}

/** Follows references and merges allOf; null when a cycle closes or a reference has no target. */
function resolve(value: Json, walk: Walk): [JsonObject, Walk] | null {
  if (!isObject(value)) return [{}, walk]
  let node: JsonObject = value
  const open = typeof node.$ref === 'string' ? new Set(walk.open) : null
  let inner = open === null ? walk : { ...walk, open }
  while (open !== null && typeof node.$ref === 'string') {
    if (open.has(node.$ref) || --walk.budget.nodes < 0) return null
    const target = pointer(walk.root, node.$ref)
    if (!isObject(target)) return null
    open.add(node.$ref)
    const { $ref: _, ...siblings } = node
    node = { ...target, ...siblings }
  }
  if (!Array.isArray(node.allOf)) return [node, inner]
  const { allOf, ...own } = node
  let merged = own
  for (const member of allOf) {
    if (--walk.budget.nodes < 0 || inner.depth > MAX_DEPTH) return null
    const part = resolve(member, deeper(inner))
    if (part === null) continue
    merged = merge(part[0], merged)
    inner = { ...inner, open: new Set([...inner.open, ...part[1].open]) }
  }
  return [merged, inner]
}

function merge(base: JsonObject, over: JsonObject): JsonObject {
  const out: JsonObject = { ...base, ...over }
  if (isObject(base.properties) && isObject(over.properties)) out.properties = { ...base.properties, ...over.properties }
  if (Array.isArray(base.required) && Array.isArray(over.required))
    out.required = [...new Set([...base.required, ...over.required])]
  return out
}

function pointer(root: JsonObject, ref: string): Json | undefined {
  if (ref === '#') return root
  if (!ref.startsWith('#/')) return undefined
  let at: Json | undefined = root
  for (const raw of ref.slice(2).split('/')) {
    const key = unescapePointer(raw)
    at = isObject(at) && Object.hasOwn(at, key) ? at[key] : Array.isArray(at) ? at[Number(key)] : undefined
  }
  return at
}

function unescapePointer(segment: string): string {
  const plain = segment.replaceAll('~1', '/').replaceAll('~0', '~')
  try {
    return decodeURIComponent(plain)
  } catch {
    return plain
  }
}

function alternatives(node: JsonObject, types: string[]): Json[] | null {
  const listed = Array.isArray(node.anyOf) ? node.anyOf : Array.isArray(node.oneOf) ? node.oneOf : null
  if (listed !== null && listed.length > 0) return listed
  if (types.length < 2) return null
  const { type: _, title: _title, description: _description, ...rest } = node
  return types.map((type) => ({ ...rest, type: type.toLowerCase() }))
}

function typesOf(node: JsonObject): { types: string[]; nullable: boolean } {
  const words = (Array.isArray(node.type) ? node.type : [node.type]).filter((word) => typeof word === 'string')
  return {
    types: words.map((word) => word.toUpperCase()).filter((word) => TYPES.has(word)),
    nullable: node.nullable === true || words.some((word) => word.toLowerCase() === 'null'),
  }
}

function isNullType(value: Json): boolean {
  return isObject(value) && typeof value.type === 'string' && value.type.toLowerCase() === 'null'
}

function enumOf(node: JsonObject): Json[] {
  if (Array.isArray(node.enum)) return node.enum
  return node.const === undefined ? [] : [node.const]
}

function guess(node: JsonObject): string {
  if (isObject(node.properties) || isObject(node.additionalProperties)) return 'OBJECT'
  if (node.items !== undefined || node.prefixItems !== undefined) return 'ARRAY'
  const sample = enumOf(node).find((value) => value !== null)
  if (typeof sample === 'number') return Number.isInteger(sample) ? 'INTEGER' : 'NUMBER'
  return typeof sample === 'boolean' ? 'BOOLEAN' : 'STRING'
}

function scalar(value: Json | undefined): boolean {
  return typeof value === 'string' || typeof value === 'number'
}

function deeper(walk: Walk): Walk {
  return { ...walk, depth: walk.depth + 1 }
}

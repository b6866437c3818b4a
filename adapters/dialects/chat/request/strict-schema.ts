// Tests whether a schema may be sent with strict:true: every object closed, every property required.
import type { Frozen, Json } from '../../../../core/types/canonical.ts'

/** Recursion is bounded by the depth of a scanned body (128). */
export function qualifiesForStrict(schema: Frozen<Json> | undefined): boolean {
  if (schema === undefined || schema === null || typeof schema !== 'object') return schema === undefined
  if (Array.isArray(schema)) return schema.every((item: Frozen<Json>) => isLeaf(item) || qualifiesForStrict(item))
  const node = schema as { readonly [key: string]: Frozen<Json> }
  const properties = node.properties
  const isObjectType =
    node.type === 'object' || (Array.isArray(node.type) && node.type.includes('object')) || properties !== undefined
  if (isObjectType && !closedAndRequired(node)) return false
  return Object.entries(node).every(([key, value]) => {
    if (KEYWORDS_OF_VALUES.has(key) || isLeaf(value)) return true
    if (KEYWORDS_OF_MAPS.has(key))
      return Object.values(value as object).every((inner) => isLeaf(inner) || qualifiesForStrict(inner))
    return qualifiesForStrict(value)
  })
}

/** Members whose content is data, not schema. */
const KEYWORDS_OF_VALUES: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'examples', 'required', 'type'])
/** Members that map names to schemas: the names are not keywords. */
const KEYWORDS_OF_MAPS: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions'])

function closedAndRequired(node: { readonly [key: string]: Frozen<Json> }): boolean {
  if (node.additionalProperties !== false) return false
  const required = Array.isArray(node.required) ? node.required : []
  const { properties } = node
  if (properties === undefined || properties === null || typeof properties !== 'object') return true
  return Object.keys(properties).every((name) => required.includes(name))
}

function isLeaf(value: Frozen<Json>): boolean {
  return value === null || typeof value !== 'object'
}

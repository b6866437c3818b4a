// A mock of Google's proto parser: every unknown key anywhere in a legacy Schema fails the whole request.
import type { Json, JsonObject } from '../../../../core/types/request/canonical.ts'

const KEYS = new Set([
  'type',
  'format',
  'title',
  'description',
  'nullable',
  'enum',
  'items',
  'minItems',
  'maxItems',
  'properties',
  'required',
  'minProperties',
  'maxProperties',
  'minLength',
  'maxLength',
  'pattern',
  'minimum',
  'maximum',
  'anyOf',
  'propertyOrdering',
])
const TYPES = new Set(['STRING', 'NUMBER', 'INTEGER', 'BOOLEAN', 'ARRAY', 'OBJECT'])
const FORMATS = new Set(['date-time', 'enum', 'int32', 'int64', 'float', 'double'])

/** @throws Error with Google's text. */
export function assertStrictSchema(value: Json, at = 'schema'): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error(`${at} is not a message`)
  for (const key of Object.keys(value))
    if (!KEYS.has(key)) throw new Error(`Unknown name "${key}" at '${at}': Cannot find field.`)
  const schema = value as JsonObject
  if (schema.type !== undefined && !TYPES.has(schema.type as string)) throw new Error(`Invalid type at ${at}: ${schema.type}`)
  if (schema.type === undefined && schema.anyOf === undefined) throw new Error(`No type at ${at}`)
  if (schema.type === 'ARRAY' && schema.items === undefined) throw new Error(`Missing items at ${at}`)
  if (schema.format !== undefined && !FORMATS.has(schema.format as string)) throw new Error(`Bad format at ${at}`)
  if (
    schema.enum !== undefined &&
    (schema.type !== 'STRING' || (schema.enum as Json[]).some((entry) => typeof entry !== 'string' || entry === ''))
  ) {
    throw new Error(`Bad enum at ${at}`)
  }
  const properties = (schema.properties ?? {}) as JsonObject
  if (schema.properties !== undefined && Object.keys(properties).length === 0) throw new Error(`Empty properties at ${at}`)
  for (const name of (schema.required ?? []) as string[])
    if (!Object.hasOwn(properties, name)) throw new Error(`Undeclared ${name} required at ${at}`)
  for (const [name, child] of Object.entries(properties)) assertStrictSchema(child, `${at}.${name}`)
  if (schema.items !== undefined) assertStrictSchema(schema.items, `${at}.items`)
  for (const [index, child] of ((schema.anyOf ?? []) as Json[]).entries()) assertStrictSchema(child, `${at}.any_of[${index}]`)
}

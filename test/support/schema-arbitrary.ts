// Values by JSON Schema, as far as the gateway's own document uses it: those that fit, and those that do not.
import fc, { type Arbitrary } from 'fast-check'

export type Schema = { readonly [keyword: string]: unknown }

export interface Source {
  /** What a `$ref` points at. */
  resolve(reference: string): Schema
  /** Optional members too; default: required ones alone. */
  optional?: boolean
}

/** A schema that holds itself ends after so many rounds, where it can. */
const MAX_DEPTH = 3

export function fitting(schema: Schema, source: Source, depth = 0): Arbitrary<unknown> {
  const within = (inner: Schema) => fitting(inner, source, depth)
  if (typeof schema.$ref === 'string') return fitting(source.resolve(schema.$ref), source, depth + 1)
  if ('const' in schema) return fc.constant(schema.const)
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum)
  const choices = (schema.anyOf ?? schema.oneOf) as Schema[] | undefined
  if (choices !== undefined) {
    const ending = choices.filter((choice) => !JSON.stringify(choice).includes('"$ref"'))
    return fc.oneof(...(depth >= MAX_DEPTH && ending.length > 0 ? ending : choices).map(within))
  }
  if (Array.isArray(schema.type)) return fc.oneof(...schema.type.map((type) => within({ ...schema, type })))
  switch (schema.type) {
    case 'string':
      return text(schema)
    case 'integer':
      return fc.integer({ min: bound(schema.minimum, -1e9), max: bound(schema.maximum, 1e9) })
    case 'number':
      return fc.double({ min: bound(schema.minimum, -1e6), max: bound(schema.maximum, 1e6), noNaN: true })
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'array':
      return array(schema, source, depth)
    case 'object':
      return object(schema, source, depth)
    default:
      return fc.jsonValue({ maxDepth: 2 })
  }
}

function array(schema: Schema, source: Source, depth: number): Arbitrary<unknown> {
  const least = bound(schema.minItems, 0)
  if (least === 0 && depth >= MAX_DEPTH) return fc.constant([])
  const most = Math.min(bound(schema.maxItems, least + 2), least + 2)
  return fc.array(fitting((schema.items ?? {}) as Schema, source, depth), { minLength: least, maxLength: most })
}

function object(schema: Schema, source: Source, depth: number): Arbitrary<unknown> {
  const required = (schema.required ?? []) as string[]
  const members = Object.entries((schema.properties ?? {}) as Record<string, Schema>).filter(
    ([name]) => required.includes(name) || (source.optional && depth < MAX_DEPTH),
  )
  const known = fc.record(Object.fromEntries(members.map(([name, inner]) => [name, fitting(inner, source, depth)])), {
    requiredKeys: required.filter((name) => members.some(([member]) => member === name)) as never[],
  })
  const { additionalProperties: more } = schema
  if (typeof more !== 'object' || more === null || Object.keys(more).length === 0) return known
  const extra = fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), fitting(more as Schema, source, depth), { maxKeys: 2 })
  return fc.tuple(extra, known).map(([free, own]) => ({ ...free, ...own }))
}

function text({ pattern, format, minLength, maxLength }: Schema): Arbitrary<string> {
  if (format === 'date-time')
    return fc
      .date({ min: new Date('2020-01-01T00:00:00Z'), max: new Date('2090-01-01T00:00:00Z'), noInvalidDate: true })
      .map((date) => date.toISOString())
  const low = bound(minLength, 0)
  const high = Math.min(bound(maxLength, 40), low + 40)
  if (typeof pattern !== 'string') return fc.string({ minLength: low, maxLength: high })
  return fc.stringMatching(new RegExp(pattern)).filter(({ length }) => length >= low && length <= bound(maxLength, 1000))
}

function bound(value: unknown, otherwise: number): number {
  return typeof value === 'number' && Math.abs(value) < 2 ** 50 ? value : otherwise
}

/** Of every type, and one past each bound of the schema. */
export function suspects(schema: Schema): unknown[] {
  const { minimum, maximum, maxLength, maxItems } = schema
  return [
    null,
    true,
    0,
    -1,
    1.5,
    1e300,
    '',
    ' ',
    'x',
    '\u0000',
    '9999999999999999999',
    [],
    [null],
    [[]],
    {},
    { x: 1 },
    ...(typeof minimum === 'number' ? [minimum - 1] : []),
    ...(typeof maximum === 'number' ? [maximum * 2 + 1] : []),
    ...(typeof maxLength === 'number' ? ['x'.repeat(maxLength + 1)] : []),
    ...(typeof maxItems === 'number' ? [new Array(maxItems + 1).fill('x')] : []),
    ...((schema.anyOf as Schema[] | undefined) ?? []).flatMap(suspects),
  ]
}

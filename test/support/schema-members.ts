// The members of a request body as its schema names them, each with a way to put something else there.
import fc from 'fast-check'
import { fitting, type Schema } from './schema-arbitrary.ts'

type Source = Parameters<typeof fitting>[1]

export interface Member {
  path: string
  schema: Schema
  set(value: unknown): unknown
}

/** Every member that the document names, nested ones too, and the valid body with another value there. */
export function members(source: Source, schema: Schema, valid: Record<string, unknown>, prefix = ''): Member[] {
  const object = schema.$ref === undefined ? schema : source.resolve(schema.$ref as string)
  return Object.entries((object.properties ?? {}) as Record<string, Schema>).flatMap(([name, inner]) => {
    const set = (value: unknown) => ({ ...valid, [name]: value })
    const at = `${prefix}${name}`
    const below =
      inner.type === 'object' ? members(source, inner, objectAt(valid[name]), `${at}.`) : elements(source, inner, valid[name], at)
    return [
      { path: at, schema: inner, set },
      ...below.map((member) => ({ ...member, set: (value: unknown) => set(member.set(value)) })),
    ]
  })
}

/** The first element of an array, and what is in it. */
function elements(source: Source, { type, items }: Schema, valid: unknown, at: string): Member[] {
  if (type !== 'array' || typeof items !== 'object' || items === null) return []
  const [, ...others] = (valid ?? []) as unknown[]
  const first = (valid as unknown[] | undefined)?.[0] ?? fc.sample(fitting(items as Schema, source), { numRuns: 1, seed: 3 })[0]
  const set = (value: unknown) => [value, ...others]
  const below = (items as Schema).type === 'object' ? members(source, items as Schema, objectAt(first), `${at}.0.`) : []
  return [
    { path: `${at}.0`, schema: items as Schema, set },
    ...below.map((member) => ({ ...member, set: (value: unknown) => set(member.set(value)) })),
  ]
}

function objectAt(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

// Reads a variable's type, choices, range and default from the schema of its option. The schema is their only declaration.
import { type ZodType, z } from 'zod'
import { callsOf } from '../schema/deferred-zod.ts'
import { WORDED } from '../text/issue-text.ts'
import type { Variable, VariableType, VariableValue } from '../types/plugin/variables.ts'

export type SchemaFacts = Pick<Variable, 'default' | 'values' | 'min' | 'max'> & {
  /** null: the schema does not show how to parse a text. */
  readonly type: VariableType | null
}

interface JsonSchema {
  readonly type?: unknown
  readonly format?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
  readonly exclusiveMaximum?: number
  readonly anyOf?: readonly JsonSchema[]
  readonly default?: VariableValue
}

/** @throws Error from zod for a schema without a JSON form. */
export function schemaFacts(schema: ZodType): SchemaFacts {
  return plainFacts(schema) ?? describedFacts(schema)
}

/** The facts that the JSON Schema of a schema has. @throws Error from zod for a schema without a JSON form. */
export function describedFacts(schema: ZodType): SchemaFacts {
  const described = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema
  const form = withoutNull(described)
  const type = typeOf(form)
  return {
    type,
    default: described.default ?? null,
    ...(type === 'enum' ? { values: choices(form) } : {}),
    ...(type === 'int' || type === 'number' ? rangeOf(form, type) : {}),
  }
}

/** The facts of a simple schema without building it: most are, and a boot reads two hundred. null: it is not simple. */
function plainFacts(schema: ZodType): SchemaFacts | null {
  const [made, ...calls] = callsOf(schema)
  const type = PLAIN[made?.name ?? ''] ?? null
  const values = made?.args[0]
  if (type === null || (type === 'enum' && !Array.isArray(values))) return null
  let fallback: VariableValue = null
  const range: { min?: number; max?: number } = {}
  for (const { name, args } of calls) {
    const [first] = args
    if (name === 'default' && typeof first !== 'function') fallback = first as VariableValue
    else if (name === 'nullable') fallback = null
    else if ((name === 'min' || name === 'max') && range[name] === undefined) range[name] = first as number
    else if (name !== 'optional' && (name !== 'meta' || Object.keys(first as object).some((key) => FORM.has(key)))) return null
  }
  return {
    type,
    default: fallback,
    ...(type === 'enum' ? { values: values as string[] } : {}),
    ...(type === 'int' || type === 'number' ? range : {}),
  }
}

const PLAIN: Readonly<Record<string, VariableType>> = {
  boolean: 'bool',
  enum: 'enum',
  int: 'int',
  number: 'number',
  string: 'string',
}

/** Members of a schema's own data that would replace those of its form. */
const FORM = new Set('id type format enum const minimum maximum exclusiveMinimum exclusiveMaximum anyOf default'.split(' '))

/** Returns the schema's first objection to this value as text; null: the schema accepts the value. */
export function refusalOf(schema: ZodType, value: unknown): string | null {
  try {
    const parsed = schema.safeParse(value, WORDED)
    if (parsed.success) return null
    const { path, message } = parsed.error.issues[0] as z.core.$ZodIssue
    return path.length === 0 ? message : `at ${path.join('.')} ${message}`
  } catch {
    return null // The check is asynchronous. Set-up reports it with the name of its plugin.
  }
}

/** Returns the only form besides null; for any other union the schema itself, which has no type. */
function withoutNull(described: JsonSchema): JsonSchema {
  const forms = (described.anyOf ?? [described]).filter(({ type }) => type !== 'null')
  const [form = {}, ...others] = forms
  if (others.length > 0) return {}
  const types = [form.type].flat().filter((type) => type !== 'null')
  return { ...form, type: types.length === 1 ? types[0] : undefined }
}

const TYPES: Readonly<Record<string, VariableType>> = {
  integer: 'int',
  number: 'number',
  boolean: 'bool',
  array: 'list',
  object: 'json',
  string: 'string',
}

function typeOf(form: JsonSchema): VariableType | null {
  if (typeof form.type !== 'string') return null
  if (form.type === 'string' && choices(form).length > 0) return 'enum'
  if (form.type === 'string' && form.format === 'uri') return 'url'
  return TYPES[form.type] ?? null
}

function choices(form: JsonSchema): string[] {
  const values = form.enum ?? (form.const === undefined ? [] : [form.const])
  return values.filter((value) => typeof value === 'string')
}

/** Zod limits every integer to the safe range of a double. These limits carry no information. */
function rangeOf(form: JsonSchema, type: 'int' | 'number'): Pick<Variable, 'min' | 'max'> {
  const beyond = (bound: number | undefined, step: number) =>
    bound === undefined || type === 'number' ? undefined : bound + step
  const min = form.minimum ?? beyond(form.exclusiveMinimum, 1)
  const max = form.maximum ?? beyond(form.exclusiveMaximum, -1)
  return {
    ...(min === undefined || min === Number.MIN_SAFE_INTEGER ? {} : { min }),
    ...(max === undefined || max === Number.MAX_SAFE_INTEGER ? {} : { max }),
  }
}

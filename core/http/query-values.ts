// The parameters of a query in the form its schema takes: a list where the schema has an array, however often the parameter is
// given, else one text. So a list is written as OpenAPI writes it, by repetition.
import type { ZodType } from 'zod'
import { GatewayError } from '../errors/gateway-error.ts'

/**
 * Parameters that the schema does not know are passed on, the last value of each.
 * @throws GatewayError 400 naming a parameter that is given more than once where one value is taken.
 */
export function queryValues(schema: ZodType | undefined, given: URLSearchParams): Record<string, string | string[]> {
  const fields = fieldsOf(schema)
  return Object.fromEntries(
    [...new Set(given.keys())].map((name) => {
      const values = given.getAll(name)
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined
      if (field !== undefined && innermost(field).type === 'array') return [name, values]
      if (field !== undefined && values.length > 1) throw GatewayError.invalid(name, `\`${name}\`: must be given once.`)
      return [name, values.at(-1) as string]
    }),
  )
}

/** The part of a zod schema's definition that is used here. */
interface Definition {
  readonly type: string
  readonly innerType?: ZodType
  readonly in?: ZodType
  readonly shape?: Readonly<Record<string, ZodType>>
}

function fieldsOf(schema: ZodType | undefined): Readonly<Record<string, ZodType>> {
  return (schema === undefined ? undefined : innermost(schema).shape) ?? {}
}

/** The schema behind optional, default and similar wrappers. */
function innermost(schema: ZodType): Definition {
  let definition = schema.def as unknown as Definition
  for (let inner = definition.in ?? definition.innerType; inner !== undefined; inner = definition.in ?? definition.innerType)
    definition = inner.def as unknown as Definition
  return definition
}

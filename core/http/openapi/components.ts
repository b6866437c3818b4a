// Converts zod to JSON Schema for OpenAPI 3.1: definitions become components, and references point to them.
import { type ZodType, z } from 'zod'

export type JsonSchema = { [keyword: string]: unknown }

/** The component schemas of one document. */
export interface Components {
  readonly schemas: Record<string, JsonSchema>
  /**
   * `io`: the form of a request ('input') or of an answer ('output'). `name`: the name of its component; without it the schema is
   * inlined. The first schema with a name wins.
   */
  schema(schema: ZodType, io: 'input' | 'output', name?: string): JsonSchema
}

export function components(): Components {
  const schemas: Record<string, JsonSchema> = {}
  return {
    schemas,
    schema(schema, io, name) {
      const reference = { $ref: `#/components/schemas/${name}` }
      if (name !== undefined && schemas[name] !== undefined) return reference
      const { $schema: _dialect, $defs = {}, ...own } = z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as JsonSchema
      const prefix = name ?? `Schema${Object.keys(schemas).length}`
      const names = new Map(
        Object.keys($defs as object).map((key) => [`#/$defs/${key}`, `#/components/schemas/${prefix}.${key}`]),
      )
      // A schema that contains itself needs a name to refer to.
      if (refersToRoot(own) || refersToRoot($defs)) names.set('#', `#/components/schemas/${prefix}`)
      for (const [key, definition] of Object.entries($defs as Record<string, JsonSchema>))
        schemas[`${prefix}.${key}`] = redirected(definition, names) as JsonSchema
      const result = redirected(own, names) as JsonSchema
      if (name === undefined && !names.has('#')) return result
      schemas[prefix] = result
      return { $ref: `#/components/schemas/${prefix}` }
    },
  }
}

function refersToRoot(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return (value as JsonSchema).$ref === '#' || Object.values(value).some(refersToRoot)
}

function redirected(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((item) => redirected(item, names))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === '$ref' && typeof inner === 'string' ? (names.get(inner) ?? inner) : redirected(inner, names),
    ]),
  )
}

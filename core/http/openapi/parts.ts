// OpenAPI parts that operations of both planes share.
import type { ZodType } from 'zod'
import type { Components, JsonSchema } from './components.ts'

export interface Described {
  path: string
  method: string
  operation: JsonSchema
}

/** Returns the error envelope for these statuses. */
export function errorResponses(statuses: readonly (number | 'default')[]): JsonSchema {
  return Object.fromEntries(statuses.map((status) => [String(status), { $ref: '#/components/responses/Error' }]))
}

export function requestBody(schema: JsonSchema, required: boolean, type = 'application/json'): JsonSchema {
  return { required, content: { [type]: { schema } } }
}

/** Without a schema the answer is not JSON, and its content type is open. */
export function answerOf(description: string, schema: JsonSchema | undefined): JsonSchema {
  return { description, content: schema === undefined ? { '*/*': {} } : { 'application/json': { schema } } }
}

export function pathParameters(path: string, schema: ZodType | undefined, shared: Components): JsonSchema[] {
  const known = schema === undefined ? {} : propertiesOf(shared.schema(schema, 'input'))
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: known[name as string] ?? { type: 'string' },
  }))
}

export function queryParameters(schema: ZodType | undefined, shared: Components): JsonSchema[] {
  if (schema === undefined) return []
  const object = shared.schema(schema, 'input')
  const required = (object.required ?? []) as string[]
  return Object.entries(propertiesOf(object)).map(([name, { description, ...inner }]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    ...(description === undefined ? {} : { description }),
    schema: inner,
  }))
}

function propertiesOf(object: JsonSchema): Record<string, JsonSchema> {
  return (object.properties ?? {}) as Record<string, JsonSchema>
}

/** `PATCH /api/keys/{id}` → `patchKeysById`. */
export function operationId(method: string, path: string): string {
  const words = path.replace(/^\/api\//, '/').split(/[^A-Za-z\d{}]+/)
  const named = words.map((word) => (word.startsWith('{') ? `By${capital(word.slice(1, -1))}` : capital(word)))
  return `${method.toLowerCase()}${named.join('')}`
}

function capital(word: string): string {
  return `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`
}

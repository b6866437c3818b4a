// The gateway's own document as a caller reads it: its operations, and whether an answer is what they promise.
import { createRequire } from 'node:module'
import type { TestGateway } from '../../adapters/testing/test-gateway.ts'
import type { Schema, Source } from './schema-arbitrary.ts'

interface Check {
  (value: unknown): boolean
  errors?: unknown
}

// The validator of the document brings it along: another implementation than the one that made the schemas.
const { Ajv2020 } = createRequire(import.meta.resolve('@seriousme/openapi-schema-validator'))('ajv/dist/2020.js') as {
  Ajv2020: new (options: object) => { addSchema(schema: object, key: string): void; compile(schema: object): Check }
}

export interface Parameter {
  name: string
  in: 'path' | 'query'
  required: boolean
  schema: Schema
}

export interface Operation {
  /** `POST /api/keys/{id}/rotate` */
  readonly name: string
  readonly method: string
  readonly path: string
  readonly success: number
  readonly parameters: readonly Parameter[]
  readonly body: Schema | null
  readonly bodyRequired: boolean
  /** True: it takes a multipart form only. */
  readonly isForm: boolean
  readonly security: readonly object[]
  readonly responses: Readonly<Record<string, Response>>
}

interface Response {
  readonly content?: Readonly<Record<string, { schema?: Schema }>>
  readonly $ref?: string
}

export interface Answer {
  status: number
  type: string
  text: string
}

export interface Reader {
  readonly document: Schema
  readonly operations: readonly Operation[]
  readonly source: Source
  accepts(schema: Schema, value: unknown): boolean
  /** What is wrong with an answer to this operation; null when nothing is. */
  complaint(operation: Operation, answer: Answer): string | null
}

export async function readerOf(t: Pick<TestGateway, 'fetch'>): Promise<Reader> {
  const document = (await (await t.fetch('/api/openapi.json')).json()) as Schema
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
  ajv.addSchema(document, 'api')
  const checks = new Map<string, Check>()
  const resolve = (reference: string): Schema =>
    reference
      .split('/')
      .slice(1)
      .reduce((at, step) => at[step.replaceAll('~1', '/').replaceAll('~0', '~')] as Schema, document)
  const check = (schema: Schema): Check => {
    const key = JSON.stringify(schema)
    const known = checks.get(key) ?? ajv.compile(absolute(schema) as object)
    checks.set(key, known)
    return known
  }
  return {
    document,
    operations: operationsOf(document),
    source: { resolve },
    accepts: (schema, value) => check(schema)(value),
    complaint(operation, { status, type, text }) {
      const found = operation.responses[status] ?? (status >= 400 ? operation.responses.default : undefined)
      if (found === undefined) return `the status ${status} is not documented: ${text.slice(0, 300)}`
      const { content = {} } = found.$ref === undefined ? found : (resolve(found.$ref) as unknown as Response)
      const documented = content[type] ?? (type === 'application/json' ? undefined : content['*/*'])
      if (documented === undefined) return `the type ${type} of ${status} is not documented`
      if (type !== 'application/json') return null
      if (documented.schema === undefined) return 'a JSON answer without a schema'
      const validate = check(documented.schema)
      return validate(JSON.parse(text)) ? null : `${JSON.stringify(validate.errors)} in ${text.slice(0, 500)}`
    },
  }
}

/** References of a schema that was taken out of its document. */
function absolute(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(absolute)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === '$ref' && typeof inner === 'string' && inner.startsWith('#') ? `api${inner}` : absolute(inner),
    ]),
  )
}

interface Described {
  parameters?: Parameter[]
  requestBody?: { required: boolean; content: Record<string, { schema: Schema }> }
  security?: object[]
  responses: Record<string, Response>
}

function operationsOf(document: Schema): Operation[] {
  return Object.entries(document.paths as Record<string, Record<string, Described>>).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters = [], requestBody, security = [], responses }]) => ({
      name: `${method.toUpperCase()} ${path}`,
      method: method.toUpperCase(),
      path,
      success: Number(Object.keys(responses).find((status) => status.startsWith('2'))),
      parameters,
      body: requestBody?.content['application/json']?.schema ?? null,
      bodyRequired: requestBody?.required ?? false,
      isForm: requestBody?.content['multipart/form-data'] !== undefined,
      security,
      responses,
    })),
  )
}

/** The path with its parameters filled in. */
export function pathOf({ path, parameters }: Operation, values: Readonly<Record<string, string>>): string {
  const filled = path.replace(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(values[name] ?? '1'))
  const query = parameters.filter((parameter) => parameter.in === 'query' && parameter.name in values)
  return query.length === 0
    ? filled
    : `${filled}?${query.flatMap(({ name }) => [values[name]].flat().map((value) => `${name}=${encodeURIComponent(value as string)}`)).join('&')}`
}

export async function asked(
  t: Pick<TestGateway, 'fetch'>,
  operation: Operation,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) }
  const response = await t.fetch(path, {
    method: operation.method,
    headers: { 'content-type': 'application/json', ...headers },
    ...sent,
  })
  const type = (response.headers.get('content-type') ?? '').split(';')[0] as string
  return { status: response.status, type, text: await response.text() }
}

// Builds OpenAPI 3.1 for both planes from the routes' own schemas.
import { z } from 'zod'
import type { ApiRoute } from '../types/plugin/plugin.ts'
import type { RouteTable } from './data-routes.ts'
import { apiOperations } from './openapi/api-operations.ts'
import { components, type JsonSchema } from './openapi/components.ts'
import { dataOperations } from './openapi/data-operations.ts'

export interface OpenApiSource {
  readonly version: string
  readonly profile: 'local' | 'cloud'
  readonly requireApiKey: boolean
  readonly api: readonly ApiRoute[]
  readonly data: RouteTable['entries']
}

const document = z.looseObject({
  openapi: z.string(),
  info: z.looseObject({ title: z.string(), version: z.string() }),
  paths: z.record(z.string(), z.record(z.string(), z.unknown())),
  components: z.record(z.string(), z.unknown()),
})
export type OpenApiDocument = z.output<typeof document>

/** Adds `GET /api/openapi.json`, which describes all routes. The document is built on first request. */
export function withOpenApi(routes: readonly ApiRoute[], about: Omit<OpenApiSource, 'api'>): readonly ApiRoute[] {
  let made: OpenApiDocument | null = null
  const own: ApiRoute = {
    method: 'GET',
    path: '/api/openapi.json',
    summary: 'This document: every route of both planes.',
    role: 'member',
    response: document,
    handler: () => {
      made ??= openApiDocument({ ...about, api })
      return made
    },
  }
  const api = [...routes, own]
  return api
}

export function openApiDocument({ version, profile, requireApiKey, api, data }: OpenApiSource): OpenApiDocument {
  const shared = components()
  const envelope = shared.schema(error, 'output', 'Error')
  const paths: Record<string, JsonSchema> = {}
  for (const { path, method, operation } of [
    ...dataOperations(data, requireApiKey, shared),
    ...apiOperations(api, profile, shared),
  ])
    paths[path] = { ...paths[path], [method.toLowerCase()]: operation }
  return {
    openapi: '3.1.0',
    info: { title: 'hookgate', version, description: 'The data plane under /v1 and /v1beta; the control plane is all else.' },
    paths,
    components: {
      schemas: shared.schemas,
      responses: { Error: { description: 'An error.', content: { 'application/json': { schema: envelope } } } },
      securitySchemes: SECURITY,
    },
  }
}

const error = z
  .looseObject({
    error: z.looseObject({
      message: z.string(),
      type: z.string(),
      param: z.string().nullable().describe('The field that is wrong, dotted.'),
      code: z.union([z.string(), z.int()]).nullable().describe('A word; on generate-content the HTTP status.'),
    }),
  })
  .describe('The shape of every error; a dialect may add members of its own.')

const SECURITY = {
  operator: {
    type: 'http',
    scheme: 'bearer',
    description:
      'A session token (POST /api/login) or a management token (`gmt_…`). While no password is set, clients on the gateway’s own machine need none.',
  },
  clientKey: { type: 'http', scheme: 'bearer', description: 'A client key (`gw_…`).' },
  clientKeyHeader: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'A client key, as Anthropic’s SDKs send it.' },
  clientKeyGoogle: {
    type: 'apiKey',
    in: 'header',
    name: 'x-goog-api-key',
    description: 'A client key, as Google’s SDKs send it.',
  },
  clientKeyQuery: { type: 'apiKey', in: 'query', name: 'key', description: 'A client key, as Google’s examples send it.' },
}

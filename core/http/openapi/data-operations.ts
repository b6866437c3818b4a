// Describes the data plane in OpenAPI: dialects' routes by their `docs`, plugins' routes by their schemas.
import type { RouteDoc } from '../../types/request/dialect.ts'
import type { RouteTable } from '../data-routes.ts'
import type { Components, JsonSchema } from './components.ts'
import { answerOf, type Described, errorResponses, operationId, pathParameters, queryParameters, requestBody } from './parts.ts'

type Entry = RouteTable['entries'][number]

const KEYS = ['clientKey', 'clientKeyHeader', 'clientKeyGoogle', 'clientKeyQuery']
const EVENTS = {
  'text/event-stream': { schema: { type: 'string', description: 'Events of the dialect, when the request asks for a stream.' } },
}

export function dataOperations(entries: RouteTable['entries'], requireApiKey: boolean, shared: Components): Described[] {
  return entries.flatMap((entry) => {
    const keys: JsonSchema[] = KEYS.map((name) => ({ [name]: [] }))
    const security = requireApiKey || entry.keyRequired ? keys : [...keys, {}]
    if (entry.dataRoute?.documented === false) return []
    if (entry.dialectRoute === null) return [ofPlugin(entry, security, shared)]
    return (entry.dialectRoute.docs ?? []).map((doc) => ofDialect(entry, doc, security, shared))
  })
}

/** The caller that a data-plane route needs: a client key, or none. */
function callerOf(security: readonly JsonSchema[]): 'client_key' | 'public' {
  return security.some((scheme) => Object.keys(scheme).length === 0) ? 'public' : 'client_key'
}

function ofDialect(entry: Entry, doc: RouteDoc, security: JsonSchema[], shared: Components): Described {
  const path = doc.path ?? entry.path
  const answer = answerOf('The answer.', shared.schema(doc.response, 'output', `${doc.name}Response`))
  const parameters = [...pathParameters(path, undefined, shared), ...queryParameters(doc.query, shared)]
  return {
    path,
    method: entry.method,
    operation: {
      operationId: operationId(entry.method, path),
      summary: doc.summary,
      tags: [entry.dialect],
      'x-role': callerOf(security),
      security,
      ...(parameters.length > 0 ? { parameters } : {}),
      requestBody: requestBody(shared.schema(doc.body, 'input', `${doc.name}Request`), true),
      responses: {
        200: doc.streamed ? { ...answer, content: { ...(answer.content as JsonSchema), ...EVENTS } } : answer,
        ...errorResponses(errorsOf(entry)),
      },
    },
  }
}

function ofPlugin(entry: Entry, security: JsonSchema[], shared: Components): Described {
  const { summary, body, response } = entry.operationRoute ?? entry.dataRoute ?? {}
  const template = (entry.operationRoute ?? entry.dataRoute)?.template
  const path = template ?? (entry.path.endsWith('*') ? `${entry.path.slice(0, -1)}{id}` : entry.path)
  const isForm = entry.operationRoute !== null && entry.operationRoute.decode === undefined
  const parameters = pathParameters(path, undefined, shared)
  return {
    path,
    method: entry.method,
    operation: {
      operationId: operationId(entry.method, path),
      ...(summary === undefined ? {} : { summary }),
      tags: [entry.operation],
      'x-role': callerOf(security),
      security,
      ...(parameters.length > 0 ? { parameters } : {}),
      ...(body
        ? { requestBody: requestBody(shared.schema(body, 'input'), true, isForm ? 'multipart/form-data' : undefined) }
        : {}),
      responses: {
        200: withEvents(entry, answerOf('The answer.', response && shared.schema(response, 'output'))),
        ...errorResponses(errorsOf(entry)),
      },
    },
  }
}

function withEvents({ operationRoute }: Entry, answer: JsonSchema): JsonSchema {
  return operationRoute?.streamed ? { ...answer, content: { ...(answer.content as JsonSchema), ...EVENTS } } : answer
}

function errorsOf({ method, models, path }: Entry): (number | 'default')[] {
  const sends = method === 'POST' ? [400, 413, 415] : []
  const calls = models === 'none' ? [] : [402, 502, 503, 504]
  const named = path.endsWith('*') ? [404] : []
  return [...new Set([...sends, 401, 403, ...named, 429, ...calls]), 'default']
}

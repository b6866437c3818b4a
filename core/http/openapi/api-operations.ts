// Describes the control plane in OpenAPI, from the schemas that validate its routes.
import type { ApiRoute } from '../../types/plugin/plugin.ts'
import { roleOf } from '../api-routes.ts'
import type { Components } from './components.ts'
import { answerOf, type Described, errorResponses, operationId, pathParameters, queryParameters, requestBody } from './parts.ts'

/** Leaves out routes of another profile: they are 404 here. */
export function apiOperations(routes: readonly ApiRoute[], profile: 'local' | 'cloud', shared: Components): Described[] {
  return routes.filter((route) => (route.profile ?? profile) === profile).map((route) => operationOf(route, shared))
}

function operationOf(route: ApiRoute, shared: Components): Described {
  const { method, summary, params, query, body, response, responses = {}, status = 200 } = route
  const path = templateOf(route.path)
  const role = roleOf(route)
  const parameters = [...pathParameters(path, params, shared), ...queryParameters(query, shared)]
  const special = Object.entries(responses).map(([code, schema]) => [
    code,
    answerOf('See the body.', shared.schema(schema, 'output')),
  ])
  return {
    path,
    method,
    operation: {
      operationId: operationId(method, path),
      summary,
      tags: [tagOf(path)],
      'x-role': role,
      ...(role === 'public' ? { security: [] } : { description: `Needs the role \`${role}\`.`, security: [{ operator: [] }] }),
      ...(parameters.length > 0 ? { parameters } : {}),
      // A missing body is an empty object.
      ...(body ? { requestBody: requestBody(shared.schema(body, 'input'), !body.safeParse({}).success) } : {}),
      responses: {
        [status]: answerOf('Done.', response && shared.schema(response, 'output')),
        ...errorResponses(errorsOf(route)),
        ...Object.fromEntries(special),
      },
    },
  }
}

function errorsOf(route: ApiRoute): (number | 'default')[] {
  const { method, params, query, body } = route
  const isPublic = roleOf(route) === 'public'
  const writes = method !== 'GET'
  return [
    ...(query || body ? [400] : []),
    ...(isPublic ? [] : [401]),
    ...(isPublic && !writes ? [] : [403]),
    ...(params ? [404] : []),
    ...(writes && !isPublic ? [409] : []),
    ...(body ? [413, 415] : []),
    'default',
  ]
}

/** `/api/keys/:id` → `/api/keys/{id}`; `/dl/**` → `/dl/{path}`. */
function templateOf(path: string): string {
  return path.replace(/\*\*(?::(\w+))?/g, (_all, name: string | undefined) => `{${name ?? 'path'}}`).replace(/:(\w+)/g, '{$1}')
}

function tagOf(path: string): string {
  const [first = '', second = ''] = path.split('/').filter((part) => part !== '')
  return (first === 'api' ? second : first).replace(/\.json$/, '')
}

// Which ids each route of the OpenAPI document takes, and how the routes are called with the ids of another organization.

import fc from 'fast-check'
import { expect } from 'vitest'
import { type Operation, type Reader, readerOf } from '../../support/openapi.ts'
import { fitting } from '../../support/schema-arbitrary.ts'
import { type Answer, type Org, operator, type Role, type World } from './world.ts'

/** Bodies that get past the schema, where the smallest one does not show whether the id is known. */
const BODIES: Readonly<Record<string, unknown>> = {
  'PUT /api/providers/{id}': { label: 'changed' },
  'PUT /api/virtual-models/{id}': { description: 'changed' },
  'PATCH /api/keys/{id}': { label: 'changed' },
  'PUT /api/budgets/{id}': { enabled: false },
  'POST /api/budgets/{id}/increase': { amount_usd: 1, expires_at: new Date(Date.now() + 86_400_000).toISOString() },
  'PUT /api/webhooks/endpoints/{id}': { enabled: false },
  'PUT /api/proxy-pools/{id}': { name: 'changed' },
}

/** Path parameters that name no row of an organization. */
const NO_ROW: Readonly<Record<string, string>> = {
  '/dl/{path}': 'release files are those of the whole gateway',
  '/api/advisor/confirm/{id}': 'needs a recommendation: test/plugins/advisor',
  '/api/advisor/rollback/{id}': 'needs a recommendation: test/plugins/advisor',
  '/api/oauth/{provider}/authorize': 'OAuth clients are those of the whole gateway',
  '/api/oauth/{provider}/exchange': 'OAuth clients are those of the whole gateway',
  '/api/oauth/{provider}/device': 'OAuth clients are those of the whole gateway',
  '/api/oauth/device/{session_id}/poll': 'needs a vendor: test/plugins/oauth-accounts',
  '/api/oauth/accounts/{id}': 'needs a vendor: test/plugins/oauth-accounts',
  '/api/oauth/accounts/{id}/refresh': 'needs a vendor: test/plugins/oauth-accounts',
  '/api/policy/{provider_id}': 'providers are those of the whole gateway, and so is their policy',
  '/api/pricing/drift/{id}/review': 'price changes belong to the whole gateway',
}

/** A name that is looked up for the caller, and no id. */
const MODEL = /\{model\}|^\/v1(beta)?\/models\//

/** Where the ids of a route stand, when not in the list at the path before the parameter. */
const LISTS: Readonly<Record<string, string>> = {
  '/v1/batches/{id}/cancel': '/v1/batches',
}
/** Stored objects are listed for administrators only. Behind `#` is the kind. */
const STORED: readonly (readonly [string, string])[] = [
  ['/v1/responses/', '/api/responses#response'],
  ['/v1/conversations/', '/api/responses#conversation'],
]

/** Ids of the other organization inside a body or a query. */
interface Reference {
  readonly name: string
  call(caller: Org, owner: Org, id: string): Promise<Answer>
  /** The list that has the ids. */
  readonly list: string
  readonly status: number
}

const manage = (org: Org) => org.as('manage')
export const REFERENCES: readonly Reference[] = [
  {
    name: 'POST /api/budgets entity_id of a key',
    list: '/api/keys',
    status: 404,
    call: (caller, _owner, id) =>
      manage(caller)('POST', '/api/budgets', { scope: 'key', entity_id: Number(id), window: 'daily', hard_limit_usd: 1 }),
  },
  {
    name: 'POST /api/budgets entity_id of a virtual model',
    list: '/api/virtual-models',
    status: 404,
    call: (caller, _owner, id) =>
      manage(caller)('POST', '/api/budgets', {
        scope: 'virtual_model',
        entity_id: Number(id),
        window: 'daily',
        hard_limit_usd: 1,
      }),
  },
  {
    name: 'POST /api/proxy-pools/assign proxy_id',
    list: '/api/proxy-pools',
    status: 404,
    call: async (caller, _owner, id) =>
      manage(caller)('POST', '/api/proxy-pools/assign', {
        proxy_id: Number(id),
        connection_id: Number((await idsAt(caller, '/api/providers'))[0]),
      }),
  },
  {
    name: 'POST /api/proxy-pools/assign connection_id',
    list: '/api/providers',
    status: 404,
    call: async (caller, _owner, id) =>
      manage(caller)('POST', '/api/proxy-pools/assign', {
        proxy_id: Number((await idsAt(caller, '/api/proxy-pools'))[0]),
        connection_id: Number(id),
      }),
  },
  {
    name: 'POST /api/quota/refresh connection_id',
    list: '/api/providers',
    status: 404,
    call: (caller, _owner, id) => manage(caller)('POST', '/api/quota/refresh', { connection_id: Number(id) }),
  },
  {
    name: 'POST /api/webhooks/deliveries/redeliver endpoint_id',
    list: '/api/webhooks/endpoints',
    status: 404,
    call: (caller, _owner, id) =>
      manage(caller)('POST', '/api/webhooks/deliveries/redeliver', { endpoint_id: id, since: new Date(0).toISOString() }),
  },
  {
    name: 'POST /api/virtual-models/reorder ids',
    list: '/api/virtual-models',
    status: 400,
    call: (caller, _owner, id) => manage(caller)('POST', '/api/virtual-models/reorder', { ids: [Number(id)] }),
  },
  {
    name: 'POST /api/playground/run as_key',
    list: '/api/keys',
    status: 404,
    call: (caller, _owner, id) =>
      manage(caller)('POST', '/api/playground/run', {
        dialect: 'chat',
        body: { model: `${caller.canary}/served`, messages: [{ role: 'user', content: 'hi' }] },
        as_key: Number(id),
      }),
  },
  {
    name: 'POST /api/virtual-models target connection_id',
    list: '/api/providers',
    status: 400,
    call: (caller, _owner, id) =>
      manage(caller)('POST', '/api/virtual-models', {
        name: 'pinned',
        strategy: 'failover',
        targets: [{ target: `${caller.canary}/served`, connection_id: Number(id) }],
      }),
  },
]

export interface IdRoute {
  readonly operation: Operation
  /** The list that has the ids. */
  readonly list: string
  readonly data: boolean
  readonly body: unknown
}

/** Splits the routes with a path parameter: those with ids of rows, and the others with a reason. */
export interface Walk extends Reader {
  /** Names of the routes of the gateway's administrators: closed to every role of an organization. */
  readonly closed: ReadonlySet<string>
}

/** Reads the document as the gateway's administrator. */
export async function walkOf({ t }: World): Promise<Walk> {
  const reader = await readerOf({ fetch: async (path, init) => asGateway(t, new Request(`http://gateway.test${path}`, init)) })
  const closed = t.gateway.api.filter(({ role }) => role === 'system')
  return { ...reader, closed: new Set(closed.map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`)) }
}

/** A call of the gateway's own administrator. */
export function asGateway({ gateway }: World['t'], request: Request): Response | Promise<Response> {
  return gateway.control.fetch(request, { address: null, local: true, secure: false, operator: operator(null, 'system') })
}

export function idRoutes(reader: Walk): { routes: IdRoute[]; others: string[] } {
  const routes: IdRoute[] = []
  const { operations, source, closed } = reader
  const others: string[] = []
  for (const operation of operations) {
    const { path, name } = operation
    if (!path.includes('{') || closed.has(name)) continue
    const reason = NO_ROW[path] ?? (MODEL.test(path) ? 'models are looked up for the caller' : undefined)
    if (reason !== undefined) {
      others.push(`${name}: ${reason}`)
      continue
    }
    const stored = STORED.find(([start]) => path.startsWith(start))?.[1]
    const list = stored ?? LISTS[path] ?? path.slice(0, path.indexOf('/{'))
    const body =
      BODIES[name] ??
      (operation.body === null ? undefined : fc.sample(fitting(operation.body, source), { numRuns: 1, seed: 1 })[0])
    routes.push({ operation, list, data: path.startsWith('/v1'), body })
  }
  return { routes, others }
}

export async function idsAt(org: Org, place: string): Promise<string[]> {
  const [list = '', kind] = place.split('#')
  const answer = list.startsWith('/v1') ? await org.call('GET', list) : await org.as('owner')('GET', list)
  if (answer.status !== 200) throw new Error(`GET ${list}: ${answer.status} ${answer.text}`)
  const { data } = JSON.parse(answer.text) as {
    data: { id?: string | number; object?: string; request_id?: string; user_id?: number }[]
  }
  if (data === undefined) throw new Error(`GET ${list} has no list: ${answer.text.slice(0, 300)}`)
  return data
    .filter(({ object }) => kind === undefined || object === kind)
    .map(({ id, request_id, user_id }) => String(request_id ?? id ?? user_id))
}

/** An id of the same form that does not exist. */
export function unknownLike(id: string): string {
  return /^\d+$/.test(id) ? '987654321' : `${id.slice(0, -6)}000000`
}

export function callWith({ operation, data, body }: IdRoute, org: Org, role: Role, id: string): Promise<Answer> {
  const path = operation.path.replace(/\{\w+\}/, encodeURIComponent(id))
  return data ? org.call(operation.method, path, body) : org.as(role)(operation.method, path, body)
}

/** The same status, and the same text but for the id. */
export function expectAlike(what: string, foreign: Answer, foreignId: string, unknown: Answer, unknownId: string): void {
  expect({ what, status: foreign.status, text: foreign.text.replaceAll(foreignId, '<id>') }).toEqual({
    what,
    status: unknown.status,
    text: unknown.text.replaceAll(unknownId, '<id>'),
  })
}

/** Everything that an organization can read without an id: all GET routes, with all parameters left out. */
export async function readings({ t }: World, { operations }: Reader, org: Org): Promise<{ name: string; text: string }[]> {
  const found: { name: string; text: string }[] = []
  for (const { method, path, parameters, name } of operations) {
    if (method !== 'GET' || path.includes('{') || path === '/api/events' || path === '/api/openapi.json') continue
    const needed = parameters.filter((parameter) => parameter.required)
    const query = needed.map((one) => `${one.name}=${encodeURIComponent(NEEDED[one.name] ?? 'x')}`).join('&')
    const at = query === '' ? path : `${path}?${query}`
    const roles = path.startsWith('/v1') ? [null] : (['member', 'owner'] as const)
    for (const role of roles) {
      const answer = role === null ? org.call('GET', at) : org.as(role)('GET', at)
      // A stream that meets a sealed value of another organization breaks off: it cannot be opened.
      const { text, status } = await answer.catch(() => ({ text: '', status: 0 }))
      found.push({ name: `${name} as ${role ?? 'key'} (${status})`, text })
    }
  }
  void t
  return found
}

const NEEDED: Readonly<Record<string, string>> = { model: 'openai/gpt-4o' }

/** By which an answer shows that it has something of this organization: its canary, and ids that nothing else has. */
export async function marksOf(reader: Walk, org: Org): Promise<string[]> {
  const lists = new Set(idRoutes(reader).routes.map(({ list }) => list))
  const ids: string[] = []
  for (const list of lists) ids.push(...(await idsAt(org, list)))
  return [org.canary, ...ids.filter((id) => !/^\d+$/.test(id))]
}

/** Names of the readings that show one of these marks. */
export function leaks(found: readonly { name: string; text: string }[], marks: readonly string[]): string[] {
  return found.filter(({ text }) => marks.some((mark) => text.includes(mark))).map(({ name }) => name)
}

// The grid role × route × method: each built-in route declares its role, and each caller gets what the grid says.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { callRoute } from '../../../core/http/api-routes.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { OperatorService } from '../../../core/services.ts'
// @ts-expect-error a script without types
import { READER } from '../../../scripts/api-document.mjs'
// @ts-expect-error a script without types
import { CALLERS, verdict } from '../../../scripts/role-grid.mjs'
import { readDoc } from '../../markdown.ts'
import { as, bearer, logIn, openTenants, type Session, signUp } from './support.ts'

type Caller = 'member' | 'manage' | 'owner' | 'system' | 'read' | 'client_key' | 'anonymous'

let t: TestGateway
let operators: OperatorService
const credentials = {} as Record<Caller, string | null>

beforeAll(async () => {
  const peek = definePlugin({
    name: 'peek',
    requires: ['operators'],
    setup(gateway) {
      operators = gateway.use('operators')
    },
  })
  t = await openTenants({ plugins: [peek()], env: { ADMIN_EMAILS: 'root@corp.example' } })
  const root = await signUp(t, 'root@corp.example')
  const owner = await signUp(t, 'owner@acme.example')
  for (const [role, email] of [
    ['member', 'member@acme.example'],
    ['admin', 'admin@acme.example'],
  ] as const) {
    const body = { email, password: 'correct horse battery staple', org_id: owner.org?.id, role }
    expect((await as(t, root)('POST', '/api/users', body)).status).toBe(201)
  }
  credentials.member = (await logIn(t, 'member@acme.example')).token
  credentials.manage = (await logIn(t, 'admin@acme.example')).token
  credentials.owner = owner.token
  credentials.system = root.token
  credentials.read = (await as(t, owner)<Session>('POST', '/api/tokens', { scope: 'read' })).body.token
  credentials.client_key = (await as(t, owner)<{ key: string }>('POST', '/api/keys', {})).body.key
  credentials.anonymous = null
})
afterAll(() => t.close())

const concrete = (path: string): string => path.replace(/:\w+/g, '1').replace(/\*+\w*/g, 'x')
const headersOf = (caller: Caller): Record<string, string> => {
  const credential = credentials[caller]
  return credential === null ? {} : bearer(credential)
}
const stranger = { address: '192.0.2.1', local: false, secure: true }

describe('the control plane', () => {
  it('has no route without a declared role', () => {
    expect(t.gateway.api.filter(({ role }) => role === undefined).map(({ method, path }) => `${method} ${path}`)).toEqual([])
  })

  it('shows the role of every operation in the OpenAPI document', async () => {
    const document = (await (
      await t.gateway.control.fetch(new Request('http://gateway.test/api/openapi.json'), READER)
    ).json()) as {
      paths: Record<string, Record<string, Record<string, unknown>>>
    }
    for (const [path, operations] of Object.entries(document.paths))
      for (const [method, operation] of Object.entries(operations))
        expect(operation['x-role'], `${method} ${path}`).toMatch(/^(?:public|member|manage|owner|system|client_key)$/)
    for (const { method, path, role } of t.gateway.api) {
      const template = path.replace(/\*\*(?::(\w+))?/g, (_all, name?: string) => `{${name ?? 'path'}}`).replace(/:(\w+)/g, '{$1}')
      expect(document.paths[template]?.[method.toLowerCase()]?.['x-role'], `${method} ${path}`).toBe(role)
    }
  })

  it.each(CALLERS as Caller[])('lets in or refuses %s as the grid says, on every route', async (caller) => {
    const rows = gridRows()
    for (const route of t.gateway.api) {
      const name = `${route.method} ${route.path}`
      const expected = verdict(caller, route.method, route.role) as string
      expect(rows.get(name)?.[CALLERS.indexOf(caller)], name).toBe(expected)
      const request = new Request(`http://gateway.test${concrete(route.path)}`, {
        method: route.method,
        headers: headersOf(caller),
      })
      if (expected === 'yes') {
        // The handler is left out: it may end the very sessions that are tested with.
        const { params: _params, query: _query, body: _body, ...open } = route
        const quiet = { ...open, audit: false as const, handler: () => new Response('let in') }
        const environment = { profile: 'local' as const, operators, audit: undefined, strict: false }
        const answer = await callRoute(quiet, request, {}, stranger, environment).catch(String)
        expect(typeof answer === 'string' ? answer : await answer.text(), name).toBe('let in')
      } else {
        const answer = await t.gateway.fetch(request, stranger)
        expect(answer.status, name).toBe(Number(expected))
      }
    }
  })

  it('lets in nothing without a role but for operators of the gateway', async () => {
    const undeclared = { method: 'GET', path: '/api/x', summary: '', handler: () => new Response('let in') } as const
    const call = (caller: Caller) =>
      callRoute(undeclared, new Request('http://gateway.test/api/x', { headers: headersOf(caller) }), {}, stranger, {
        profile: 'local',
        operators,
        audit: undefined,
        strict: false,
      }).then(
        ({ status }) => status,
        (error: unknown) => (GatewayError.is(error) ? error.status : 0),
      )
    expect(await Promise.all((CALLERS as Caller[]).map(call))).toEqual([403, 403, 403, 200, 403, 401, 401])
  })
})

describe('the data plane', () => {
  it('answers client keys and refuses every other caller', async () => {
    for (const entry of t.gateway.routes.entries) {
      const rest = entry.method === 'GET' ? 'm' : entry.operation === 'count_tokens' ? 'm:countTokens' : 'm:generateContent'
      const path = entry.path.replace(/\*$/, rest)
      for (const caller of CALLERS as Caller[]) {
        const body = entry.method === 'GET' ? undefined : '{}'
        const headers = { ...headersOf(caller), 'content-type': 'application/json' }
        const { status } = await t.fetch(path, { method: entry.method, headers, ...(body && { body }) })
        if (caller === 'client_key') expect([401, 403], `${caller} ${entry.method} ${path}`).not.toContain(status)
        // A path that no model has is 404 or 405 before the caller matters.
        else expect([401, 404, 405], `${caller} ${entry.method} ${path}`).toContain(status)
      }
    }
  })
})

/** The cells of each row of docs/roles.md. */
function gridRows(): Map<string, string[]> {
  const rows = readDoc('docs/roles.md').matchAll(/^\| `(\w+) ([^`]+)` \| (.*) \|$/gm)
  return new Map(
    [...rows].map(([, method, path, cells]) => [`${method} ${routePath(path as string)}`, (cells as string).split(' | ')]),
  )
}

function routePath(template: string): string {
  const found = t.gateway.api.find(
    ({ path }) =>
      path.replace(/\*\*(?::(\w+))?/g, (_all, name?: string) => `{${name ?? 'path'}}`).replace(/:(\w+)/g, '{$1}') === template,
  )
  return found?.path ?? template
}

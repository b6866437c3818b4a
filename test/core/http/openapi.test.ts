// Compares the OpenAPI document with the gateway: every route is called and answers as documented.
import { Validator } from '@seriousme/openapi-schema-validator'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { sql } from '../../../core/db/sql.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import { bearer, makeKey } from '../../plugins/keys/support.ts'
import { type Answer, asked, type Operation, pathOf, type Reader, readerOf } from '../../support/openapi.ts'
import { googleBody, OPERATIONS, PAGE } from '../../support/operation-bodies.ts'
import { fitting, type Schema, suspects } from '../../support/schema-arbitrary.ts'
import { members } from '../../support/schema-members.ts'
import { SENSIBLE } from '../../support/sensible-bodies.ts'
import { storedIds } from '../../support/stored-ids.ts'

const MODELS = ['echo/echo-1', 'chat/m', 'messages/m', 'responses/m', 'generate_content/m']

let t: TestGateway
let reader: Reader
let key: Record<string, string>
let logged: string
let batch: string
beforeAll(async () => {
  // Fetches nothing; a price change waits for a review.
  t = await createTestGateway({
    env: { PRICING_SYNC_ENABLED: 'false' },
    ports: { outboundPost: async () => ({ status: 500 }), readPage: async () => PAGE, simulate: async () => ({ text: '{}' }) },
  })
  await t.gateway.db?.run(
    sql`INSERT INTO pricing_drift (run_id, provider, model, field, old_nano, new_nano, detected_at) VALUES (1, 'p', 'm', 'input', 1, 2, 3)`,
  )
  await t.gateway.db?.run(
    sql`INSERT INTO pricing_runs (reason, status, started_at, finished_at, lease_until) VALUES ('start', 'ok', 1, 2, 3)`,
  )
  await t.post('/api/providers', { provider: 'echo' })
  await t.post('/api/providers', { provider: 'searxng', base_url: t.upstream.baseUrl('chat') })
  key = bearer((await makeKey(t)).key)
  logged = (await t.post('/v1/chat/completions', {})).headers.get('x-gateway-request-id') as string
  reader = await readerOf(t)
})
afterAll(() => t.close())

const isData = ({ path }: Operation) => path.startsWith('/v1/') || path.startsWith('/v1beta/')
/** The stream of live events never ends. */
const control = () => reader.operations.filter((operation) => !isData(operation) && operation.path !== '/api/events')
const data = () => reader.operations.filter((operation) => isData(operation) && !operation.isForm)

/** Objects only, because a schema without rules allows anything. */
function bodies({ body, name }: Operation, optional: boolean, model = MODELS[0]): fc.Arbitrary<object> {
  return fitting(body as Schema, { ...reader.source, optional }).map((made) => ({
    ...(typeof made === 'object' && made !== null && !Array.isArray(made) ? made : {}),
    ...(model === undefined ? {} : (SENSIBLE[name] ?? {})),
    ...(typeof made === 'object' && made !== null && 'model' in made && model !== undefined ? { model } : {}),
  }))
}

function first(operation: Operation, model?: string): object | undefined {
  return operation.body === null ? undefined : fc.sample(bodies(operation, false, model), { numRuns: 1, seed: 7 })[0]
}

/** Its receiver answers 500. */
async function failedDelivery(): Promise<string> {
  const made = await t.post('/api/webhooks/endpoints', SENSIBLE['POST /api/webhooks/endpoints'])
  const { id } = (await made.json()) as { id: string }
  Object.assign(SENSIBLE, { 'POST /api/webhooks/deliveries/redeliver': { endpoint_id: id, since: '2026-01-01T00:00:00Z' } })
  return ((await (await t.post(`/api/webhooks/endpoints/${id}/test`, {})).json()) as { id: string }).id
}

/** For an operation that never succeeds, add a line to SENSIBLE. */
function wrongWith(operation: Operation, answer: Answer): string[] {
  const complaint = reader.complaint(operation, answer)
  if (complaint !== null) return [`${operation.name}: ${complaint}`]
  return answer.status === operation.success ? [] : [`${operation.name}: ${answer.status} ${answer.text.slice(0, 300)}`]
}

describe('the document', () => {
  it('is OpenAPI 3.1', async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(reader.document))
    expect(errors).toBeUndefined()
    expect(valid).toBe(true)
    expect(reader.document.openapi).toBe('3.1.0')
  })

  it('has every route of both planes, each under an id of its own', () => {
    const template = (path: string) => path.replace(/\*\*/g, '{path}').replace(/:(\w+)/g, '{$1}')
    const names = reader.operations.map(({ name }) => name)
    for (const { method, path } of t.gateway.api) expect(names).toContain(`${method} ${template(path)}`)
    for (const { method, path, dataRoute } of t.gateway.routes.entries) {
      // A WebSocket is no operation of OpenAPI.
      if (dataRoute?.documented === false) continue
      const stem = path.endsWith('*') ? `${path.slice(0, -1)}{` : path
      const documented = dataRoute?.template ?? stem
      const found = names.some((name) => name.startsWith(`${method} ${documented}`))
      expect(found, path).toBe(true)
    }
    const ids = JSON.stringify(reader.document).match(/"operationId":"[^"]+"/g) ?? []
    expect(ids).toHaveLength(names.length)
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('says who may call, and is not for strangers itself', async () => {
    const stranger = { address: '203.0.113.5', local: false, secure: true }
    expect((await t.gateway.fetch(new Request('http://gateway.test/api/openapi.json'), stranger)).status).toBe(401)
    const securityOf = (name: string) => reader.operations.find((operation) => operation.name === name)?.security
    expect(securityOf('GET /healthz')).toEqual([])
    expect(securityOf('POST /api/keys')).toEqual([{ operator: [] }])
    expect(securityOf('POST /v1/messages')).toContainEqual({})
    expect(securityOf('POST /v1/messages')).toContainEqual({ clientKeyHeader: [] })
  })

  it('asks for a key everywhere once keys are required', async () => {
    const strict = await createTestGateway({ env: { REQUIRE_API_KEY: 'true' } })
    const own = await readerOf(strict)
    for (const operation of own.operations.filter(isData)) expect(operation.security, operation.name).not.toContainEqual({})
    await strict.close()
  })

  it('leaves out what this profile does not have, and names a schema that holds itself', async () => {
    const { z } = await import('zod')
    type Tree = { name: string; children: Tree[] }
    const tree: import('zod').ZodType<Tree> = z.lazy(() => z.strictObject({ name: z.string(), children: z.array(tree) }))
    const forest = definePlugin({
      name: 'forest',
      setup(gateway) {
        const response = tree
        const handler = (): Tree => ({ name: 'root', children: [{ name: 'leaf', children: [] }] })
        gateway.api({ method: 'GET', path: '/api/forest', summary: 'A tree.', response, handler })
        gateway.api({ method: 'GET', path: '/api/elsewhere', summary: 'Not here.', profile: 'cloud', response, handler })
      },
    })
    const own = await createTestGateway({ plugins: [forest()] })
    const read = await readerOf(own)
    const operation = read.operations.find(({ path }) => path === '/api/forest') as Operation
    expect(read.operations.map(({ path }) => path)).not.toContain('/api/elsewhere')
    expect(read.complaint(operation, await asked(own, operation, '/api/forest'))).toBeNull()
    expect(read.complaint(operation, { status: 200, type: 'application/json', text: '{"name":1}' })).toMatch(/children/)
    expect((await new Validator().validate(read.document)).errors).toBeUndefined()
    await own.close()
  })
})

describe('the control plane', () => {
  it('answers every route as documented: what is made, then shown, changed and taken away', async () => {
    const rank = ({ method, path }: Operation): number => {
      if (method === 'DELETE') return 4 - path.split('/').length / 100
      return ['POST', 'GET', 'PUT', 'PATCH'].indexOf(method) + (method === 'POST' && path.includes('{') ? 2.5 : 0)
    }
    const made = new Map([
      ['/api/webhooks/deliveries', await failedDelivery()],
      ['/api/responses', (await storedIds(t)).response],
    ])
    const complaints: string[] = []
    for (const operation of [...control()].sort((a, b) => rank(a) - rank(b))) {
      // 404 without an identity provider.
      if (operation.path.startsWith('/api/auth/oidc/')) continue
      // They need a recommendation, or programs, hosts and files of the machine.
      if (/^\/api\/(?:tunnel\/enable|mitm\/|advisor\/(?:apply|confirm|rollback))|^\/dl\//.test(operation.path)) continue
      // They need a vendor: test/plugins/oauth-accounts has one, and checks the answers against their schemas.
      if (operation.path.startsWith('/api/oauth/') && operation.method !== 'GET') continue
      const collection = operation.path.split('/{')[0] as string
      const ids = { id: made.get(collection) ?? '1', provider_id: 'openai', request_id: logged, all: 'true' }
      const path = pathOf(operation, operation.path === '/api/rate-limits' ? { ...ids, key_id: '1' } : ids)
      const answer = await asked(t, operation, path, first(operation))
      complaints.push(...wrongWith(operation, answer))
      if (operation.method === 'POST' && answer.status === 201)
        made.set(operation.path, String((JSON.parse(answer.text) as { id: unknown }).id))
    }
    expect(complaints).toEqual([])
  })

  it('answers every body that the document allows as documented, and never with 500', async () => {
    for (const operation of control().filter(({ body }) => body !== null)) {
      await fc.assert(
        fc.asyncProperty(bodies(operation, true), fc.constantFrom('1', '2', '3', '999'), async (body, id) => {
          const answer = await asked(t, operation, pathOf(operation, { id }), body)
          expect(reader.complaint(operation, answer), operation.name).toBeNull()
          expect(answer.status, `${operation.name} ${JSON.stringify(body)}: ${answer.text}`).toBeLessThan(500)
        }),
        { numRuns: 25, seed: 11 },
      )
    }
  })

  it('refuses every wrong member with 400 and its name, whatever is wrong with it', async () => {
    let refused = 0
    for (const operation of control().filter(({ body }) => body !== null)) {
      const valid = first(operation) as Record<string, unknown>
      for (const { path, schema, set } of members(reader.source, operation.body as Schema, valid)) {
        const wrong = [...suspects(schema), ...fc.sample(fc.jsonValue(), { numRuns: 20, seed: refused })]
        for (const value of wrong.filter((candidate) => !reader.accepts(schema, candidate))) {
          const answer = await asked(t, operation, pathOf(operation, {}), set(value))
          expect(answer.status, `${operation.name} ${path} = ${JSON.stringify(value)?.slice(0, 100)}: ${answer.text}`).toBe(400)
          expect(paramOf(answer.text)?.split('.')[0], `${operation.name}: ${answer.text}`).toBe(path.split('.')[0])
          refused++
        }
      }
    }
    expect(refused).toBeGreaterThan(300)
  })

  it('refuses a member nobody knows, and what is no object', async () => {
    for (const operation of control().filter(({ body }) => body !== null)) {
      const path = pathOf(operation, {})
      const extra = await asked(t, operation, path, { ...first(operation), unheard_of: 1 })
      expect([extra.status, paramOf(extra.text)], `${operation.name}: ${extra.text}`).toEqual([400, 'unheard_of'])
      for (const body of [[], 'text', 1, null, [{}]]) {
        const answer = await asked(t, operation, path, body)
        expect(answer.status, `${operation.name} ${JSON.stringify(body)}: ${answer.text}`).toBe(400)
      }
    }
  })

  it('refuses a query member that does not fit, by name', async () => {
    for (const operation of control()) {
      for (const { name, schema } of operation.parameters.filter((parameter) => parameter.in === 'query')) {
        // A single value of a list is a list of one.
        const meant = (value: string) => ((schema as Schema).type === 'array' ? [value] : value)
        const wrong = ['', 'x', '-1', '1.5', '99999999999999999999', '\u0000'].filter(
          (value) => !reader.accepts(schema, meant(value)),
        )
        for (const value of wrong) {
          const answer = await asked(t, operation, pathOf(operation, { [name]: value }))
          expect([answer.status, paramOf(answer.text)], `${operation.name}?${name}=${value}`).toEqual([400, name])
        }
      }
    }
  })
})

describe('the data plane', () => {
  // Calls to the control plane may have disabled or revoked the first key, and held connections back.
  beforeAll(async () => {
    for (const id of [1, 2]) await t.fetch(`/api/providers/${id}/locks`, { method: 'DELETE' })
    key = bearer((await makeKey(t)).key)
    const requests = [{ custom_id: 'a', body: { model: 'echo/echo-1', messages: [] } }]
    batch = ((await (await t.post('/v1/batches', { requests }, key)).json()) as { id: string }).id
  })

  it('answers every route as documented, whoever is behind it', async () => {
    const complaints: string[] = []
    const { response, background, conversation, item } = await storedIds(t, key)
    const idOf = ({ path }: Operation): string | undefined => {
      if (path.startsWith('/v1/batches')) return batch
      if (path.startsWith('/v1/conversations')) return conversation
      if (path.startsWith('/v1/responses')) return path.endsWith('/cancel') ? background : response
      return undefined
    }
    // Things are deleted last, items before their conversation.
    const rank = ({ method, path }: Operation): number => (method === 'DELETE' ? 2 - path.split('/').length / 100 : 0)
    for (const operation of [...data()].sort((a, b) => rank(a) - rank(b))) {
      const models = OPERATIONS.test(operation.path) ? MODELS.slice(1) : MODELS
      for (const model of operation.body === null ? [MODELS[0]] : models) {
        const path = pathOf(operation, {
          model: model as string,
          id: idOf(operation) ?? (model as string),
          item_id: item,
        })
        const answer = await asked(t, operation, path, sensibleCall(operation, model as string), key)
        complaints.push(...wrongWith(operation, answer))
      }
    }
    expect(complaints).toEqual([])
  })

  it('answers whatever the document allows as documented, streams and refusals too', async () => {
    for (const operation of data().filter(({ body }) => body !== null)) {
      await fc.assert(
        fc.asyncProperty(fc.constantFrom(...MODELS), fc.gen(), async (model, pick) => {
          const path = pathOf(operation, { model, ...(pick(fc.boolean) ? { alt: 'sse' } : {}) })
          const answer = await asked(
            t,
            operation,
            path,
            pick(() => bodies(operation, true, model)),
            key,
          )
          expect(reader.complaint(operation, answer), operation.name).toBeNull()
          expect(answer.status, `${operation.name}: ${answer.text}`).not.toBe(500)
        }),
        { numRuns: 40, seed: 13, endOnFailure: true },
      )
    }
  })
})

/** A conversation, which random members do not produce. */
function sensibleCall(operation: Operation, model: string): object | undefined {
  if (operation.body === null) return undefined
  const user = { role: 'user', content: 'Hi' }
  if (/^\/v1beta|:\w+$/.test(operation.path)) return googleBody(operation.path)
  if (operation.path === '/v1/responses' || /\/(?:input_tokens|compact)$/.test(operation.path)) return { model, input: 'Hi' }
  if (operation.path.startsWith('/v1/conversations')) return { items: [user], metadata: { a: 'b' } }
  if (operation.path === '/v1/completions') return { model, prompt: 'Hi' }
  if (operation.path.startsWith('/v1/messages') || operation.path === '/v1/chat/completions') return { model, messages: [user] }
  if (operation.path === '/v1/batches') return { requests: [{ custom_id: 'a', body: { model, messages: [user] } }] }
  if (operation.path === '/v1/search') return { query: 'Hi', provider: 'searxng' }
  const body = first(operation, model)
  return OPERATIONS.test(operation.path) ? { ...body, model } : body
}
const paramOf = (text: string): string | null => (JSON.parse(text) as { error: { param: string | null } }).error.param

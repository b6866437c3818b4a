// Restrictions of a key on every data-plane route. The table is the route registry: a route that declares a scope and ignores it fails
// here, and so does a listed route without one.
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { globMatch } from '../../../core/text/glob.ts'
import { OPERATION_BODIES, OPERATION_FORMS } from '../../support/operation-bodies.ts'
import { ask, bearer, errorOf, gatewayWithKeys, makeKey } from './support.ts'

interface Case {
  readonly path: string
  readonly scope: string
  /** Path and body with `model`. */
  readonly call: (model: string) => { path: string; body: unknown }
}

const BODIES: Record<string, (model: string) => unknown> = {
  '/v1/chat/completions': ask,
  '/v1/messages': (model) => ({ ...ask(model), max_tokens: 5 }),
  '/v1/messages/count_tokens': ask,
  '/v1/responses': (model) => ({ model, input: 'hi' }),
  '/v1/responses/input_tokens': (model) => ({ model, input: 'hi' }),
  ...OPERATION_BODIES,
  ...OPERATION_FORMS,
}
const GENERATE = { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] }
const STORED = /^\/v1\/(responses\/(resp_)?\*|conversations)/
/** The scope of each route, if the route exists. */
const SPEC_SCOPES: [RegExp, string][] = [
  // Stored objects have no model to allow.
  [STORED, 'rate'],
  [/^\/v1\/batches\/\*$/, 'none'],
  [/^\/v1\/(chat\/completions|completions|messages|responses|embeddings|images|audio|moderations|rerank|ocr|search)/, 'model'],
  // Its items are checked one by one: see test/operations/batches.test.ts.
  [/^\/v1\/batches$/, 'rate'],
  [/^\/v1(beta)?\/.*\*$/, 'model'],
  [/^\/v1\/web\/fetch$/, 'rate'],
]

describe('per-key scoping', () => {
  let t: TestGateway
  let cases: Case[]
  beforeAll(async () => {
    t = await gatewayWithKeys()
    cases = t.gateway.routes.entries
      .filter(({ scope, method }) => scope === 'model' && method === 'POST')
      .map(({ path, scope }) => ({
        path,
        scope,
        call: (model) => {
          if (path.endsWith('*')) return { path: `${path.slice(0, -1)}${model}:generateContent`, body: GENERATE }
          const body = BODIES[path]
          if (body === undefined) throw new Error(`${path} is scoped and has no body in this test: add one.`)
          return { path, body: body(model) }
        },
      }))
  })
  afterAll(() => t.close())
  const send = (one: Case, model: string, key: string) => {
    const { path, body } = one.call(model)
    if (body instanceof FormData) return t.fetch(path, { method: 'POST', body, headers: bearer(key) })
    return t.post(path, body, bearer(key))
  }

  it('every data-plane route declares which key restrictions apply to it', () => {
    for (const { path, method, scope } of t.gateway.routes.entries) {
      const listed = method === 'POST' || STORED.test(path) ? SPEC_SCOPES.find(([pattern]) => pattern.test(path)) : undefined
      if (listed !== undefined) expect(scope, `${method} ${path}`).toBe(listed[1])
      else expect(scope, `${method} ${path} is not in the list`).toBe('none')
    }
    expect(cases.length).toBeGreaterThanOrEqual(5)
  })

  it('a model outside the allow-list is 403 on each, and never reaches an upstream', async () => {
    const { key } = await makeKey(t, { allowed_models: ['chat/allowed*'] })
    for (const one of cases) {
      const before = t.upstream.requests.length
      const refused = await errorOf(await send(one, 'chat/other', key))
      expect(refused, one.path).toMatchObject({ status: 403, type: 'permission_error', code: null })
      expect(t.upstream.requests.length, one.path).toBe(before)
      expect((await send(one, 'chat/allowed-1', key)).status, one.path).toBe(200)
    }
  })

  it('more models for an upstream that is a gateway itself are 403 on each, with an allow-list only', async () => {
    const { key } = await makeKey(t, { allowed_models: ['chat/allowed*'] })
    const free = await makeKey(t)
    for (const one of cases) {
      const { path, body } = one.call('chat/allowed-1')
      if (body instanceof FormData) continue
      for (const [name, value] of [
        ['models', ['chat/other']],
        ['fallbacks', [{ 'chat/allowed-1': ['chat/other'] }]],
        ['m\\u006fdels', ['chat/other']],
      ] as const) {
        const before = t.upstream.requests.length
        const text = JSON.stringify({ ...(body as object), [name]: value }).replace('\\\\', '\\')
        const headers = { 'content-type': 'application/json', ...bearer(key) }
        const refused = await errorOf(await t.fetch(path, { method: 'POST', body: text, headers }))
        expect([path, refused.status, refused.type]).toEqual([path, 403, 'permission_error'])
        expect(t.upstream.requests.length, path).toBe(before)
      }
      for (const models of [null, []])
        expect((await t.post(path, { ...(body as object), models }, bearer(key))).status, path).not.toBe(403)
    }
    expect((await t.post('/v1/chat/completions', { ...ask('chat/m'), models: ['chat/other'] }, bearer(free.key))).status).toBe(
      200,
    )
  })

  it('over rpm is 429 on each', async () => {
    for (const one of cases) {
      const { key } = await makeKey(t, { rate_limit_rpm: 1 })
      expect((await send(one, 'chat/m', key)).status, one.path).toBe(200)
      const refused = await send(one, 'chat/m', key)
      expect(refused.headers.get('retry-after'), one.path).toMatch(/^[1-9]\d*$/)
      expect(await errorOf(refused), one.path).toMatchObject({ status: 429, type: 'rate_limit_error', code: 'rate_limited' })
    }
  })

  it('over tpm is 429 on each, counted in what the calls used', async () => {
    for (const one of cases) {
      const { key } = await makeKey(t, { rate_limit_tpm: 1 })
      const settled = t.settled.length
      expect((await t.post('/v1/chat/completions', ask('chat/m'), bearer(key))).status).toBe(200)
      await t.untilSettled(settled + 1)
      const refused = await send(one, 'chat/m', key)
      expect(refused.headers.get('x-ratelimit-limit-tokens'), one.path).toBe('1')
      expect(refused.status, one.path).toBe(429)
    }
  })

  it('a revoked key is 401 on each', async () => {
    const { key, id } = await makeKey(t)
    await t.fetch(`/api/keys/${id}`, { method: 'DELETE' })
    for (const one of cases) expect((await send(one, 'chat/m', key)).status, one.path).toBe(401)
  })

  it('the string as sent decides: no trimming, folding, decoding or prefix helps (K5)', async () => {
    const { key } = await makeKey(t, { allowed_models: ['chat/a'] })
    const other = [
      'chat/A',
      'CHAT/a',
      ' chat/a',
      'chat/a ',
      'models/chat/a',
      'chat/\uFF41',
      'chat/a\u200b',
      `chat/${'a'.repeat(250)}`,
    ]
    const impossible = [
      ...['chat%2Fa', 'chat%252Fa', 'chat/../chat/a', 'chat/a#', 'chat/a?', 'chat//a', 'chat/a\u0000'],
      `chat/${'a'.repeat(10_240)}`,
    ]
    const status = async (model: string) => (await t.post('/v1/chat/completions', ask(model), bearer(key))).status
    for (const trick of other) expect(await status(trick), JSON.stringify(trick)).toBe(403)
    for (const trick of impossible) expect(await status(trick), JSON.stringify(trick)).toBe(400)
    expect((await t.post('/v1/chat/completions', ask('chat/a'), bearer(key))).status).toBe(200)
  })

  it('property: what the list refuses makes no upstream call, what it allows reaches its own model', async () => {
    const { key } = await makeKey(t, { allowed_models: ['chat/?', 'messages/x*'] })
    const model = fc.oneof(
      fc
        .tuple(fc.constantFrom('chat', 'messages', 'nobody'), fc.string({ minLength: 1, maxLength: 5 }))
        .map(([a, b]) => `${a}/${b}`),
      fc.string({ minLength: 1, maxLength: 12 }),
    )
    await fc.assert(
      fc.asyncProperty(model, async (name) => {
        const before = t.upstream.requests.length
        const response = await t.post('/v1/chat/completions', ask(name), bearer(key))
        await response.arrayBuffer()
        const allowed = ['chat/?', 'messages/x*'].some((glob) => globMatch(glob, name))
        const calls = t.upstream.requests.slice(before)
        if (!allowed) expect(calls).toHaveLength(0)
        for (const call of calls) expect(call.json.model).toBe(name.slice(name.indexOf('/') + 1))
      }),
      { numRuns: 300, seed: 20261121 },
    )
  })

  it('fields of the body steer no address and no credential (K12)', async () => {
    const { key } = await makeKey(t)
    const injected = {
      ...ask('chat/m'),
      api_base: 'http://127.0.0.1:9/',
      base_url: 'http://127.0.0.1:9/',
      api_key: 'sk-injected',
      extra_headers: { authorization: 'Bearer sk-injected' },
    }
    expect((await t.post('/v1/chat/completions', injected, bearer(key))).status).toBe(200)
    const sent = t.upstream.requests.at(-1)
    expect(JSON.stringify(sent?.headers)).not.toContain('sk-injected')
    expect(JSON.stringify(sent?.headers)).not.toContain(key)
  })
})

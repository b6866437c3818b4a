// Inputs meant to hurt: the control plane's twin of the data plane's fuzz tests.
import { connect } from 'node:net'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestGateway, type TestGateway } from '../../adapters/testing/test-gateway.ts'
import { sql } from '../../core/db/sql.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import { globMatch } from '../../core/text/glob.ts'
import { ask, bearer, errorOf, makeKey } from '../plugins/keys/support.ts'
import { expectWithin, timed } from '../support/in-time.ts'

let t: TestGateway
beforeAll(async () => {
  t = await createTestGateway()
})
afterAll(() => t.close())

describe('SQL in every text (A6)', () => {
  const INJECTIONS = [
    "'; DROP TABLE keys; --",
    "' OR '1'='1",
    '" OR 1=1 --',
    "x'); DELETE FROM connections; --",
    '$1; SELECT pg_sleep(10)',
    'a?b?c',
    "\\'; --",
    '1 UNION SELECT mac FROM keys',
  ]
  it('is stored and shown as it was sent, and runs nowhere', async () => {
    for (const text of INJECTIONS) {
      const made = await makeKey(t, { label: text, cost_center: text, allowed_models: [text, 'chat/*'] })
      expect(made).toMatchObject({ label: text, cost_center: text, allowed_models: [text, 'chat/*'] })
      const connection = await t.post('/api/providers', {
        provider: 'openai',
        label: text,
        api_key: 'sk-1',
        default_model: text,
        base_url: 'http://127.0.0.1:9/v1',
      })
      expect(connection.status).toBe(201)
      expect(((await connection.json()) as { label: string }).label).toBe(text)
      expect((await t.post('/v1/chat/completions', ask(text), bearer(made.key))).status).toBeGreaterThanOrEqual(400)
      expect((await t.post('/v1/chat/completions', ask('chat/m'), bearer(text))).status).toBe(200)
    }
    const count = await t.gateway.db?.get<{ n: number }>(sql`SELECT COUNT(*) AS n FROM keys`)
    expect(count?.n).toBe(INJECTIONS.length)
  })

  it('in every filter of logs, usage, prices and deliveries finds nothing, and runs nowhere', async () => {
    await (await t.post('/v1/chat/completions', ask('chat/m'))).arrayBuffer()
    const FILTERS = [
      ...['provider', 'model', 'source', 'virtual_model', 'session_id', 'user_id', 'cost_center', 'q'].map(
        (name) => `/api/logs?${name}=`,
      ),
      '/api/pricing/resolve?q=',
      '/api/webhooks/deliveries?endpoint_id=',
    ]
    for (const injection of INJECTIONS) {
      // Somebody else's request may have named the very text.
      const text = `${injection} nobody`
      for (const path of FILTERS) {
        const response = await t.fetch(path + encodeURIComponent(text))
        expect([response.status, await response.json()], `${path}${text}`).toEqual([200, { data: [], next_cursor: null }])
      }
      for (const path of ['/api/reports?group_by=', '/api/usage?since=', '/api/usage/timeseries?group_by=', '/api/logs?cursor='])
        expect((await t.fetch(path + encodeURIComponent(text))).status, `${path}${text}`).toBe(400)
    }
    expect(((await (await t.fetch('/api/logs')).json()) as { data: [] }).data.length).toBeGreaterThan(0)
  })
})

describe('shapes (D4, D5)', () => {
  const send = (body: string) => t.post('/api/keys', body)
  it.each([
    ['nothing that is JSON', '{"label":'],
    ['a list', '[]'],
    ['a text', '"x"'],
    ['null', 'null'],
    ['a member twice', '{"label":"a","label":"b"}'],
    ['depth beyond 128', `{"metadata":${'['.repeat(200)}${']'.repeat(200)}}`],
    ['100,000 levels', `{"label":${'['.repeat(100_000)}`],
  ])('%s is 400', async (_name, body) => {
    expect(await errorOf(await send(body))).toMatchObject({ status: 400, type: 'invalid_request_error' })
  })

  it('a body over 2 MiB is 413', async () => {
    expect(await errorOf(await send(JSON.stringify({ label: 'x'.repeat(2 * 1024 * 1024) })))).toMatchObject({
      status: 413,
      code: 'request_too_large',
    })
  })

  it('prototype members pollute nothing, on any route that writes', async () => {
    const bodies = [
      '{"__proto__":{"polluted":1}}',
      '{"constructor":{"prototype":{"polluted":1}}}',
      '{"metadata":{"__proto__":{"polluted":1}}}',
    ]
    for (const path of [
      '/api/keys',
      '/api/providers',
      '/api/budgets',
      '/api/webhooks/endpoints',
      '/api/settings',
      '/api/pricing/overrides',
    ])
      for (const body of bodies) {
        const response = await t.fetch(path, {
          method: ['/api/settings', '/api/pricing/overrides'].includes(path) ? 'PUT' : 'POST',
          headers: { 'content-type': 'application/json' },
          body,
        })
        expect(response.status, `${path} ${body}`).toBe(400)
        expect(({} as { polluted?: number }).polluted).toBeUndefined()
      }
  })

  it('property: whatever JSON comes, a write route answers 201 or 4xx with an envelope, never 5xx', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('/api/keys', '/api/providers', '/api/budgets', '/api/webhooks/endpoints'),
        fc.json({ maxDepth: 4 }),
        async (path, body) => {
          const response = await t.post(path, body)
          expect([201, 400, 409]).toContain(response.status)
          if (response.status !== 201) expect(await errorOf(response)).toMatchObject({ type: 'invalid_request_error' })
          else await response.arrayBuffer()
        },
      ),
      { numRuns: 300, seed: 1121 },
    )
  })
})

describe('time (D6, D7)', () => {
  it('forty stars against two thousand characters are matched in a few milliseconds', async () => {
    const pattern = `${'*a'.repeat(40)}b`
    await expectWithin(50, () => timed(() => expect(globMatch(pattern, 'a'.repeat(2001))).toBe(false)))
  })

  it('a hundred connections that never finish their headers do not keep healthz waiting, and are closed', async () => {
    const { port } = await t.listen()
    const sockets = Array.from({ length: 100 }, () => {
      const socket = connect(port, '127.0.0.1')
      socket.on('error', () => {})
      socket.write('POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nx-slow: ')
      return socket
    })
    const asked = async () => expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200)
    for (let i = 0; i < 20; i++) await expectWithin(1000, () => timed(asked))
    for (const socket of sockets) socket.destroy()
  })
})

describe('a bug in a route (L6)', () => {
  it('is 500 with one sentence: no stack, no path, no text of the error', async () => {
    const broken = definePlugin({
      name: 'broken',
      setup(gateway) {
        gateway.api({
          method: 'GET',
          path: '/api/broken',
          summary: 'Throws.',
          handler: () => {
            throw new Error('secret-detail at /srv/app/main.ts')
          },
        })
      },
    })
    const own = await createTestGateway({ plugins: [broken()] })
    const response = await own.fetch('/api/broken')
    const body = await response.text()
    expect(response.status).toBe(500)
    expect(JSON.parse(body)).toMatchObject({ error: { type: 'api_error', code: 'internal_error' } })
    expect(body).not.toMatch(/secret-detail|\/srv|\.ts|at /)
    await own.close()
  })
})

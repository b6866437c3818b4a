// /api/logs: parameters, detail, export, deletion, and isolation of organizations.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fail, text } from '../../../adapters/testing/script.ts'
import type { TestGateway } from '../../../adapters/testing/test-gateway.ts'
import type { logQuery } from '../../../plugins/request-log/filters.ts'
import { type TestPostgres, testPostgres, whyNoPostgres } from '../../support/postgres.ts'
import { errorOf } from '../sign-in/support.ts'
import { ask, detail, loggingGateway, logs } from './support.ts'

const missing = await whyNoPostgres()

/** Each parameter of the schema must have one. */
const WRONG: Record<keyof typeof logQuery.shape, string[]> = {
  limit: ['0', '201', '1.5', 'x', ''],
  cursor: ['x', 'WzFd', 'W10', 'WyJhIiwxXQ', ''],
  since: ['yesterday', '2026-13-01', '2026-01-01T00:00:00', ''],
  until: ['1', ''],
  provider: ['', 'a,,b', 'a%00', `${'x'.repeat(300)}`],
  model: ['', Array.from({ length: 51 }, (_, n) => `m${n}`).join(',')],
  source: [''],
  status: ['x', '600', '6xx', '200,x', 'ok', ''],
  key_id: ['x', '0', '-1', '1,x', ''],
  virtual_model: [''],
  session_id: [''],
  user_id: [''],
  cost_center: [''],
  cached: ['1', 'yes', ''],
  free_pool: ['maybe'],
  min_latency_ms: ['-1', 'x'],
  min_cost_usd: ['-1', 'x', '1e3'],
  q: ['', '%00'],
}

describe.each([
  ['SQLite', null],
  ['PostgreSQL', missing],
])('on %s', (engine, absent) => {
  let t: TestGateway
  let server: TestPostgres | null = null
  let ids: string[]
  beforeAll(async () => {
    if (absent !== null) return
    if (engine === 'PostgreSQL') server = await testPostgres()
    t = await loggingGateway({
      env: server === null ? {} : { DATABASE_URL: server.url, MASTER_KEY: randomBytes(32).toString('base64') },
      upstream: [text('one'), text('two'), fail(400, { message: 'no such tool' }), text('four')],
    })
    ids = []
    for (const model of ['chat/a', 'messages/b', 'chat/a', 'responses/c']) {
      const response = await t.post('/v1/chat/completions', ask(model))
      ids.push(response.headers.get('x-gateway-request-id') as string)
    }
  })
  afterAll(async () => {
    if (absent !== null) return
    await t.close()
    await server?.drop()
  })

  describe.skipIf(absent !== null)('the list', () => {
    it('has the newest first, at once, page by page', async () => {
      const whole = await logs(t)
      expect(whole.data.map(({ request_id }) => request_id)).toEqual([...ids].reverse())
      expect(whole.next_cursor).toBeNull()
      const first = await logs(t, '?limit=3')
      const second = await logs(t, `?limit=3&cursor=${first.next_cursor}`)
      expect([...first.data, ...second.data]).toEqual(whole.data)
      expect(second.next_cursor).toBeNull()
    })

    it('takes several values by comma and by repetition', async () => {
      const providers = async (query: string) => (await logs(t, query)).data.map(({ provider }) => provider)
      expect(await providers('?provider=chat')).toEqual(['chat', 'chat'])
      expect(await providers('?provider=messages,responses')).toEqual(['responses', 'messages'])
      expect(await providers('?provider=messages&provider=responses')).toEqual(['responses', 'messages'])
      expect(await providers('?provider=chat&status=error&status=500')).toEqual(['chat'])
    })

    it('names the parameter that is wrong', async () => {
      for (const [name, values] of Object.entries(WRONG))
        for (const value of values) {
          const { status, param } = await errorOf(await t.fetch(`/api/logs?${name}=${value}`))
          expect([status, param], `${name}=${value.slice(0, 50)}`).toEqual([400, name])
        }
      expect(await errorOf(await t.fetch('/api/logs?provider=chat&colour=red'))).toMatchObject({ status: 400, param: 'colour' })
      // The first value is checked like the last.
      expect(await errorOf(await t.fetch('/api/logs?status=x&status=200'))).toMatchObject({ status: 400, param: 'status' })
      expect(await errorOf(await t.fetch('/api/logs?limit=1&limit=2'))).toMatchObject({ status: 400, param: 'limit' })
    })

    it('has its facets', async () => {
      expect(await (await t.fetch('/api/logs/facets')).json()).toEqual({
        providers: ['chat', 'messages', 'responses'],
        models: ['a', 'b', 'c'],
        sources: ['api'],
      })
    })
  })

  describe.skipIf(absent !== null)('one request', () => {
    it('is shown with its attempts and exported as a file', async () => {
      const shown = await detail(t, ids[0] as string)
      expect(shown.attempts).toEqual([
        {
          n: 1,
          role: null,
          provider: 'chat',
          connection_id: expect.any(String),
          model: 'a',
          started_at: expect.stringMatching(/Z$/),
          latency_ms: expect.any(Number),
          ttft_ms: null,
          waited_ms: null,
          wire_format: 'chat',
          lane: 'bytes',
          cause: null,
          status: 200,
          error: null,
          action: 'returned',
          skipped: null,
          tokens: { prompt: shown.tokens.prompt, completion: shown.tokens.completion },
          cost_usd: null,
        },
      ])
      const response = await t.fetch(`/api/logs/${ids[0]}/export`)
      expect(response.headers.get('content-disposition')).toBe(`attachment; filename="log-${ids[0]}.json"`)
      expect(await response.json()).toEqual(shown)
    })

    it('that is not there, or is another organization’s, is 404', async () => {
      const stranger = { actor: 'x', orgId: 5, role: 'manage', readOnly: false, auth: 'host' } as const
      const peer = { address: null, local: null, secure: true, operator: stranger }
      for (const path of [`/api/logs/${ids[0]}`, `/api/logs/${ids[0]}/export`]) {
        const request = new Request(`http://gateway.test${path}`)
        expect((await t.gateway.control.fetch(request, peer)).status).toBe(404)
      }
      const removal = new Request(`http://gateway.test/api/logs/${ids[0]}`, { method: 'DELETE' })
      expect((await t.gateway.control.fetch(removal, peer)).status).toBe(404)
      const list = await t.gateway.control.fetch(new Request('http://gateway.test/api/logs'), peer)
      expect(await list.json()).toEqual({ data: [], next_cursor: null })
      const names = await t.gateway.control.fetch(new Request('http://gateway.test/api/logs/facets'), peer)
      expect(await names.json()).toEqual({ providers: [], models: [], sources: [] })
      for (const id of ['1', 'req_', 'req_00000000-0000-7000-8000-000000000000'])
        expect((await t.fetch(`/api/logs/${id}`)).status).toBe(404)
    })

    it('is removed for good, which is audited', async () => {
      const [id] = ids
      expect(await (await t.fetch(`/api/logs/${id}`, { method: 'DELETE' })).json()).toEqual({ deleted: true })
      expect((await t.fetch(`/api/logs/${id}`, { method: 'DELETE' })).status).toBe(404)
      expect((await t.fetch(`/api/logs/${id}`)).status).toBe(404)
      expect((await logs(t)).data).toHaveLength(3)
      const audited = (await (await t.fetch('/api/audit?action=log.delete')).json()) as { data: { target: string }[] }
      expect(audited.data.map(({ target }) => target)).toEqual([id])
    })
  })
})

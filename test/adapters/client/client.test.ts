// The typed client: by address and in process, with lists, events and errors.
import { afterEach, describe, expect, it } from 'vitest'
import { createClient, type HookgateClient, HookgateError } from '../../../adapters/client/index.ts'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/index.ts'

let t: TestGateway
afterEach(() => t.close())

const WAYS: [string, () => Promise<HookgateClient>][] = [
  ['in process', async () => createClient({ gateway: t.gateway })],
  ['by address', async () => createClient({ baseURL: `http://127.0.0.1:${(await t.listen()).port}/` })],
]

async function chats(count: number): Promise<void> {
  const before = t.settled.length
  for (let i = 0; i < count; i++) await (await t.post('/v1/chat/completions', CHAT)).text()
  await t.untilCommitted(before + count)
}
const CHAT = { model: 'chat/m', messages: [{ role: 'user', content: 'hi' }] }

describe.each(WAYS)('%s', (way, connect) => {
  it('creates, reads, changes and deletes', async () => {
    t = await createTestGateway()
    const client = await connect()
    const made = await client.post('/api/budgets', {
      body: { scope: 'org', window: 'daily', hard_limit_usd: 5 },
    })
    expect(made).toMatchObject({ scope: 'org', hard_limit_usd: 5 })
    const path = { id: made.id }
    const changed = await client.put('/api/budgets/{id}', { path, body: { hard_limit_usd: 7 } })
    expect(changed).toMatchObject({ id: made.id, hard_limit_usd: 7 })
    expect((await client.get('/api/budgets')).data.map(({ hard_limit_usd }) => hard_limit_usd)).toEqual([7])
    await client.delete('/api/budgets/{id}', { path: { id: made.id } })
    expect((await client.get('/api/budgets')).data).toEqual([])
  })

  it('yields every row of a list over several pages, each once', async () => {
    t = await createTestGateway()
    const client = await connect()
    await chats(5)
    await expect.poll(async () => (await client.get('/api/logs')).data.length).toBe(5)
    const seen: string[] = []
    for await (const row of client.list('/api/logs', { query: { limit: 2 } })) seen.push(row.request_id)
    expect(seen).toHaveLength(5)
    expect(new Set(seen)).toEqual(new Set(t.settled.map(({ ctx }) => ctx.id)))
  })

  it('lists what has no pages', async () => {
    t = await createTestGateway()
    const ids: string[] = []
    for await (const provider of (await connect()).list('/api/providers')) ids.push(provider.provider)
    expect(ids.sort()).toEqual(['chat', 'generate_content', 'messages', 'responses'])
  })

  it('returns answers that are not JSON as they are', async () => {
    t = await createTestGateway()
    const response = await (await connect()).response('get', '/api/audit/export', { query: { limit: 1 } })
    expect(response.headers.get('content-type')).toContain('ndjson')
    await response.body?.cancel()
  })

  it('throws the refusal with its status, code, field and request id', async () => {
    t = await createTestGateway()
    const client = await connect()
    const refused = await client
      .post('/api/budgets', { body: { scope: 'org', window: 'daily', hard_limit_usd: -5 } })
      .catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(HookgateError)
    expect(refused).toMatchObject({ status: 400, param: 'hard_limit_usd', requestId: expect.stringMatching(/^req_/) })
    expect((refused as HookgateError).message).toContain('hard_limit_usd')
    await expect(client.get('/api/budgets/{id}', { path: { id: 4711 } })).rejects.toMatchObject({ status: 404 })
  })

  it('refuses a token that is unknown', async () => {
    t = await createTestGateway({ env: { DASHBOARD_PASSWORD: 'correct horse battery' } })
    const token = 'not-a-token'
    const { port } = await t.listen()
    const options = way === 'in process' ? { gateway: t.gateway, token } : { baseURL: `http://127.0.0.1:${port}`, token }
    await expect(createClient(options).get('/api/settings')).rejects.toMatchObject({ status: 401 })
  })

  it('follows live events and goes on behind the last one', async () => {
    t = await createTestGateway()
    const client = await connect()
    const events = client.events()
    expect((await events.next()).value).toMatchObject({ event: 'hello' })
    await chats(2)
    const first = (await events.next()).value
    if (first?.event !== 'request') throw new Error('no request')
    expect(first.data).toMatchObject({ request_id: t.settled[0]?.ctx.id, status: 200 })
    await events.return(undefined)
    const later = client.events({ lastEventId: first.id as string })
    await later.next()
    expect((await later.next()).value).toMatchObject({ event: 'request', data: { request_id: t.settled[1]?.ctx.id } })
    await later.return(undefined)
  })
})

describe('in process', () => {
  it('has the rights of the operator that it is given', async () => {
    t = await createTestGateway()
    const operator = { actor: 'dana', orgId: null, role: 'member', readOnly: true, auth: 'host' } as const
    const client = createClient({ gateway: t.gateway, operator })
    expect((await client.get('/api/budgets')).data).toEqual([])
    await expect(
      client.post('/api/budgets', { body: { scope: 'org', window: 'daily', hard_limit_usd: 5 } }),
    ).rejects.toMatchObject({ status: 403 })
  })

  it('ends the events with the gateway', async () => {
    t = await createTestGateway()
    const events = createClient({ gateway: t.gateway }).events()
    await events.next()
    const end = events.next()
    await t.gateway.drain(0)
    expect(await end).toEqual({ done: true, value: undefined })
  })
})

describe('by address', () => {
  it('connects again where a stream broke, with the id of its last event', async () => {
    t = await createTestGateway()
    const seen: (string | null)[] = []
    const pauses: number[] = []
    const stop = new AbortController()
    const client = createClient({
      baseURL: 'http://gateway.test',
      async fetch(request) {
        seen.push(request.headers.get('last-event-id'))
        if (seen.length === 2) throw new TypeError('fetch failed')
        if (seen.length === 4) stop.abort()
        const at = seen.length
        return new Response(`: ping\r\n\r\nid: ${at}\r\nevent: state\r\ndata: {"kind":"reload",\r\ndata: "id":"${at}"}\r\n\r\n`)
      },
    })
    const clock = { sleep: async (ms: number) => void pauses.push(ms) }
    const ids: (string | null)[] = []
    for await (const { id, event } of client.events({ clock, signal: stop.signal })) {
      expect(event).toBe('state')
      ids.push(id)
    }
    expect(seen).toEqual([null, '1', '1', '3'])
    expect(ids.slice(0, 2)).toEqual(['1', '3'])
    expect(pauses.slice(0, 2)).toEqual([250, 1000])
  })

  it('names a gateway that does not answer, and keeps the cause', async () => {
    t = await createTestGateway()
    const { port } = await t.listen()
    await t.close()
    const gone = await createClient({ baseURL: `http://127.0.0.1:${port}` })
      .get('/api/settings')
      .catch((error: unknown) => error)
    expect(gone).toMatchObject({ status: 0, code: 'unreachable', message: 'GET /api/settings: the gateway does not answer.' })
    expect((gone as Error).cause).toBeInstanceOf(Error)
  })

  it('does not follow a redirect with its token', async () => {
    t = await createTestGateway()
    const modes: string[] = []
    const client = createClient({
      baseURL: 'http://gateway.test/llm',
      token: 'secret',
      async fetch(request) {
        modes.push(`${request.url} ${request.redirect} ${request.headers.get('authorization')}`)
        return new Response(null, { status: 302, headers: { location: 'http://elsewhere.test/' } })
      },
    })
    await expect(client.get('/api/settings')).rejects.toMatchObject({ status: 302, message: 'GET /api/settings: 302' })
    expect(modes).toEqual(['http://gateway.test/llm/api/settings manual Bearer secret'])
  })

  it('passes an abort on as it is, and refuses wrong arguments', async () => {
    t = await createTestGateway()
    const client = createClient({ baseURL: `http://127.0.0.1:${(await t.listen()).port}` })
    await expect(client.get('/api/settings', { signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow('enough')
    await expect(client.get('/api/budgets/{id}', { path: { id: '' } })).rejects.toThrow('path.id')
    expect(() => createClient({ baseURL: 'gateway:8788' })).toThrow('baseURL')
  })
})

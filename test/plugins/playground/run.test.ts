// POST /api/playground/run: a real request, its lanes, whom it counts for, and what it costs others: nothing.
import { afterEach, describe, expect, it } from 'vitest'
import { frames, hang, text } from '../../../adapters/testing/script.ts'
import { createTestGateway, type TestGateway, type TestGatewayOptions } from '../../../adapters/testing/test-gateway.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import { systemClock } from '../../../core/timing/clock.ts'
import { makeKey, ask as question } from '../keys/support.ts'

interface Event {
  event: string
  // biome-ignore lint/suspicious/noExplicitAny: each lane has its own shape
  data: any
}

let t: TestGateway
afterEach(() => t.close())
const start = async (options: TestGatewayOptions = {}) => {
  t = await createTestGateway(options)
}
const run = (body: object, init: RequestInit = {}) =>
  t.fetch('/api/playground/run', {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
    ...init,
  })
function eventsIn(text: string): Event[] {
  return text
    .split('\n\n')
    .filter((frame) => frame !== '')
    .map((frame) => {
      const [, event = '', data = ''] = /^event: (\w+)\ndata: (.*)$/.exec(frame) ?? []
      return { event, data: JSON.parse(data) as unknown }
    })
}
const lanes = async (body: object): Promise<Event[]> => {
  const response = await run(body)
  expect(response.status, await response.clone().text()).toBe(200)
  return eventsIn(await response.text())
}
const of = (events: readonly Event[], name: string) => events.filter(({ event }) => event === name).map(({ data }) => data)
const joined = (list: readonly { text?: string }[]) => list.map(({ text = '' }) => text).join('')
const chat = (more: object = {}) => ({ dialect: 'chat', body: { ...question('chat/m'), ...more } })

describe('/api/playground/run', () => {
  it('streams what was sent, what went up, what came back and what the caller gets', async () => {
    await start({ upstream: [text('pong')] })
    const body = { model: 'chat/m', max_tokens: 5, messages: [{ role: 'user', content: 'ping' }] }
    const events = await lanes({ dialect: 'messages', body })
    expect(events[0]).toEqual({ event: 'sent', data: { dialect: 'messages', body } })
    const [upstream] = of(events, 'upstream')
    expect(upstream).toMatchObject({
      call: 1,
      method: 'POST',
      body: { model: 'm', messages: [{ role: 'user', content: 'ping' }] },
    })
    expect(upstream.url).toBe(`${t.upstream.baseUrl('chat')}/chat/completions`)
    expect(upstream.headers.authorization).toBe('***')
    const [head, ...raw] = of(events, 'raw')
    expect(head).toEqual({ call: 1, status: 200 })
    expect(JSON.parse(joined(raw))).toMatchObject({ choices: [{ message: { content: 'pong' } }] })
    const [answer, ...delivered] = of(events, 'delivered')
    expect(answer).toMatchObject({ status: 200, headers: { 'content-type': expect.stringContaining('application/json') } })
    expect(JSON.parse(joined(delivered))).toMatchObject({ type: 'message', content: [{ type: 'text', text: 'pong' }] })
    const done = events.at(-1) as Event
    expect(done.event).toBe('done')
    expect(done.data).toMatchObject({
      request_id: answer.headers['x-gateway-request-id'],
      status: 200,
      error: null,
      attempts: [{ provider: 'chat', model: 'm', status: 200, action: 'returned' }],
    })
    const hooks = of(events, 'hook')
    expect(hooks.map(({ hook }) => hook)).toEqual(expect.arrayContaining(['resolve', 'candidates', 'settle']))
    for (const one of hooks) expect(one).toEqual({ ...one, plugin: expect.any(String), us: expect.any(Number), failed: false })
    expect(JSON.stringify(events)).not.toContain('sk-upstream')
    await t.untilCommitted(1)
    const { data } = (await (await t.fetch('/api/logs')).json()) as { data: { request_id: string; source: string }[] }
    expect(data).toMatchObject([{ request_id: done.data.request_id, source: 'playground' }])
  })

  it('shows a stream chunk by chunk, and every call of a panel', async () => {
    await start({ upstream: [text('one two')] })
    const streamed = await lanes(chat({ stream: true }))
    expect(of(streamed, 'raw').length).toBeGreaterThan(1)
    expect(joined(of(streamed, 'delivered'))).toMatch(/^data: [\s\S]*\[DONE\]\s*$/)
    await t.post('/api/virtual-models', { name: 'panel', strategy: 'fusion', targets: ['chat/a', 'messages/b'] })
    const panel = await lanes({ dialect: 'chat', body: question('panel') })
    expect(of(panel, 'upstream').map(({ call }) => call)).toEqual([1, 2, 3])
    expect((panel.at(-1) as Event).data).toMatchObject({ virtual_model: 'panel', status: 200 })
  })

  it('acts as a key: its allow-list refuses inside the stream, its use counts, and the run is audited without the prompt', async () => {
    await start({ env: { REQUIRE_API_KEY: 'true' }, upstream: [text('pong')] })
    const { id } = await makeKey(t, { allowed_models: ['chat/other'], label: 'ci' })
    const refused = await lanes({ ...chat(), as_key: id })
    expect(of(refused, 'upstream')).toEqual([])
    const [head, ...body] = of(refused, 'delivered')
    expect(head.status).toBe(403)
    expect(JSON.parse(joined(body))).toMatchObject({ error: { message: expect.stringContaining('may not use the model') } })
    expect((refused.at(-1) as Event).data).toMatchObject({ status: 403, attempts: [] })
    const allowed = await lanes({ dialect: 'chat', body: question('chat/other'), as_key: id })
    expect((allowed.at(-1) as Event).data.status).toBe(200)
    expect(t.settled.at(-1)?.ctx.principal).toMatchObject({ keyId: id, label: 'ci' })
    // An operator needs no key.
    expect(((await lanes(chat())).at(-1) as Event).data.status).toBe(200)
    expect(t.settled.at(-1)?.ctx.principal).toMatchObject({ keyId: null })
    const { data } = (await (await t.fetch('/api/audit')).json()) as { data: { action: string; target: string }[] }
    const runs = data.filter(({ action }) => action === 'playground.run')
    expect(runs.map(({ target }) => target).sort()).toEqual([String(id), String(id), 'operator'].sort())
    expect(JSON.stringify(runs)).not.toContain('"hi"')
  })

  it('shows refusals of the data plane as the caller sees them, and refuses wrong ids itself', async () => {
    await start()
    expect((await run({ ...chat(), as_key: 999 })).status).toBe(404)
    expect((await run({ dialect: 'cobol', body: {} })).status).toBe(400)
    const wrong = await lanes({ dialect: 'chat', body: { model: 'chat/m', messages: 'x' } })
    expect((wrong.at(-1) as Event).data).toMatchObject({ status: 400, error: { param: 'messages' } })
    const pathless = await lanes({ dialect: 'generate_content', body: {} })
    expect((pathless.at(-1) as Event).data).toMatchObject({ status: 400, error: { param: 'model' } })
  })

  it('cancels the request when the reader leaves', async () => {
    await start({ upstream: [hang()] })
    const response = await run(chat())
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    let seen = ''
    while (!seen.includes('event: upstream')) seen += new TextDecoder().decode((await reader.read()).value)
    await reader.cancel()
    await t.untilSettled(1)
    expect(t.settled[0]?.outcome).toMatchObject({ status: 499, aborted: true })
  })

  it('streams over a real connection, and ends with it', async () => {
    await start({ upstream: [hang()] })
    const { port } = await t.listen()
    const leaving = new AbortController()
    const response = await fetch(`http://127.0.0.1:${port}/api/playground/run`, {
      method: 'POST',
      body: JSON.stringify(chat()),
      headers: { 'content-type': 'application/json' },
      signal: leaving.signal,
    })
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/)
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    let seen = ''
    while (!seen.includes('event: upstream')) seen += new TextDecoder().decode((await reader.read()).value)
    leaving.abort()
    await t.untilSettled(1)
    expect(t.settled[0]?.outcome).toMatchObject({ status: 499, aborted: true })
  })

  it('keeps its plugins while the configuration is reloaded', async () => {
    let ended = false
    const end = (): void => {
      ended = true
    }
    const probe = definePlugin({ name: 'probe', setup: () => end })
    await start({ plugins: [probe()], upstream: [hang()] })
    const response = await run(chat())
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    let seen = ''
    while (!seen.includes('event: upstream')) seen += new TextDecoder().decode((await reader.read()).value)
    await t.gateway.reload({ connections: { echo: { provider: 'echo' } } })
    await new Promise((resolve) => setImmediate(resolve))
    expect(ended).toBe(false)
    await reader.cancel()
  })

  it('hides a credential that an upstream echoes in pieces', async () => {
    await start({ upstream: [frames(['data: {"choices":[{"delta":{"content":"sk-up', 'stream"}}]}\n\n', 'data: [DONE]\n\n'])] })
    const events = await lanes(chat({ stream: true }))
    expect(joined(of(events, 'raw'))).toContain('***')
    expect(joined(of(events, 'raw'))).not.toContain('sk-upstream')
  })

  it('measures nothing for other requests, and keeps the plugins as they are', async () => {
    const seen: string[] = []
    const probe = definePlugin({
      name: 'probe',
      setup(gateway) {
        gateway.hook('request', (ctx) => void seen.push(ctx.source))
      },
    })
    let reads = 0
    const monotonic = (): number => {
      reads++
      return systemClock.monotonic()
    }
    await start({ plugins: [probe()], upstream: [text('pong')], ports: { clock: { ...systemClock, monotonic } } })
    const { hooks } = t.gateway
    const readsOf = async (ask: () => Promise<unknown>): Promise<number> => {
      const before = reads
      const settled = t.settled.length
      await ask()
      await t.untilSettled(settled + 1)
      return reads - before
    }
    const plain = async () => (await t.post('/v1/chat/completions', question('chat/m'))).text()
    await plain()
    const first = await readsOf(plain)
    // Each traced hook reads the clock twice, and some thirty run.
    expect(await readsOf(() => lanes(chat()))).toBeGreaterThan(first + 30)
    expect(await readsOf(plain)).toBeLessThan(first + 10)
    expect(t.gateway.hooks).toBe(hooks)
    expect(seen).toEqual(['api', 'api', 'playground', 'api'])
  })
})

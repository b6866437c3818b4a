// Tool results on their way to an upstream, from callers of all dialects; everything else stays as it was said.
import { afterEach, describe, expect, it } from 'vitest'
import { createTestGateway, fail, type TestGateway, text } from '../../../adapters/testing/index.ts'
import type { Dialect } from '../../../core/types/request/canonical.ts'
import { shorten } from '../../../plugins/token-saver/shorten.ts'
import { DIALECTS } from '../../support/dialects.ts'
import { OUTPUTS } from './outputs.ts'

const open: TestGateway[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

const LONG = OUTPUTS['a log']!.text
const SHORT = shorten(LONG, new Set())!.text
const inJson = (value: string) => JSON.stringify(value).slice(1, -1)

async function gateway(settings: object = { filters_enabled: true }, upstream = [text('ok')]): Promise<TestGateway> {
  const t = await createTestGateway({ upstream, config: { settings: { token_saver: settings } } } as never)
  open.push(t)
  return t
}

/** A history with one call and its result. */
function history(dialect: Dialect, model: string, result: string, { stream = false, said = 'Hi' } = {}) {
  if (dialect === 'chat') {
    const call = { id: 'call_1', type: 'function', function: { name: 'sh', arguments: '{}' } }
    const messages = [
      { role: 'user', content: said },
      { role: 'assistant', content: said, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_1', content: result },
    ]
    return { path: '/v1/chat/completions', body: { model, stream, messages } }
  }
  if (dialect === 'messages') {
    const messages = [
      { role: 'user', content: said },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'sh', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: result }] }] },
    ]
    return { path: '/v1/messages', body: { model, stream, max_tokens: 100, messages } }
  }
  if (dialect === 'responses') {
    const input = [
      { role: 'user', content: said },
      { type: 'function_call', call_id: 'call_1', name: 'sh', arguments: '{}' },
      { type: 'function_call_output', call_id: 'call_1', output: result },
    ]
    return { path: '/v1/responses', body: { model, stream, input } }
  }
  const contents = [
    { role: 'user', parts: [{ text: said }] },
    { role: 'model', parts: [{ functionCall: { name: 'sh', args: {} } }] },
    { role: 'user', parts: [{ functionResponse: { name: 'sh', response: { output: result } } }] },
  ]
  return { path: `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`, body: { contents } }
}

async function sent(t: TestGateway, { path, body }: { path: string; body: object }, headers = {}): Promise<string> {
  const response = await t.post(path, body, headers)
  expect(response.status, await response.text()).toBe(200)
  return t.upstream.requests.at(-1)!.text
}

describe.each(DIALECTS)('a %s caller’s tool result', (caller) => {
  it.each([false, true])('is shortened for every upstream (stream: %s)', async (stream) => {
    const t = await gateway()
    for (const upstream of DIALECTS) {
      const body = await sent(t, history(caller, `${upstream}/m`, LONG, { stream }))
      expect(body, upstream).toContain(inJson(SHORT))
      expect(body, upstream).not.toContain(inJson(LONG))
    }
  })
})

describe('it is shortened', () => {
  it('in the strings of a result that is an object', async () => {
    const t = await gateway()
    const { path, body } = history('generate_content', 'generate_content/m', '')
    const contents = (body as { contents: { parts: object[] }[] }).contents
    const response = { stdout: LONG, code: 1, lines: [LONG], note: 'short' }
    contents[2]!.parts = [{ functionResponse: { name: 'sh', response } }]
    await sent(t, { path, body })
    const { contents: got } = t.upstream.requests[0]!.json as { contents: { parts: Record<string, { response: unknown }>[] }[] }
    expect(got[2]!.parts[0]!.functionResponse!.response).toEqual({ stdout: SHORT, code: 1, lines: [SHORT], note: 'short' })
    const asText = { stdout: SHORT, code: 1, lines: [SHORT], note: 'short' }
    const elsewhere = await sent(t, { path: path.replace('generate_content/m', 'chat/m'), body })
    expect(elsewhere).toContain(inJson(JSON.stringify(asText)))
  })

  it('with every turn to the same bytes, so that a cached prefix is found again', async () => {
    const t = await gateway()
    const { path, body } = history('chat', 'chat/m', LONG)
    const messages = (body as unknown as { messages: object[] }).messages
    await sent(t, { path, body })
    await sent(t, {
      path,
      body: { ...body, messages: [...messages, { role: 'assistant', content: 'ok' }, { role: 'user', content: 'go on' }] },
    })
    const [first, second] = t.upstream.requests.map(({ json }) => json.messages as object[])
    expect(second!.slice(0, 3)).toEqual(first)
    expect(JSON.stringify(first)).toContain(inJson(SHORT))
  })

  it('for every attempt, and counted once', async () => {
    const t = await gateway({ filters_enabled: true }, [fail(503), text('ok')])
    const targets = ['messages', 'chat'].map((provider) => ({ provider, model: 'm' }))
    expect((await t.post('/api/virtual-models', { name: 'both', strategy: 'failover', targets })).status).toBe(201)
    await sent(t, history('chat', 'both', LONG))
    expect(t.upstream.requests.map(({ text }) => text.includes(inJson(SHORT)))).toEqual([true, true])
    await t.untilSettled()
    const bytes_saved = LONG.length - new TextEncoder().encode(SHORT).length
    expect(t.settled[0]!.ctx.notes).toEqual({ token_saver: { filters: ['dedup-log'], bytes_saved } })
    const { data } = await filters(t)
    expect(data.filter(({ stats }) => stats.hits > 0)).toMatchObject([{ id: 'dedup-log', stats: { hits: 1, bytes_saved } }])
  })
})

it('guardrails have read the whole output before it is shortened', async () => {
  const settings = { token_saver: { filters_enabled: true }, guardrails: { enabled: true, pii: { mode: 'redact' } } }
  const t = await createTestGateway({ upstream: [text('ok')], config: { settings } } as never)
  open.push(t)
  const mail = 'ada@example.com'
  const body = await sent(t, history('chat', 'chat/m', `${LONG}\n10:00:41 mail to ${mail}`))
  expect(body).toContain('heartbeat (×50)')
  expect(body).toContain('10:00:41 mail to ')
  expect(body).not.toContain(mail)
})

describe('nothing is shortened', () => {
  it('of what users and models say', async () => {
    const t = await gateway()
    for (const dialect of DIALECTS) {
      const body = await sent(t, history(dialect, `${dialect}/m`, 'short', { said: LONG }))
      expect(body, dialect).toContain(inJson(LONG))
      expect(body, dialect).not.toContain('[shortened')
    }
  })

  it('of a call that failed', async () => {
    const t = await gateway()
    const { path, body } = history('messages', 'messages/m', LONG)
    const messages = (body as unknown as { messages: { content: object[] }[] }).messages
    Object.assign(messages[2]!.content[0]!, { is_error: true })
    await sent(t, { path, body })
    expect(t.upstream.requests[0]!.json.messages).toEqual(messages)
  })

  it('where the request opts out', async () => {
    const body = await sent(await gateway(), history('chat', 'chat/m', LONG), { 'x-gateway-token-saver': 'off' })
    expect(body).toContain(inJson(LONG))
  })

  it('by a filter that is disabled', async () => {
    const t = await gateway({ filters_enabled: true, disabled_filters: ['dedup-log'] })
    expect(await sent(t, history('chat', 'chat/m', LONG))).toContain(inJson(LONG))
  })

  it('by default, and the body is the caller’s own', async () => {
    const t = await gateway({})
    const { path, body } = history('chat', 'chat/m', LONG)
    await sent(t, { path, body })
    expect(t.upstream.requests[0]!.text).toBe(JSON.stringify(body).replace('chat/m', 'm'))
  })

  it('for panels and judges', async () => {
    const t = await gateway()
    const targets = ['one', 'two'].map((model) => ({ provider: 'chat', model }))
    expect((await t.post('/api/virtual-models', { name: 'panel', strategy: 'fusion', targets })).status).toBe(201)
    await sent(t, history('chat', 'panel', LONG))
    expect(t.upstream.requests.length).toBeGreaterThan(2)
    for (const { text } of t.upstream.requests) expect(text).not.toContain('[shortened')
  })
})

interface Listed {
  enabled: boolean
  data: { id: string; order: number; enabled: boolean; stats: { hits: number; bytes_saved: number } }[]
}

async function filters(t: TestGateway): Promise<Listed> {
  const response = await t.fetch('/api/token-saver/filters')
  expect(response.status).toBe(200)
  return (await response.json()) as Listed
}

describe('GET /api/token-saver/filters', () => {
  it('lists the thirteen in their order, and what is on', async () => {
    const t = await createTestGateway({ env: { CAVEMAN_LEVEL: 'wenyan' } })
    open.push(t)
    const listed = await filters(t)
    expect(listed).toMatchObject({
      enabled: false,
      min_bytes: 500,
      max_bytes: 10_485_760,
      caveman_level: 'wenyan',
      ponytail_level: null,
      data: expect.arrayContaining([
        expect.objectContaining({ id: 'git-diff', order: 1, enabled: true, limits: { hunk_lines: 100, max_lines: 500 } }),
      ]),
    })
    expect(listed.data.map(({ order }) => order)).toEqual(Array.from({ length: 13 }, (_, at) => at + 1))
    expect(listed.data.filter(({ enabled }) => !enabled).map(({ id }) => id)).toEqual(['read-numbered', 'smart-truncate'])
  })

  it('follows the settings at once', async () => {
    const t = await gateway({})
    const put = async (token_saver: object) => {
      const init = { method: 'PUT', headers: { 'content-type': 'application/json' } }
      const response = await t.fetch('/api/settings', { ...init, body: JSON.stringify({ token_saver }) })
      return { status: response.status, body: (await response.json()) as { error?: { param: string } } }
    }
    expect((await put({ filters_enabled: true, disabled_filters: ['tree'] })).status).toBe(200)
    const listed = await filters(t)
    expect([listed.enabled, listed.data.filter(({ enabled }) => !enabled).map(({ id }) => id)]).toEqual([true, ['tree']])
    expect(await sent(t, history('chat', 'chat/m', LONG))).toContain(inJson(SHORT))
    const refused = await put({ disabled_filters: ['no-such'] })
    expect([refused.status, refused.body.error?.param]).toEqual([400, expect.stringContaining('token_saver.disabled_filters')])
  })
})

// POST /api/playground/translate: every dialect, what each loses, and the request for the account that would be asked.
import { afterEach, describe, expect, it } from 'vitest'
import { createTestGateway, type TestGateway, type TestGatewayOptions } from '../../../adapters/testing/test-gateway.ts'

interface Encoding {
  dialect: string
  request: { method: string; url: string; headers: Record<string, string>; body: Record<string, unknown> } | null
  losses: string[]
  warnings: string[]
  error: { message: string; param: string | null; code: string | null } | null
}
interface Translated {
  canonical: Record<string, unknown>
  targets: Encoding[]
  upstream: (Encoding & { provider: string; model: string; connection: string; virtual_model: string | null }) | null
}

let t: TestGateway
afterEach(() => t.close())
const start = async (options: TestGatewayOptions = {}) => {
  t = await createTestGateway(options)
}
const ask = (body: object) => t.post('/api/playground/translate', body)
const translated = async (body: object): Promise<Translated> => {
  const response = await ask(body)
  expect(response.status, await response.clone().text()).toBe(200)
  return (await response.json()) as Translated
}
const messages = [{ role: 'user', content: 'Hi' }]

describe('/api/playground/translate', () => {
  it('writes a request in all four dialects and calls nothing', async () => {
    await start()
    const body = { model: 'messages/m', system: 'Be brief', max_tokens: 9, top_k: 3, messages }
    const { canonical, targets, upstream } = await translated({ dialect: 'messages', body })
    expect(canonical).toMatchObject({ model: 'messages/m', source: 'messages', maxTokens: 9, sampling: { topK: 3 } })
    expect(targets.map(({ dialect, request }) => [dialect, request?.method, request?.url])).toEqual([
      ['chat', 'POST', '/v1/chat/completions'],
      ['messages', 'POST', '/v1/messages'],
      ['responses', 'POST', '/v1/responses'],
      ['generate_content', 'POST', '/v1beta/models/m:generateContent'],
    ])
    const of = (dialect: string) => targets.find((one) => one.dialect === dialect) as Encoding
    expect(of('messages').request?.body).toEqual({ ...body, model: 'm' })
    expect(of('messages').losses).toEqual([])
    expect(of('chat').request?.body).toMatchObject({ model: 'm', messages: [{ content: 'Be brief' }, { content: 'Hi' }] })
    for (const dialect of ['chat', 'responses']) expect(of(dialect).losses).toEqual(['dropped_top_k'])
    expect(of('generate_content').request?.body).toMatchObject({ generationConfig: { topK: 3, maxOutputTokens: 9 } })
    expect(upstream).toMatchObject({ provider: 'messages', model: 'm', dialect: 'messages', connection: 'messages' })
    expect(t.upstream.requests).toHaveLength(0)
    expect(t.settled).toHaveLength(0)
    expect(((await (await t.fetch('/api/logs')).json()) as { data: unknown[] }).data).toEqual([])
    expect(((await (await t.fetch('/api/audit')).json()) as { data: unknown[] }).data).toEqual([])
  })

  it('takes model and stream of generate_content from the body, and only the targets that are named', async () => {
    await start()
    const body = { model: 'generate_content/a/b', stream: true, contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] }
    const targets = ['chat', 'chat', 'generate_content']
    const seen = await translated({ dialect: 'generate_content', body, targets })
    expect(seen.targets.map(({ dialect }) => dialect)).toEqual(['chat', 'generate_content'])
    expect(seen.targets[0]?.request?.body).toMatchObject({ model: 'a/b', stream: true })
    expect(seen.targets[1]?.request?.url).toBe('/v1beta/models/a/b:streamGenerateContent?alt=sse')
    expect(seen.targets[1]?.request?.body).not.toHaveProperty('model')
    expect(seen.upstream).toMatchObject({
      model: 'a/b',
      request: { url: expect.stringContaining(t.upstream.baseUrl('chat').slice(0, 16)) },
    })
  })

  it('shows the account that the next request is sent to, and no credential of it', async () => {
    await start({
      config: {
        connections: {
          down: {
            provider: 'openai',
            apiKey: 'sk-canary-1234567890',
            baseUrl: 'https://user:pass-canary@example.com/v1',
            headers: { 'x-team': 'head-canary', 'anthropic-beta': 'sk-canary-1234567890' },
          },
          echo: { provider: 'echo' },
        },
      } as never,
    })
    const make = (name: string, strategy: string) =>
      t.post('/api/virtual-models', { name, strategy, targets: ['openai/gpt-4.1', 'echo/echo-1'] })
    await make('first', 'failover')
    await make('turns', 'load_balance')
    const response = await ask({ dialect: 'chat', body: { model: 'first', messages } })
    const text = await response.text()
    expect(text).not.toContain('canary-1')
    expect(text).not.toContain('pass-canary')
    expect(text).not.toContain('head-canary')
    expect((JSON.parse(text) as Translated).upstream).toMatchObject({
      provider: 'openai',
      virtual_model: 'first',
      request: { method: 'POST', url: 'https://***@example.com/v1/chat/completions', headers: { 'x-team': '***' } },
    })
    // Looking moves no rotation.
    for (let i = 0; i < 3; i++)
      expect(
        (await translated({ dialect: 'messages', body: { model: 'turns', max_tokens: 1, messages } })).upstream,
      ).toMatchObject({
        provider: 'openai',
      })
    const echo = await translated({ dialect: 'chat', body: { model: 'echo/echo-1', messages } })
    expect(echo.upstream).toMatchObject({ provider: 'echo', request: null, error: null })
    expect((await translated({ dialect: 'chat', body: { model: 'nothing', messages } })).upstream).toBeNull()
  })

  it('says which dialect cannot express a request', async () => {
    await start()
    const audio = { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }
    const body = { model: 'chat/m', messages: [{ role: 'user', content: [audio] }] }
    const { targets } = await translated({ dialect: 'chat', body })
    const messagesTarget = targets.find(({ dialect }) => dialect === 'messages')
    expect(messagesTarget).toMatchObject({ request: null, error: { code: 'unsupported_for_target' } })
    const image = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } }
    const remote = await translated({
      dialect: 'chat',
      body: { model: 'chat/m', messages: [{ role: 'user', content: [image] }] },
    })
    expect(remote.targets.find(({ dialect }) => dialect === 'generate_content')?.warnings).toContain('media_not_fetched')
  })

  it('refuses what the data plane refuses, with its param', async () => {
    await start()
    const refused = async (body: object, dialect = 'chat') => {
      const mine = await ask({ dialect, body })
      const { error } = (await mine.json()) as { error: { param: string | null } }
      return [mine.status, error.param]
    }
    const plane = async (body: object, path = '/v1/chat/completions') => {
      const response = await t.post(path, body)
      const { error } = (await response.json()) as { error: { param: string | null } }
      return [response.status, error.param]
    }
    for (const body of [{}, { model: 7 }, { model: '' }, { model: 'chat/m', messages: 'x' }])
      expect(await refused(body), JSON.stringify(body)).toEqual(await plane(body))
    expect(await refused({ model: 'chat/m', messages, stream: 'yes' })).toEqual([400, 'stream'])
    expect(await refused({}, 'generate_content')).toEqual([400, 'model'])
    expect(await refused({ model: 'm', stream: 1 }, 'generate_content')).toEqual([400, 'stream'])
    expect(await refused({ model: '../x', contents: [] }, 'generate_content')).toEqual([400, 'model'])
    expect(await refused({}, 'cobol')).toEqual([400, 'dialect'])
    const large = await ask({
      dialect: 'chat',
      body: { model: 'chat/m', messages: [{ role: 'user', content: 'x'.repeat(10 * 1024 * 1024) }] },
    })
    expect(large.status).toBe(413)
  })
})

// /api/providers: a new connection works at once, and errors name the field.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { ask, errorOf } from '../keys/support.ts'
import { add, call, list, MASTER_KEY } from './support.ts'

const KEY = 'sk-very-secret-0123456789'

describe('/api/providers', () => {
  let t: TestGateway
  let custom: Record<string, unknown>
  beforeAll(async () => {
    t = await createTestGateway()
    custom = { provider: 'acme', base_url: t.upstream.baseUrl('chat'), wire_format: 'chat' }
  })
  afterAll(() => t.close())
  const lastHeaders = () => JSON.stringify(t.upstream.requests.at(-1)?.headers)

  it('adds a connection that works at once, with every field, and shows no secret', async () => {
    const fields = {
      label: 'main',
      allowed_models: ['m*'],
      default_model: 'm1',
      max_inflight: 4,
      priority: 7,
      enabled: true,
      metadata: { team: 'a', cost: 1 },
      caps: { temperature_max: 1.5 },
    }
    const made = await add(t, { ...custom, ...fields, api_key: KEY, proxy_url: 'direct', headers: { 'x-team': 'blue-team' } })
    expect(made).toEqual({
      id: made.id,
      provider: 'acme',
      auth_type: 'api_key',
      base_url: custom.base_url,
      wire_format: 'chat',
      has_api_key: true,
      api_key_hint: '…6789',
      proxy_url: 'direct',
      headers: { 'x-team': '***' },
      state: expect.objectContaining({ status: 'active' }),
      managed_by: 'api',
      config_key: null,
      created_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
      updated_at: made.created_at,
      ...fields,
    })
    expect((await t.post('/v1/chat/completions', ask('acme/m1'))).status).toBe(200)
    expect(lastHeaders()).toContain(`Bearer ${KEY}`)
    expect(lastHeaders()).toContain('blue-team')
    expect((await t.post('/v1/chat/completions', ask('acme/other'))).status).toBe(400)
    // It has been used since.
    const now = { ...made, state: expect.objectContaining({ status: 'active' }) }
    expect(await (await t.fetch(`/api/providers/${made.id}`)).json()).toEqual(now)
    expect((await list(t)).find(({ id }) => id === made.id)).toEqual(now)
  })

  it('changes what is given and keeps the rest, its key among it', async () => {
    const made = await add(t, { ...custom, provider: 'keeper', api_key: KEY, headers: { 'x-a': 'kept-value' }, max_inflight: 2 })
    const changed = await (await call(t, 'PUT', `/api/providers/${made.id}`, { label: 'new', max_inflight: null })).json()
    expect(changed).toMatchObject({ label: 'new', max_inflight: null, has_api_key: true, headers: { 'x-a': '***' } })
    await t.post('/v1/chat/completions', ask('keeper/m'))
    expect(lastHeaders()).toContain(KEY)
    expect(lastHeaders()).toContain('kept-value')
    await call(t, 'PUT', `/api/providers/${made.id}`, { api_key: 'sk-another-9876543210' })
    await t.post('/v1/chat/completions', ask('keeper/m'))
    expect(lastHeaders()).toContain('sk-another-9876543210')
    const cleared = await (await call(t, 'PUT', `/api/providers/${made.id}`, { api_key: null, headers: {} })).json()
    expect(cleared).toMatchObject({ has_api_key: false, api_key_hint: null, headers: {} })
    await t.post('/v1/chat/completions', ask('keeper/m'))
    expect(lastHeaders()).not.toMatch(/sk-|kept-value/)
  })

  it('is used no more once it is disabled or deleted, and a deleted one is gone', async () => {
    const made = await add(t, { ...custom, provider: 'leaver' })
    const status = async () => (await t.post('/v1/chat/completions', ask('leaver/m'))).status
    expect(await status()).toBe(200)
    expect(await (await call(t, 'PUT', `/api/providers/${made.id}`, { enabled: false })).json()).toMatchObject({
      enabled: false,
      state: { status: 'disabled' },
    })
    expect(await status()).toBe(400)
    await call(t, 'PUT', `/api/providers/${made.id}`, { enabled: true })
    expect(await status()).toBe(200)
    expect(await (await call(t, 'DELETE', `/api/providers/${made.id}`)).json()).toEqual({ deleted: true })
    expect(await status()).toBe(400)
    expect((await list(t)).some(({ id }) => id === made.id)).toBe(false)
    for (const method of ['GET', 'PUT', 'DELETE'])
      expect((await call(t, method, `/api/providers/${made.id}`, method === 'PUT' ? {} : undefined)).status, method).toBe(404)
  })

  it('counts an alias as its provider, and gives the label and the last priority by itself', async () => {
    const last = Math.max(...(await list(t)).map(({ priority }) => priority as number))
    const made = await add(t, { provider: 'claude', api_key: KEY })
    expect(made).toMatchObject({ provider: 'anthropic', label: 'anthropic', base_url: null, priority: last + 1 })
  })

  it('hides short keys and credentials of proxies altogether', async () => {
    const made = await add(t, { provider: 'openai', api_key: 'short', proxy_url: 'http://user:p4ssw0rd@proxy.test:8080' })
    expect(made).toMatchObject({ api_key_hint: '…', proxy_url: 'http://***:***@proxy.test:8080' })
    const socks = await add(t, { provider: 'openai', api_key: KEY, proxy_url: 'socks5://user:p4ssw0rd@proxy.test:1080' })
    expect(socks.proxy_url).toBe('socks5://***:***@proxy.test:1080')
  })

  it('takes a mask for what it hides, never as a value of its own', async () => {
    const made = await add(t, { ...custom, provider: 'masked', headers: { 'x-a': 'kept-value' } })
    const put = (body: object) => call(t, 'PUT', `/api/providers/${made.id}`, body)
    expect((await put({ headers: { 'x-a': '***', 'x-b': 'new-value' } })).status).toBe(200)
    await t.post('/v1/chat/completions', ask('masked/m'))
    expect(lastHeaders()).toContain('kept-value')
    expect(lastHeaders()).toContain('new-value')
    expect(await errorOf(await put({ headers: { 'x-c': '***' } }))).toMatchObject({ status: 400, param: 'headers.x-c' })
    const elsewhere = { base_url: 'http://127.0.0.1:9/v1', headers: { 'x-a': '***' } }
    expect(await errorOf(await put(elsewhere))).toMatchObject({ status: 400, param: 'headers' })
    const { proxy_url } = (await (await put({ proxy_url: 'http://user:p4ssw0rd@proxy.test:8080' })).json()) as {
      proxy_url: string
    }
    expect(await errorOf(await put({ proxy_url }))).toMatchObject({ status: 400, param: 'proxy_url' })
  })

  it('asks for key and headers again when they would go to another origin (S8)', async () => {
    const made = await add(t, { ...custom, provider: 'mover', api_key: KEY, headers: { authorization: 'Basic abcdefgh' } })
    const put = (body: object) => call(t, 'PUT', `/api/providers/${made.id}`, body)
    const elsewhere = 'http://127.0.0.1:9/v1'
    expect(await errorOf(await put({ base_url: elsewhere }))).toMatchObject({ status: 400, param: 'api_key' })
    expect(await errorOf(await put({ base_url: elsewhere, api_key: KEY }))).toMatchObject({ status: 400, param: 'headers' })
    expect((await put({ base_url: `${custom.base_url}/deeper` })).status).toBe(200)
    expect((await put({ base_url: elsewhere, api_key: KEY, headers: {} })).status).toBe(200)
  })

  const wrong: [string, Record<string, unknown>, string][] = [
    ['no provider', { api_key: KEY }, 'provider'],
    ['a provider that is no id', { provider: 'Open AI' }, 'provider'],
    ['an unknown provider without an address', { provider: 'nobody', wire_format: 'chat' }, 'base_url'],
    ['an unknown provider without a wire format', { provider: 'nobody', base_url: 'https://x.test/v1' }, 'wire_format'],
    ['a provider without an address of its own', { provider: 'azure', api_key: KEY }, 'base_url'],
    ['a missing key', { provider: 'openai' }, 'api_key'],
    ['a cleared key', { provider: 'openai', api_key: null }, 'api_key'],
    ['an unknown member', { provider: 'openai', api_key: KEY, apiKey: 'x' }, 'apiKey'],
    ['a prototype', JSON.parse('{"provider":"openai","__proto__":{"polluted":true}}'), '__proto__'],
  ]
  it.each(wrong)('answers %s with 400 and the param', async (_name, body, param) => {
    const response = await call(t, 'POST', '/api/providers', body)
    expect(await errorOf(response)).toMatchObject({ status: 400, type: 'invalid_request_error', param })
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })

  const wrongField: [string, unknown, string?][] = [
    ['label', ' '],
    ['label', 4],
    ['api_key', ''],
    ['api_key', 'with space'],
    ['api_key', 'line\r\nbreak'],
    ['base_url', 'ftp://x.test'],
    ['base_url', 'file:///etc/passwd'],
    ['base_url', 'gopher://x.test'],
    ['base_url', 'not a url'],
    ['base_url', 'https://user:pass@x.test/v1'],
    ['base_url', 'https://x.test/v1?key=a'],
    ['base_url', 'https://x.test/v1#a'],
    ['base_url', 'https://x.test/v1/chat/completions'],
    ['base_url', 'https://x.test/anthropic/v1/messages/'],
    ['base_url', 'https://x.test/v1/responses'],
    ['base_url', 'https://x.test/v1beta/models/gemini-2.5-pro:generateContent'],
    ['base_url', 'http://169.254.169.254/latest'],
    ['base_url', 'http://2852039166/latest'],
    ['base_url', 'http://[::ffff:169.254.169.254]/'],
    ['base_url', 'http://[fd00:ec2::254]/'],
    ['base_url', 'http://metadata.google.internal./v1'],
    ['base_url', 'http://100.100.100.200/'],
    ['wire_format', 'soap'],
    ['priority', -1_000_001],
    ['priority', 1.5],
    ['enabled', 'yes'],
    ['allowed_models', 'm'],
    ['allowed_models', ['m', ''], 'allowed_models.1'],
    ['default_model', ''],
    ['max_inflight', -1],
    ['max_inflight', 'many'],
    ['proxy_url', 'ftp://proxy.test'],
    ['proxy_url', 'file:///etc/passwd'],
    ['proxy_url', 'proxy.test:8080'],
    ['proxy_url', 'http://169.254.169.254:80'],
    ['proxy_url', 'socks5://2852039166:1080'],
    ['headers', { 'x-a': 'b\r\nx-injected: c' }],
    ['headers', { 'x-a': 'b\u0000' }],
    ['headers', { 'x a': 'b' }],
    ['headers', { 'x-a\r\nx-b': 'c' }],
    ['headers', { Host: 'other.test' }],
    ['headers', { connection: 'close' }],
    ['headers', { 'Transfer-Encoding': 'chunked' }],
    ['headers', { 'content-length': '1' }],
    ['headers', { 'proxy-authorization': 'Basic x' }],
    ['headers', { 'x-a': 4 }, 'headers.x-a'],
    ['metadata', { a: {} }, 'metadata.a'],
    ['metadata', []],
  ]
  it.each(wrongField)('refuses %s %j, on create and on update', async (field, value, param = field) => {
    const made = await add(t, { ...custom, provider: 'victim' })
    for (const response of [
      await call(t, 'POST', '/api/providers', { ...custom, [field]: value }),
      await call(t, 'PUT', `/api/providers/${made.id}`, { [field]: value }),
    ])
      expect(await errorOf(response)).toMatchObject({ status: 400, type: 'invalid_request_error', param })
    expect(await (await t.fetch(`/api/providers/${made.id}`)).json()).toEqual(made)
  })

  it('takes no provider on update: a connection stays with its own', async () => {
    const made = await add(t, { ...custom, provider: 'steady' })
    expect(await errorOf(await call(t, 'PUT', `/api/providers/${made.id}`, { provider: 'openai' }))).toMatchObject({
      status: 400,
      param: 'provider',
    })
  })

  it('answers 404 for an id that is not there or is none', async () => {
    for (const id of ['999999', '0', '-1', '1e3', 'abc', '%00'])
      for (const [method, path] of [
        ['GET', ''],
        ['PUT', ''],
        ['DELETE', ''],
        ['POST', '/test'],
      ] as const)
        expect(
          (await call(t, method, `/api/providers/${id}${path}`, method === 'GET' ? undefined : {})).status,
          `${method} ${id}`,
        ).toBe(404)
  })
})

describe('on the cloud profile (S7)', () => {
  let t: TestGateway
  beforeAll(async () => {
    t = await createTestGateway({
      env: { PROFILE: 'cloud', MASTER_KEY: MASTER_KEY },
      config: { connections: {} },
    })
  })
  afterAll(() => t.close())

  const inward = [
    'http://127.0.0.1:1',
    'http://localhost:1',
    'http://10.0.0.1',
    'http://[::1]',
    'http://0x7f.1',
    'http://db.internal',
  ]
  it.each(inward)('%s is refused as base_url and as proxy_url, on local it is not', async (url) => {
    const custom = { provider: 'acme', base_url: 'https://8.8.8.8/v1', wire_format: 'chat' }
    for (const field of ['base_url', 'proxy_url'])
      expect(await errorOf(await call(t, 'POST', '/api/providers', { ...custom, [field]: url })), field).toMatchObject({
        status: 400,
        param: field,
      })
    const local = await createTestGateway({ config: { connections: {} } })
    expect((await call(local, 'POST', '/api/providers', { ...custom, base_url: url, proxy_url: url })).status).toBe(201)
    await local.close()
  })
})

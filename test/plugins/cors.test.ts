// `cors.origins`: pages of the listed origins may call the data plane, and no other page gets an answer.
import fc from 'fast-check'
import { afterEach, expect, it } from 'vitest'
import { createTestGateway, fail, type TestGateway, text } from '../../adapters/testing/index.ts'

const HERE = 'https://app.example.com'
const PATHS = ['/v1/chat/completions', '/v1/messages', '/v1/responses', '/v1beta/models/chat/m:generateContent', '/v1/models']
const ask = { model: 'chat/m', messages: [{ role: 'user', content: 'hi' }] }

let t: TestGateway
afterEach(() => t.close())

const start = async (origins?: string) => {
  t = await createTestGateway({ env: origins === undefined ? {} : { CORS_ORIGINS: origins }, upstream: [text('fine')] })
}
const names = (response: Response) =>
  [...response.headers.keys()].filter((name) => name.startsWith('access-control-') || name === 'vary')
const preflight = (path: string, origin: string, asked = 'authorization,content-type,x-stainless-os,anthropic-version') =>
  t.fetch(path, {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': asked },
  })

it('is off by default: OPTIONS is 405 and no answer names an origin', async () => {
  await start()
  for (const path of PATHS) {
    const response = await preflight(path, HERE)
    expect([path, response.status, names(response)]).toEqual([path, 405, []])
  }
  expect(names(await t.post('/v1/chat/completions', ask, { origin: HERE }))).toEqual([])
})

it('answers the preflight of a listed origin with 204 and the headers it asked for', async () => {
  await start(`https://other.example, ${HERE}`)
  for (const path of PATHS) {
    const response = await preflight(path, HERE)
    expect([path, response.status, await response.text()]).toEqual([path, 204, ''])
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'access-control-allow-origin': HERE,
      'access-control-allow-methods': 'GET, POST, DELETE',
      'access-control-allow-headers': 'authorization, content-type, x-stainless-os, anthropic-version',
      vary: 'Origin',
    })
    expect(response.headers.has('access-control-allow-credentials')).toBe(false)
  }
})

it('names the origin and the readable headers on answers, streams and errors', async () => {
  await start(HERE)
  const answers = [
    [200, await t.post('/v1/chat/completions', ask, { origin: HERE })],
    [200, await t.post('/v1/chat/completions', { ...ask, stream: true }, { origin: HERE })],
    [404, await t.fetch('/v1/nope', { headers: { origin: HERE } })],
  ] as const
  t.upstream.script(fail(429, { message: 'Slow down.', headers: { 'retry-after': '7' } }))
  const limited = await t.post('/v1/chat/completions', ask, { origin: HERE })
  for (const [status, response] of [...answers, [429, limited] as const]) {
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([status, HERE])
    expect(response.headers.get('vary')).toBe('Origin')
    expect(response.headers.get('access-control-expose-headers')).toContain('x-gateway-request-id')
    await response.arrayBuffer()
  }
  expect(limited.headers.get('access-control-expose-headers')).toContain('retry-after')
})

it('lets a page read that its key is missing, and needs none for a preflight', async () => {
  t = await createTestGateway({ env: { CORS_ORIGINS: HERE, REQUIRE_API_KEY: 'true' } })
  expect((await preflight('/v1/messages', HERE)).status).toBe(204)
  const refused = await t.post('/v1/chat/completions', ask, { origin: HERE })
  expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([401, HERE])
})

it('reflects no origin that is not in the list', async () => {
  await start(HERE)
  const near = fc.oneof(
    fc.constantFrom('null', '*', 'http://app.example.com', `${HERE}:443`, `${HERE}.evil.test`, `${HERE}/`, HERE.toUpperCase()),
    fc.webUrl().map((url) => new URL(url).origin),
    fc.string({ unit: fc.constantFrom(...'htps:/.appexmlco*') }).map((tail) => `https://${tail}`),
  )
  await fc.assert(
    fc.asyncProperty(near, fc.constantFrom(...PATHS), async (origin, path) => {
      fc.pre(origin !== HERE)
      const response = await preflight(path, origin)
      expect([response.status, names(response)]).toEqual([405, ['vary']])
    }),
    { numRuns: 60 },
  )
})

it('answers `*` with `*`, follows the setting, and stays away from the control plane', async () => {
  await start('*')
  expect((await preflight('/v1/messages', 'https://any.example')).headers.get('access-control-allow-origin')).toBe('*')
  for (const method of ['OPTIONS', 'GET']) {
    const headers = { origin: HERE, 'access-control-request-method': 'PUT' }
    const response = await t.fetch('/api/settings', { method, headers })
    expect(names(response).filter((name) => name !== 'vary')).toEqual([])
  }
  const put = (value: unknown) =>
    t.fetch('/api/settings', {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ 'cors.origins': value }),
    })
  expect((await put([HERE])).status).toBe(200)
  expect((await preflight('/v1/messages', 'https://any.example')).status).toBe(405)
  expect((await preflight('/v1/messages', HERE)).status).toBe(204)
  expect((await put([])).status).toBe(200)
  expect((await preflight('/v1/messages', HERE)).status).toBe(405)
  for (const wrong of ['https://app.example.com/', 'app.example.com', 'https://*.example.com', 'HTTPS://APP.example.com', 'null'])
    expect((await put([wrong])).status, wrong).toBe(400)
})

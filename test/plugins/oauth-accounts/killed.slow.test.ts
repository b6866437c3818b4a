// A gateway process that is killed around the rotation of a refresh token: the next process goes on with the account.
import { once } from 'node:events'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { scriptedUpstream } from '../../../adapters/testing/scripted-upstream.ts'
import { built, folder, type Serving, serving } from '../../adapters/cli/hookgate.ts'
import { type FakeOAuth, fakeOAuth } from '../../support/fake-oauth.ts'
import { MASTER_KEY } from '../connections/support.ts'
import type { Json } from './support.ts'

let vendor: FakeOAuth
let upstream: Awaited<ReturnType<typeof scriptedUpstream>>
let server: Serving
let cwd: string

beforeAll(async () => {
  await built()
  vendor = await fakeOAuth()
  upstream = await scriptedUpstream()
  cwd = folder({
    'gateway.config.ts': `import { defineConfig, preset } from 'hookgate'
export default defineConfig({
  connections: {},
  plugins: preset({
    oauthAccounts: {
      clients: {
        acme: {
          clientId: 'client-1',
          authorizationUrl: '${vendor.url}/authorize',
          tokenUrl: '${vendor.url}/token',
          baseUrl: '${upstream.baseUrl('chat')}',
          wireFormat: 'chat',
        },
      },
    },
  }),
})
`,
  })
})
afterAll(async () => {
  server?.child.kill('SIGKILL')
  await vendor.close()
  await upstream.close()
})

const start = async (): Promise<void> => {
  server = await serving([], { cwd, env: { GATEWAY_DATA_DIR: join(cwd, 'data'), GATEWAY_MASTER_KEY: MASTER_KEY } })
}
const restart = async (): Promise<void> => {
  server.child.kill('SIGKILL')
  await once(server.child, 'close')
  await start()
}
const post = async (path: string, body: object = {}): Promise<{ status: number; json: Json }> => {
  const answer = await fetch(`${server.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: answer.status, json: (await answer.json()) as Json }
}
const ask = async (): Promise<number> =>
  (await post('/v1/chat/completions', { model: 'acme/m', messages: [{ role: 'user', content: 'Hi' }] })).status
const lastToken = (): string => String(upstream.requests.at(-1)?.headers.authorization).replace('Bearer ', '')

it('an account works after a kill before the rotated token arrived, and after one before it was used', async () => {
  await start()
  const begun = await post('/api/oauth/acme/authorize', { redirect_uri: 'http://127.0.0.1:9/cb' })
  const { code, state } = vendor.authorize(begun.json.authorize_url)
  const { id } = (await post('/api/oauth/acme/exchange', { code, state })).json
  const refresh = () => post(`/api/oauth/accounts/${id}/refresh`)

  // The vendor rotates, and its answer never arrives.
  vendor.cut = true
  expect((await refresh()).status).toBe(502)
  await restart()
  vendor.cut = false
  expect(await ask()).toBe(200)
  expect((await refresh()).json.status).toBe('active')

  // The answer is stored, and no request has used it.
  expect((await refresh()).status).toBe(200)
  await restart()
  expect(await ask()).toBe(200)
  expect(vendor.isValid(lastToken())).toBe(true)

  // The process dies while the vendor is asked: the lease ends by itself.
  vendor.delayMs = 60_000
  const before = vendor.calls.length
  const lost = refresh().catch(() => null)
  await expect.poll(() => vendor.calls.length).toBe(before + 1)
  await restart()
  await lost
  vendor.delayMs = 0
  expect(await ask()).toBe(200)
  await expect.poll(async () => (await refresh()).status, { timeout: 60_000, interval: 1000 }).toBe(200)
  expect((await refresh()).json.status).toBe('active')
}, 180_000)

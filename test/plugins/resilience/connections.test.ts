// Account state and connections: an edit, and the model list that the prober requests.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { fail } from '../../../adapters/testing/script.ts'
import { createTestGateway } from '../../../adapters/testing/test-gateway.ts'
import { ask } from '../keys/support.ts'

interface Shown {
  id: number
  provider: string
  state: { status: string; cooldown_until: string | null; model_locks: unknown[] }
}

it('a new key starts with a clean record: cooldown and locks are gone', async () => {
  const t = await createTestGateway({ ports: { clock: fakeClock() } })
  const made = await t.post('/api/providers', {
    provider: 'acme',
    base_url: t.upstream.baseUrl('chat'),
    wire_format: 'chat',
    api_key: 'sk-first',
  })
  const { id } = (await made.json()) as Shown
  const shown = async () => (await (await t.fetch(`/api/providers/${id}`)).json()) as Shown
  t.upstream.script(fail(402, { message: 'Payment required.' }))
  expect((await t.post('/v1/chat/completions', ask('acme/m'))).status).toBe(502)
  expect((await shown()).state.status).toBe('cooldown')
  const put = (body: object) =>
    t.fetch(`/api/providers/${id}`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  await put({ label: 'renamed' })
  expect((await shown()).state.status).toBe('cooldown')
  await put({ api_key: 'sk-second' })
  expect((await shown()).state).toMatchObject({ status: 'active', cooldown_until: null, model_locks: [] })
  await t.close()
})

it('the prober asks each dialect’s own list of models, with the connection’s key', async () => {
  const asked: string[] = []
  const server = createServer((req, res) => {
    asked.push(
      `${req.method} ${req.url} ${req.headers.authorization ?? req.headers['x-api-key'] ?? req.headers['x-goog-api-key']}`,
    )
    res.writeHead(200, { 'content-type': 'application/json' }).end('{"data":[]}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const clock = fakeClock()
  const connection = (wireFormat: 'chat' | 'messages' | 'generate_content', baseUrl: string) => ({
    provider: 'custom',
    wireFormat,
    baseUrl,
    apiKey: `sk-${wireFormat}`,
  })
  const t = await createTestGateway({
    ports: { clock },
    env: { HEALTH_CHECK_INTERVAL_SECS: '60' },
    config: {
      connections: {
        a: connection('chat', `${base}/v1`),
        b: connection('messages', base),
        c: connection('generate_content', base),
        echo: { provider: 'echo' },
      },
    },
  })
  await clock.advance(66_000)
  await expect.poll(() => asked.length).toBe(3)
  expect(asked.sort()).toEqual([
    'GET /v1/models Bearer sk-chat',
    'GET /v1/models sk-messages',
    'GET /v1beta/models sk-generate_content',
  ])
  expect(t.settled).toEqual([])
  await t.close()
  await new Promise((resolve) => server.close(resolve))
})

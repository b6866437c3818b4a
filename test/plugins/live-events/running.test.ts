// GET /api/live: the requests that run now, for their own organization.
import { afterEach, expect, it } from 'vitest'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { fail, hang, text } from '../../../adapters/testing/script.ts'
import type { TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import { connected } from '../../support/own-connection.ts'
import { bearer, makeKey } from '../keys/support.ts'
import { ask } from '../request-log/support.ts'
import { errorOf } from '../sign-in/support.ts'
import { tellingGateway } from './support.ts'

interface Running {
  data: Record<string, unknown>[]
  total: number
}

let t: TestGateway
let release: () => void = () => {}
afterEach(async () => {
  release()
  await t.close()
})

const live = async (query = ''): Promise<Running> => (await (await t.fetch(`/api/live${query}`)).json()) as Running
/** A step that answers only after `release()`. */
const held = () => {
  const gate = new Promise<void>((resolve) => {
    release = resolve
  })
  return text('the answer', { hold: () => gate })
}
async function until(count: number): Promise<void> {
  await expect.poll(async () => t.upstream.requests.length, { timeout: 10_000, interval: 5 }).toBe(count)
}

it('lists a running request with its target and its tries, and not a finished one', async () => {
  const clock = fakeClock()
  t = await tellingGateway({ ports: { clock }, upstream: [fail(503), held()] })
  const { key } = await makeKey(t, { label: 'team' })
  expect(await live()).toEqual({ data: [], total: 0 })
  const answer = t.post('/v1/chat/completions', ask('chat/m', { stream: false }), bearer(key))
  await until(1)
  expect((await answer).status).toBe(503)
  const second = t.post('/v1/chat/completions', ask('chat/m', { stream: true }), bearer(key))
  await until(2)
  await clock.advance('1500ms')
  const { data, total } = await live()
  expect(total).toBe(1)
  expect(data[0]).toEqual({
    request_id: expect.stringMatching(/^req_/),
    started_at: expect.stringMatching(/Z$/),
    age_ms: 1500,
    api_key_label: 'team',
    model: 'chat/m',
    virtual_model: null,
    target: { provider: 'chat', model: 'm', connection_id: expect.any(String), connection: expect.any(String) },
    tries: 1,
    calls: [],
    stream: true,
    request_bytes: expect.any(Number),
    content_bytes: 0,
    dialect: 'chat',
    operation: 'chat',
    source: 'api',
  })
  release()
  await (await second).text()
  await t.untilSettled(2)
  expect(await live()).toEqual({ data: [], total: 0 })
})

it('shows requests of the own organization only, the longest first, and says how many there are', async () => {
  const organizations = definePlugin({
    name: 'test-organizations',
    setup: (gateway) =>
      gateway.hook('authenticate', (ctx) => {
        const orgId = ctx.headers.get('x-org')
        return orgId === null ? undefined : { keyId: null, label: null, orgId: Number(orgId), allowedModels: null }
      }),
  })
  const clock = fakeClock()
  t = await tellingGateway({ ports: { clock }, upstream: [hang(), hang(), hang()], plugins: [organizations()] })
  await connected(t, 7)
  const { port } = await t.listen()
  const leave = new AbortController()
  const call = async (model: string, headers: Record<string, string>, sent: number): Promise<void> => {
    const init = { method: 'POST', body: JSON.stringify(ask(model)), headers: { 'content-type': 'application/json', ...headers } }
    fetch(`http://127.0.0.1:${port}/v1/chat/completions`, { ...init, signal: leave.signal }).catch(() => {})
    await until(sent)
    await clock.advance('10ms')
  }
  await call('chat/first', {}, 1)
  await call('chat/others', { 'x-org': '7' }, 2)
  await call('chat/second', {}, 3)
  expect((await live()).data.map(({ model }) => model)).toEqual(['chat/first', 'chat/second'])
  expect(await live('?limit=1')).toMatchObject({ data: [{ model: 'chat/first' }], total: 2 })
  expect(await errorOf(await t.fetch('/api/live?limit=0'))).toMatchObject({ status: 400, param: 'limit' })
  leave.abort()
  await t.untilSettled(3)
})

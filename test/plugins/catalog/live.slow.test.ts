// `source: live` of /api/model-catalog: a provider's own list.
import { afterEach, expect, it } from 'vitest'
import { createTestGateway, type FakeClock, fail, fakeClock, hang, raw, type Step } from '../../../adapters/testing/index.ts'
import type { TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { add, call } from '../connections/support.ts'

let t: TestGateway
let clock: FakeClock
afterEach(() => t.close())

const KEY = 'sk-live-canary-4711'
const listed = (...ids: string[]): Step => raw(200, JSON.stringify({ object: 'list', data: ids.map((id) => ({ id })) }))

async function start(...script: Step[]): Promise<void> {
  clock = fakeClock()
  t = await createTestGateway({ config: {}, upstream: script, ports: { clock } })
}
const lab = (more: object = {}) =>
  add(t, { provider: 'lab', base_url: t.upstream.baseUrl('chat'), wire_format: 'chat', api_key: KEY, ...more })

interface Item {
  model: string
  source: string
  allowed: boolean
}
async function catalog(provider = 'lab'): Promise<Item[]> {
  const response = await t.fetch(`/api/model-catalog?provider=${provider}`)
  const text = await response.text()
  expect([response.status, text.includes(KEY)], text).toEqual([200, false])
  return (JSON.parse(text) as { data: Item[] }).data
}
const models = async (provider?: string) => (await catalog(provider)).map(({ model }) => model)

it('shows what the provider lists, with what the connection may be asked for, and beside it what it names itself', async () => {
  await start(listed('llama-3', 'qwen', 'llama-3', 'no good id', 'gpt-4o'))
  await lab({ allowed_models: ['llama-*', 'mine'] })
  expect(await catalog()).toMatchObject([
    { model: 'lab/llama-3', source: 'live', allowed: true },
    { model: 'lab/qwen', source: 'live', allowed: false },
    { model: 'lab/gpt-4o', source: 'live', allowed: false },
    { model: 'lab/mine', source: 'connection', allowed: true },
  ])
  expect(t.upstream.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
    `GET ${new URL(`${t.upstream.baseUrl('chat')}/models`).pathname}`,
  ])
  expect(t.upstream.requests[0]?.headers.authorization).toBe(`Bearer ${KEY}`)
})

it('reads the lists of other vendors', async () => {
  await start(raw(200, JSON.stringify({ models: [{ name: 'models/gemini-x' }] })), listed('claude-x'))
  for (const wire_format of ['generate_content', 'messages'] as const)
    await add(t, {
      provider: `lab-${wire_format.slice(0, 3)}`,
      base_url: t.upstream.baseUrl(wire_format),
      wire_format,
      api_key: KEY,
    })
  expect(await models('lab-gen')).toEqual(['lab-gen/gemini-x'])
  expect(await models('lab-mes')).toEqual(['lab-mes/claude-x'])
})

it('asks once an hour, shows the last list for a day while the provider fails, and then what is known', async () => {
  await start(listed('a'), listed('b'), ...Array.from({ length: 100 }, () => fail(503)))
  await lab()
  expect([await models(), await models()]).toEqual([['lab/a'], ['lab/a']])
  expect(t.upstream.requests).toHaveLength(1)
  await clock.advance('1h')
  expect(await models()).toEqual(['lab/b'])
  await clock.advance('1h')
  expect([await models(), await models()]).toEqual([['lab/b'], ['lab/b']])
  expect(t.upstream.requests).toHaveLength(3)
  await clock.advance(23 * 3_600_000 + 1)
  expect(await models()).toEqual([])
})

it.each<[string, Step]>([
  ['refuses', fail(401)],
  ['has no such list', fail(404)],
  ['answers something else', raw(200, '<html></html>', { headers: { 'content-type': 'text/html' } })],
  ['lists nothing', listed()],
])('of a provider that %s, what is known is shown, and it is not asked at every look', async (_what, step) => {
  await start(step)
  await add(t, { provider: 'openai', base_url: t.upstream.baseUrl('chat'), api_key: KEY })
  for (let look = 0; look < 2; look++)
    expect((await catalog('openai')).find(({ model }) => model === 'openai/gpt-4o')).toMatchObject({ source: 'catalog' })
  expect(t.upstream.requests).toHaveLength(1)
})

it('nobody waits longer than five seconds for a slow one', async () => {
  await start(hang())
  await lab({ default_model: 'mine' })
  const looking = models()
  await expect.poll(() => t.upstream.requests.length, { interval: 1 }).toBe(1)
  await clock.advance('5s')
  expect(await looking).toEqual(['lab/mine'])
})

it('asks again after a change, and a disabled connection not at all', async () => {
  await start(listed('a'), listed('b'))
  const { id } = await lab()
  expect(await models()).toEqual(['lab/a'])
  await call(t, 'PUT', `/api/providers/${id}`, { api_key: 'sk-another-one-0815' })
  expect(await models()).toEqual(['lab/b'])
  await call(t, 'PUT', `/api/providers/${id}`, { enabled: false })
  await models()
  expect(t.upstream.requests).toHaveLength(2)
})

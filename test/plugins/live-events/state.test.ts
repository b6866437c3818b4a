// The event `state` of GET /api/events.
import { afterEach, expect, it } from 'vitest'
import { type FakeClock, fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { fail, text } from '../../../adapters/testing/script.ts'
import { createTestGateway, type TestGateway, type TestGatewayOptions } from '../../../adapters/testing/test-gateway.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import { call } from '../connections/support.ts'
import { ask } from '../request-log/support.ts'
import { dataOf, type Heard, listenIn } from './support.ts'

let t: TestGateway
let clock: FakeClock
let client: Awaited<ReturnType<typeof listenIn>>
afterEach(async () => {
  await client.leave()
  await t.close()
})

async function made(options: TestGatewayOptions = {}) {
  clock = fakeClock()
  t = await createTestGateway({ ...options, ports: { clock } })
  client = await listenIn(t)
  await client.until(() => client.events.length === 1)
}
const statesOf = ({ events }: Heard) => events.filter(({ event }) => event === 'state')
const heard = async (count: number) => {
  // Events that come at once are sent together, a little later.
  await clock.advance(40)
  await client.until(() => statesOf(client).length >= count)
  return statesOf(client).map(dataOf)
}
const chat = async () => (await t.post('/v1/chat/completions', ask('chat/m'))).status

it('a circuit opens, and closes after the probe', async () => {
  await made({ upstream: [...Array.from({ length: 5 }, () => fail(500)), text('well again')] })
  for (let i = 0; i < 5; i++) await chat()
  const at = clock.now()
  const [opened] = await heard(1)
  expect(opened).toEqual({
    kind: 'breaker',
    id: expect.stringMatching(/^\d+$/),
    state: 'open',
    until: new Date(at + 30_000).toISOString(),
  })
  await clock.advance('31s')
  expect(await chat()).toBe(200)
  expect((await heard(2))[1]).toEqual({ ...opened, state: 'closed', until: null })
  const all = client.events.map(({ event }) => event)
  expect(all.filter((event) => event === 'request')).toHaveLength(6)
})

it('a cooldown and its end by an operator, a quota, a refused credential', async () => {
  await made({
    upstream: [
      fail(429, { message: 'account-wide limit', headers: { 'retry-after': '20' } }),
      fail(429, { code: 'insufficient_quota', message: 'You exceeded your current quota' }),
      fail(401),
    ],
    config: {
      connections: {},
    },
  })
  const { id } = (await (
    await call(t, 'POST', '/api/providers', {
      provider: 'custom',
      api_key: 'sk-one',
      base_url: t.upstream.baseUrl('chat'),
      wire_format: 'chat',
    })
  ).json()) as { id: number }
  for (let i = 0; i < 3; i++) await call(t, 'POST', `/api/providers/${id}/test`, { model: 'm' })
  const found = (await heard(3)).map(({ kind, state, id: of }) => [kind, state, of])
  expect(found).toEqual([
    ['cooldown', 'cooling', String(id)],
    ['quota', 'exhausted', String(id)],
    ['credential', 'refused', String(id)],
  ])
  await call(t, 'PUT', `/api/providers/${id}`, { api_key: 'sk-two' })
  const after = (await heard(6)).slice(3).map(({ kind, state }) => `${kind} ${state}`)
  expect(after.sort()).toEqual(['cooldown ended', 'credential accepted', 'quota available'])
})

it('a budget, and reloads, without content', async () => {
  let emit = (): void => {}
  const source = definePlugin({
    name: 'source',
    setup(gateway) {
      emit = () => {
        const data = {
          budget_id: 12,
          scope: 'org',
          entity_id: null,
          entity_label: null,
          window: 'daily',
          limit_usd: 1,
          spend_usd: 0.9,
          remaining_usd: 0.1,
          percent_used: 90,
          threshold_percent: 85,
          window_end: '2027-01-01T00:00:00.000Z',
          occurred_at: '2026-12-31T00:00:00.000Z',
          dedup_key: '12:85',
        } as const
        gateway.events.emit('budget.threshold_crossed', data)
        gateway.events.emit('budget.threshold_crossed', data, { orgId: 7 })
      }
    },
  })
  await made({ plugins: [source()] })
  emit()
  await expect(t.gateway.reload({ plugins: 1 })).rejects.toThrow()
  expect(await heard(2)).toEqual([
    { kind: 'budget', id: '12', state: 'over_85', until: '2027-01-01T00:00:00.000Z' },
    { kind: 'reload', id: '1', state: 'refused', until: null },
  ])
})

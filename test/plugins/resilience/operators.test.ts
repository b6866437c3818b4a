// What operators see of accounts, and what they may change.
import { afterEach, expect, it } from 'vitest'
import { fail, text } from '../../../adapters/testing/script.ts'
import { errorIn, until, type World, world } from './support.ts'

let w: World
afterEach(() => w.close())

const idOf = async (): Promise<number> =>
  ((await (await w.t.fetch('/api/providers')).json()) as { data: [{ id: number }] }).data[0].id
const locks = async (): Promise<string[]> => ((await w.states())[0]?.model_locks as { model: string }[]).map(({ model }) => model)

it('DELETE /api/providers/:id/locks ends one lock, or all', async () => {
  w = await world({ accounts: [{ script: [fail(404)] }] })
  for (const model of ['a', 'b', 'c']) await w.status(model)
  expect(await locks()).toEqual(['a', 'b', 'c'])
  const id = await idOf()
  const remove = async (query: string) => (await w.t.fetch(`/api/providers/${id}/locks${query}`, { method: 'DELETE' })).json()
  expect(await remove('?model=b')).toEqual({ cleared: 1 })
  expect(await remove('?model=b')).toEqual({ cleared: 0 })
  expect(await locks()).toEqual(['a', 'c'])
  w.accounts[0]?.script(text('ok'))
  expect(await w.status('b')).toBe(200)
  expect(await remove('')).toEqual({ cleared: 2 })
  expect(await locks()).toEqual([])
  const unknown = await w.t.fetch('/api/providers/4711/locks', { method: 'DELETE' })
  expect([unknown.status, (await errorIn(unknown)).message]).toEqual([404, 'There is no connection 4711.'])
})

it('POST /api/providers/:id/locks holds back a connection of the configuration file, until its end or until it is ended', async () => {
  w = await world({ accounts: [{}, {}] })
  const id = await idOf()
  const hold = (body: object) => w.t.post(`/api/providers/${id}/locks`, body)
  const held = await hold({ minutes: 30 })
  const until = new Date(w.clock.now() + 1_800_000).toISOString()
  expect([held.status, await held.json()]).toEqual([201, { model: '*', until, reason: 'operator' }])
  expect((await w.states())[0]?.model_locks).toEqual([{ model: '*', until, reason: 'operator' }])
  expect([await w.status(), w.calls()]).toEqual([200, [0, 1]])
  await w.clock.advance('29m')
  expect([await w.status(), w.calls()]).toEqual([200, [0, 2]])
  await w.clock.advance('61s')
  expect([await w.status(), w.calls()]).toEqual([200, [1, 2]])
  await hold({ minutes: 30, model: 'm' })
  expect([await w.status('other'), await w.status(), w.calls()]).toEqual([200, 200, [2, 3]])
  await w.t.fetch(`/api/providers/${id}/locks?model=m`, { method: 'DELETE' })
  expect([await w.status(), w.calls()]).toEqual([200, [3, 3]])
  const { data } = (await (await w.t.fetch('/api/audit')).json()) as { data: { action: string; target: string }[] }
  expect(data.filter(({ action }) => action === 'provider.lock').length).toBe(2)
})

it.each([
  [{}, 'minutes'],
  [{ minutes: 0 }, 'minutes'],
  [{ minutes: 10_081 }, 'minutes'],
  [{ minutes: 1.5 }, 'minutes'],
  [{ minutes: 5, model: '' }, 'model'],
])('the lock %j is refused, naming %s', async (body, param) => {
  w = await world()
  const refused = await w.t.post(`/api/providers/${await idOf()}/locks`, body)
  expect([refused.status, (await errorIn(refused)).param]).toEqual([400, param])
  const unknown = await w.t.post('/api/providers/4711/locks', { minutes: 5 })
  expect([unknown.status, (await errorIn(unknown)).message]).toEqual([404, 'There is no connection 4711.'])
})

it('a connection that is cleared is as new', async () => {
  w = await world({ accounts: [{ script: [fail(402), text('ok')] }] })
  await w.status()
  expect(await w.status()).toBe(429)
  w.service.clear(String(await idOf()))
  expect(await w.states()).toMatchObject([{ status: 'active', cooldown_until: null, last_error: null }])
  expect(await w.status()).toBe(200)
})

it('a healthy account shows what it is', async () => {
  w = await world()
  await w.status()
  expect(await w.states()).toEqual([
    {
      status: 'active',
      cooldown_until: null,
      cooldown_source: null,
      consecutive_failures: 0,
      breaker: 'closed',
      model_locks: [],
      quota_exhausted: false,
      quota_resets_at: null,
      inflight: 0,
      last_error: null,
      last_used_at: new Date(w.clock.now()).toISOString(),
    },
  ])
})

it('/metrics shows circuits, cooldowns, locks and skips, by connection', async () => {
  w = await world({ accounts: [{ script: [fail(529)] }, {}] })
  await w.status()
  await w.status()
  const id = await idOf()
  const text = await (await w.t.fetch('/metrics')).text()
  const of = (name: string) => text.split('\n').find((line) => line.startsWith(`gateway_${name}{`) && line.includes(`"${id}"`))
  expect(of('account_circuit_state')).toMatch(/ 0$/)
  expect(of('account_cooldown_seconds')).toMatch(/ 5$/)
  expect(of('account_requests_in_flight')).toMatch(/ 0$/)
  expect(of('account_locked_models')).toMatch(/ 0$/)
  expect(text).toContain('gateway_account_skips_total{provider="p",reason="cooldown"} 1')
  expect(text).toContain('gateway_account_cooldowns_total{provider="p",source="retry_after"} 1')
})

it.each([
  ['fusion', ['panel', 'panel', 'judge']],
  ['pipeline', ['step', 'step']],
])('an account that is passed over counts once for each call of a %s, in the timeline and in the metric', async (strategy, roles) => {
  w = await world({ accounts: [{ script: [fail(529)] }, {}] })
  await w.status()
  const targets = ['p/m', 'p/n']
  expect((await w.t.post('/api/virtual-models', { name: 'vm', strategy, targets })).status).toBe(201)
  const body = { model: 'vm', messages: [{ role: 'user', content: 'hi' }] }
  expect((await w.t.post('/v1/chat/completions', body)).status).toBe(200)
  await w.t.untilSettled(2)
  const skips = w.attempts().filter(({ skipped }) => skipped !== undefined)
  expect(skips.map(({ role }) => role)).toEqual(roles)
  const text = await (await w.t.fetch('/metrics')).text()
  expect(text).toContain(`gateway_account_skips_total{provider="p",reason="cooldown"} ${roles.length}\n`)
})

it('skips of the walk and of other plugins are counted, too', async () => {
  w = await world({ accounts: [{ maxInflight: 1, script: [text('slow', { hold: () => until(() => w.calls()[1] === 1) })] }, {}] })
  expect(await Promise.all([w.status(), w.status()])).toEqual([200, 200])
  await w.t.untilSettled(2)
  const shown = await (await w.t.fetch('/metrics')).text()
  expect(shown).toContain('gateway_account_skips_total{provider="p",reason="at_capacity"} 1\n')
})

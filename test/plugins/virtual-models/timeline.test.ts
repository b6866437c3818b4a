// What the timeline says of where a failure led: to another account of the same target, or to another target.
import { afterEach, expect, it } from 'vitest'
import { fail, text } from '../../../adapters/testing/script.ts'
import { type Site, type SiteOptions, site } from './support.ts'

let s: Site
afterEach(() => s.close())
const start = async (options: SiteOptions = {}) => {
  s = await site(['a', 'b'], options)
}
const actions = () => s.t.settled.at(-1)?.ctx.attempts.map(({ action }) => action)
/** A second account of the provider `a`, which reaches upstream `b`. */
const second = async (more: object = {}) => {
  const base = { wire_format: 'chat', api_key: 'sk-second', base_url: s.up.b?.baseUrl('chat') }
  const response = await s.t.post('/api/providers', { provider: 'a', label: 'second', ...base, ...more })
  expect(response.status).toBe(201)
  return String(((await response.json()) as { id: number }).id)
}

it('another provider, or another model of the same one, is another target', async () => {
  await start({ script: { a: [fail(500)] } })
  await s.make({ name: 'vm', strategy: 'failover', targets: ['a/m', 'a/n', 'b/m'] })
  expect(await s.askTimes(1, 'vm')).toEqual(['b'])
  expect(actions()).toEqual(['next_target', 'next_target', 'returned'])
})

it('another account of the same one is not, also where the target names its connection', async () => {
  await start({ script: { a: [fail(500)] } })
  const id = await second()
  expect(await s.askTimes(1, 'a/m')).toEqual(['b'])
  expect(actions()).toEqual(['next_account', 'returned'])
  await s.make({ name: 'vm', strategy: 'failover', targets: ['a/m', { target: 'a/m', connection_id: Number(id) }, 'b/m'] })
  s.up.b?.script(fail(500), fail(500), text('b'))
  expect(await s.askTimes(1, 'vm')).toEqual(['b'])
  expect(actions()).toEqual(['next_account', 'next_account', 'next_target', 'returned'])
})

it('an account that is passed over on the way does not count', async () => {
  const hold = () => expect.poll(() => s.calls('b')).toBe(2)
  await start({ script: { a: [fail(500)], b: [text('b', { hold }), text('b')] }, resilience: true })
  await second({ max_inflight: 1 })
  await s.make({ name: 'vm', strategy: 'failover', targets: ['a/m', 'b/m'] })
  // The first takes the only slot of the second account, until the other has found another way.
  const both = [s.ask('vm'), s.ask('vm')]
  expect((await Promise.all(both)).map(({ status }) => status)).toEqual([200, 200])
  await s.t.untilSettled(2)
  const seen = s.t.settled.map(({ ctx }) => ctx.attempts.map(({ action }) => action)).sort((x, y) => x.length - y.length)
  expect(seen).toEqual([
    ['next_account', 'returned'],
    ['next_target', 'skipped', 'returned'],
  ])
})

it('where nobody is left, it says where the failure would have sent it', async () => {
  const rules = JSON.stringify([{ status: 418, action: 'next_target' }])
  await start({ script: { a: [fail(500), fail(418)] }, resilience: true, env: { ERROR_RULES: rules } })
  expect(await s.askTimes(2, 'a/m')).toEqual(['500', '418'])
  expect(s.t.settled.map(({ ctx }) => ctx.attempts.map(({ action }) => action))).toEqual([['next_account'], ['next_target']])
})

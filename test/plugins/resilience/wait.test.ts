// COOLDOWN_RETRY_MAX_WAIT_MS: waits for the account.
import { afterEach, expect, it } from 'vitest'
import { fail, type Step, text } from '../../../adapters/testing/script.ts'
import { until, type World, type WorldOptions, world } from './support.ts'

let w: World
afterEach(() => w.close())

const limited = (seconds: number): Step => fail(429, { headers: { 'retry-after': String(seconds) } })

/** Sends a request, and advances the clock after the first account has answered. */
async function asked(options: WorldOptions, advance: number): Promise<{ status: number; actions: unknown[] }> {
  w = await world(options)
  const before = w.clock.pending
  const asking = w.status()
  if (advance > 0) {
    await until(() => w.clock.pending > before && w.calls()[0] === 1 && w.types().length > 0)
    await w.clock.advance(advance)
  }
  const status = await asking
  return { status, actions: w.attempts().map(({ action }) => action) }
}

it('waits as long as the upstream says and asks the same account again, before any other', async () => {
  const accounts = [{ script: [limited(2), text('ok')] }, {}]
  const { status, actions } = await asked({ accounts, env: { COOLDOWN_RETRY_MAX_WAIT_MS: '5000' } }, 2000)
  expect([status, actions, w.calls()]).toEqual([200, ['waited_cooldown', 'returned'], [2, 0]])
  expect(w.attempts().map(({ waitedMs }) => waitedMs)).toEqual([2000, undefined])
  expect(await w.states()).toMatchObject([{ model_locks: [] }, {}])
})

it('once per account: the second refusal sends it on', async () => {
  const accounts = [{ script: [limited(1)] }, {}]
  const { status, actions } = await asked({ accounts, env: { COOLDOWN_RETRY_MAX_WAIT_MS: '5000' } }, 1000)
  expect([status, actions, w.calls()]).toEqual([200, ['waited_cooldown', 'next_account', 'returned'], [2, 1]])
})

it.each<[string, Record<string, string>, Step]>([
  ['it is off', {}, limited(1)],
  ['the hint is longer than allowed', { COOLDOWN_RETRY_MAX_WAIT_MS: '900' }, limited(1)],
  ['the upstream says nothing', { COOLDOWN_RETRY_MAX_WAIT_MS: '5000' }, fail(429)],
  ['the deadline comes first', { COOLDOWN_RETRY_MAX_WAIT_MS: '5000', REQUEST_DEADLINE_MS: '800' }, limited(1)],
  [
    'it is a quota',
    { COOLDOWN_RETRY_MAX_WAIT_MS: '5000' },
    fail(429, { code: 'insufficient_quota', headers: { 'retry-after': '1' } }),
  ],
])('goes on at once when %s', async (_name, env, step) => {
  const { status, actions } = await asked({ accounts: [{ script: [step] }, {}], env }, 0)
  expect([status, actions]).toEqual([200, ['next_account', 'returned']])
})

it('waits no longer in all than the setting, over several accounts', async () => {
  w = await world({
    accounts: [{ script: [limited(2)] }, { script: [limited(2)] }, {}],
    env: { COOLDOWN_RETRY_MAX_WAIT_MS: '3000' },
  })
  const asking = w.status()
  await until(() => w.types().length > 0)
  await w.clock.advance(2000)
  expect(await asking).toBe(200)
  expect(w.calls()).toEqual([2, 1, 1])
})

it('ends with its caller', async () => {
  w = await world({ accounts: [{ script: [limited(2), text('ok')] }], env: { COOLDOWN_RETRY_MAX_WAIT_MS: '5000' } })
  const server = await w.t.listen()
  const gone = new AbortController()
  const asking = fetch(`${server.url}/v1/chat/completions`, {
    method: 'POST',
    signal: gone.signal,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'p/m', messages: [{ role: 'user', content: 'hi' }] }),
  }).catch(() => null)
  await until(() => w.types().length > 0)
  gone.abort()
  await asking
  await w.t.untilSettled(1)
  expect(w.t.settled[0]?.outcome.status).toBe(499)
  expect(w.calls()).toEqual([1])
  expect(await w.states()).toMatchObject([{ inflight: 0 }])
})

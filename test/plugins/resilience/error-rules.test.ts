// GATEWAY_ERROR_RULES, through the gateway.
import { afterEach, describe, expect, it } from 'vitest'
import { fail, reset, type Step, text } from '../../../adapters/testing/script.ts'
import { recordingLog } from '../../support/recording-log.ts'
import { type World, world } from './support.ts'

let w: World
afterEach(() => w.close())

const open = async (rules: unknown, ...script: Step[]) => {
  w = await world({ accounts: [{ script }, {}], env: { ERROR_RULES: JSON.stringify(rules) } })
}

describe('what a rule does', () => {
  it.each<[string, object, Step, unknown[], object]>([
    [
      'cools the account down',
      { status: 400, action: 'cooldown', cooldown_secs: 45 },
      fail(400),
      [200, [1, 1]],
      { status: 'cooldown' },
    ],
    [
      'locks the model',
      { status: [400, 422], contains: 'REGION', action: 'lock_model' },
      fail(422, { message: 'Not in this region.' }),
      [200, [1, 1]],
      { model_locks: [{ model: 'm', reason: 'rule' }] },
    ],
    ['exhausts the quota', { status: '5xx', action: 'quota_exhausted' }, fail(503), [200, [1, 1]], { status: 'quota_exhausted' }],
    [
      'takes the account out',
      { error_code: 'banned', action: 'disable' },
      fail(400, { code: 'banned' }),
      [200, [1, 1]],
      { status: 'auth_failed' },
    ],
    [
      'goes on',
      { regex: 'try\\s+another', action: 'next_account' },
      fail(400, { message: 'Try  another.' }),
      [200, [1, 1]],
      { status: 'active' },
    ],
    ['leaves the target', { status: 500, action: 'next_target' }, fail(500), [500, [1, 0]], { consecutive_failures: 0 }],
    ['gives it to the caller', { status: 500, action: 'return' }, fail(500), [500, [1, 0]], { consecutive_failures: 0 }],
    ['sees what has no status', { status: 0, action: 'return' }, reset(), [502, [1, 0]], { consecutive_failures: 0 }],
    [
      'keeps its effect where the caller gets the error',
      { status: 429, action: 'cooldown', cooldown_secs: 7, retryable: false },
      fail(429),
      [429, [1, 0]],
      { status: 'cooldown' },
    ],
  ])('%s', async (_name, rule, step, [status, calls], state) => {
    await open([rule], step)
    expect(await w.status()).toBe(status)
    expect(w.calls()).toEqual(calls)
    expect((await w.states())[0]).toMatchObject(state)
  })

  it('sends it once more to the same account, once', async () => {
    await open([{ status: 500, action: 'retry' }], fail(500), text('ok'))
    expect([await w.status(), w.calls()]).toEqual([200, [2, 0]])
    expect(w.attempts().map(({ action }) => action)).toEqual(['retried', 'returned'])
    w.accounts[0]?.script(fail(500))
    expect([await w.status(), w.calls()]).toEqual([200, [4, 1]])
    expect(await w.states()).toMatchObject([{ consecutive_failures: 1 }, {}])
  })

  it('backs off when told to', async () => {
    await open([{ status: 400, action: 'cooldown', cooldown_secs: 3, backoff: true }], fail(400))
    for (const wait of [3, 6, 12]) {
      await w.status()
      expect((await w.states())[0]?.cooldown_until).toBe(new Date(w.clock.now() + wait * 1000).toISOString())
      await w.clock.advance(wait * 1000)
    }
  })
})

it('the first rule that matches in every point counts, before the built-in ones', async () => {
  await open(
    [
      { provider: 'other', action: 'return' },
      { model: 'x*', action: 'return' },
      { status: 429, contains: ['nothing', 'tokens per min'], action: 'cooldown', cooldown_secs: 8 },
      { status: 429, action: 'disable' },
    ],
    fail(429, { message: 'Limit on TOKENS PER MIN reached.', headers: { 'retry-after': '3' } }),
  )
  await w.status('m')
  expect((await w.states())[0]).toMatchObject({
    status: 'cooldown',
    model_locks: [],
    cooldown_until: new Date(w.clock.now() + 8000).toISOString(),
  })
})

it('rules that are wrong are logged and left out, the others hold', async () => {
  const log = recordingLog()
  const rules = [
    { action: 'explode' },
    { regex: '(', action: 'return' },
    // Only patterns that run in linear time.
    { regex: '(.)\\1', action: 'return' },
    { status: 500, action: 'return', colour: 1 },
    { status: 500, action: 'return' },
  ]
  w = await world({ accounts: [{ script: [fail(500)] }, {}], env: { ERROR_RULES: JSON.stringify(rules) }, ports: { log } })
  expect([await w.status(), w.calls()]).toEqual([500, [1, 0]])
  const ignored = log.lines.flatMap(({ message, fields }) => (message === 'error_rule.ignored' ? [fields] : []))
  expect(ignored).toMatchObject([{ index: 0, at: 'action' }, { index: 1, at: 'regex' }, { index: 2, at: 'regex' }, { index: 3 }])
})

it.each(['{"not": "a list"}', 'no JSON at all'])('%s: none holds, and the gateway starts', async (text) => {
  w = await world({ accounts: [{ script: [fail(500)] }, {}], env: { ERROR_RULES: text } })
  expect([await w.status(), w.calls()]).toEqual([200, [1, 1]])
})

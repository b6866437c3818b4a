// ACCOUNT_MAX_INFLIGHT, `max_inflight` and COST_CENTER_MAX_INFLIGHT.
import { afterEach, expect, it } from 'vitest'
import { hang, reply, text } from '../../../adapters/testing/script.ts'
import { behind, errorIn, until, type World, type WorldOptions, world } from './support.ts'

let w: World
const open = async (options: WorldOptions) => {
  w = await world(options)
  return w
}
afterEach(() => w.close())

it('fifty callers, one account with two slots: two upstream calls, forty-eight refusals that say when to come back', async () => {
  const { hold, counted } = behind(48)
  await open({ accounts: [{ script: [text('slow', { hold })], maxInflight: 2 }] })
  const answers = await Promise.all(Array.from({ length: 50 }, () => counted(w.chat())))
  const refused = answers.filter(({ status }) => status === 429)
  expect([answers.filter(({ status }) => status === 200).length, refused.length]).toEqual([2, 48])
  expect(refused[0]?.headers.get('retry-after')).toBe('1')
  expect(await errorIn(refused[0] as Response)).toMatchObject({ type: 'rate_limit_error', code: 'rate_limited' })
  expect(w.calls()).toEqual([2])
  expect(await w.status()).toBe(200)
})

it('an account that is full is passed over for the next one, and the timeline says so', async () => {
  const { hold, counted } = behind(1)
  const slow = { script: [text('slow', { hold })] }
  await open({ accounts: [slow, slow], env: { ACCOUNT_MAX_INFLIGHT: '1' } })
  const answers = await Promise.all([w.status(), w.status(), w.status()].map(counted))
  expect(answers.sort()).toEqual([200, 200, 429])
  expect(w.calls()).toEqual([1, 1])
  const skipped = w.t.settled.flatMap(({ ctx }) => ctx.attempts.flatMap(({ skipped }) => skipped?.reason ?? []))
  expect(skipped).toEqual(['at_capacity', 'at_capacity', 'at_capacity'])
})

it('the connection’s own number wins, 0 is unlimited', async () => {
  const script = [text('all at once', { hold: () => until(() => w.calls()[0] === 5) })]
  await open({ accounts: [{ script, maxInflight: 0 }], env: { ACCOUNT_MAX_INFLIGHT: '1' } })
  expect(await Promise.all(Array.from({ length: 5 }, () => w.status()))).toEqual(Array(5).fill(200))
})

it('a slot is held until the end of the stream, and free at once when its caller leaves', async () => {
  await open({
    accounts: [{ script: [reply({ text: 'word after word', chunk: 4 }, { stallAfter: 3 }), text('ok')], maxInflight: 1 }],
  })
  const server = await w.t.listen()
  const gone = new AbortController()
  const streaming = await fetch(`${server.url}/v1/chat/completions`, {
    method: 'POST',
    signal: gone.signal,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'p/m', stream: true, messages: [{ role: 'user', content: 'hi' }] }),
  })
  expect(streaming.status).toBe(200)
  expect(await w.status()).toBe(429)
  expect(await w.states()).toMatchObject([{ inflight: 1, consecutive_failures: 0 }])
  gone.abort()
  await w.t.untilSettled(2)
  expect(await w.status()).toBe(200)
  expect(await w.states()).toMatchObject([{ inflight: 0 }])
})

it('a cost center has a cap of its own, over all accounts, and does not go elsewhere', async () => {
  await open({ accounts: [{ script: [hang()] }, {}], env: { COST_CENTER_MAX_INFLIGHT: '1' } })
  const of = (center: string) => ({ 'x-gateway-cost-center': center })
  const gone = new AbortController()
  const server = await w.t.listen()
  const running = fetch(`${server.url}/v1/chat/completions`, {
    method: 'POST',
    signal: gone.signal,
    headers: { 'content-type': 'application/json', ...of('blue') },
    body: JSON.stringify({ model: 'p/m', messages: [{ role: 'user', content: 'hi' }] }),
  }).catch(() => null)
  await until(() => w.calls()[0] === 1)
  w.accounts[0]?.script(text('ok'))
  const refused = await w.chat('m', {}, of('blue'))
  expect([refused.status, (await errorIn(refused)).code]).toEqual([429, 'rate_limited'])
  expect(w.calls()).toEqual([1, 0])
  expect((await w.chat('m', {}, of('red'))).status).toBe(200)
  expect((await w.chat()).status).toBe(200)
  gone.abort()
  await running
  await w.t.untilSettled(4)
  expect((await w.chat('m', {}, of('blue'))).status).toBe(200)
})

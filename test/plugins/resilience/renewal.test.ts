// A renewable credential: ten requests with one refusal cause one renewal, and all succeed.
import { afterEach, expect, it } from 'vitest'
import { fail, type Step, text } from '../../../adapters/testing/script.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import { type World, world } from './support.ts'

let w: World
afterEach(() => w.close())

async function start(script: Step[], renew: () => Promise<boolean>): Promise<void> {
  const accounts = definePlugin({
    name: 'test-accounts',
    setup: (gateway) => gateway.provide('credentials', { renew }),
  })
  w = await world({ accounts: [{ script }], plugins: [accounts()] })
}

const refused = (count: number): Step[] => Array.from({ length: count }, () => fail(401, { message: 'The token has expired.' }))

it('ten at once: one renewal, each tried once more, the account as it was', async () => {
  let renewals = 0
  await start([...refused(10), ...Array.from({ length: 10 }, () => text('ok'))], async () => {
    renewals++
    // Until all ten were refused.
    await expect.poll(() => w.calls()).toEqual([10])
    return true
  })
  const statuses = await Promise.all(Array.from({ length: 10 }, async () => (await w.chat()).status))
  expect(statuses).toEqual(Array.from({ length: 10 }, () => 200))
  expect(renewals).toBe(1)
  expect(w.calls()).toEqual([20])
  expect(await w.states()).toMatchObject([{ status: 'active' }])
  await w.t.untilSettled(10)
  expect(w.t.settled[0]?.ctx.attempts.map(({ status, action }) => [status, action])).toEqual([
    [401, 'retried'],
    [200, 'returned'],
  ])
})

it('a new credential that is refused as well, or none: the account is out, and asked no more', async () => {
  for (const renewed of [true, false]) {
    let renewals = 0
    await start(refused(4), async () => {
      renewals++
      return renewed
    })
    expect((await w.chat()).status).toBe(502)
    expect(w.calls()).toEqual([renewed ? 2 : 1])
    expect(await w.states()).toMatchObject([{ status: 'auth_failed' }])
    expect((await w.chat()).status).not.toBe(200)
    expect(w.calls()).toEqual([renewed ? 2 : 1])
    expect(renewals).toBe(1)
    if (renewed) await w.close()
  }
})

it('a renewal that fails is logged, and the refusal is the account’s', async () => {
  await start(refused(2), async () => {
    throw new Error('the issuer is away')
  })
  expect((await w.chat()).status).toBe(502)
  expect(await w.states()).toMatchObject([{ status: 'auth_failed' }])
})

// What providers say of their quotas, and what routing makes of it, through a gateway.
import { afterEach, describe, expect, it } from 'vitest'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { text } from '../../../adapters/testing/script.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import { type Site, type SiteOptions, site } from './support.ts'

let s: Site
afterEach(() => s.close())
const start = async (options: SiteOptions = {}) => {
  const clock = fakeClock()
  s = await site(['a', 'b'], { ...options, ports: { clock } })
  return clock
}
const targets = ['a/m', 'b/m']
/** `remaining` of a hundred requests, for another ten minutes. */
const left = (name: string, remaining: number) =>
  text(name, {
    headers: { 'x-ratelimit-limit': '100', 'x-ratelimit-remaining': String(remaining), 'x-ratelimit-reset': '10m' },
  })

describe('a session', () => {
  it('stays while its account has 15 % left, goes on with the strategy when it has less, and comes back no more', async () => {
    const clock = await start({ script: { a: [left('a', 16), left('a', 15), left('a', 14)] } })
    await s.make({ name: 'vm', strategy: 'load_balance', targets })
    const session = { 'x-session-id': 'one' }
    expect(await s.askTimes(3, 'vm', session)).toEqual(['a', 'a', 'a'])
    // Whose turn it is: a was asked in the turns of both, b is next, and keeps the session.
    expect(await s.askTimes(3, 'vm', session)).toEqual(['b', 'b', 'b'])
    await clock.advance('10m')
    expect(await s.askTimes(2, 'vm', session)).toEqual(['b', 'b'])
  })

  it('has nowhere else to go: little left is still something', async () => {
    await start({ script: { a: [left('a', 1)] } })
    await s.make({ name: 'vm', strategy: 'failover', targets: ['a/m'] })
    expect(await s.askTimes(3, 'vm', { 'x-session-id': 'one' })).toEqual(['a', 'a', 'a'])
  })
})

it.each([
  [20, 90, 'b'],
  [90, 20, 'a'],
])('auto goes to whom has more left, where all else is equal: %i and %i', async (ofA, ofB, expected) => {
  const facts = definePlugin({
    name: 'facts',
    requires: ['modelFacts'],
    setup: (gateway) => gateway.use('modelFacts').layer(() => ({ mode: 'chat', contextWindow: 1000, capabilities: {} })),
  })
  const narrow = { a: ['m'], b: ['m'] }
  await start({ plugins: [facts()], narrow, script: { a: [left('a', ofA)], b: [left('b', ofB)] } })
  await s.askTimes(1, 'a/m')
  await s.askTimes(1, 'b/m')
  expect(await s.askTimes(2, 'auto')).toEqual([expected, expected])
})

it('the preview shows what is left, and nothing where nobody has said it', async () => {
  const clock = await start({ script: { a: [left('a', 62)] } })
  const { id } = await s.make({ name: 'vm', strategy: 'failover', targets })
  const shown = async () => {
    const { order } = await s.json<{ order: { signals: Record<string, unknown> }[] }>(`/api/virtual-models/${id}/preview`)
    return order.map(({ signals }) => signals.quota_remaining_pct)
  }
  expect(await shown()).toEqual([undefined, undefined])
  await s.askTimes(1, 'vm')
  expect(await shown()).toEqual([62, undefined])
  await clock.advance('10m')
  expect(await shown()).toEqual([undefined, undefined])
})

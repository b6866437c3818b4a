// Sessions, accounts that rest, internal calls and allow-lists of virtual models, over a gateway.
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { fail, text } from '../../../adapters/testing/script.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import { bearer, makeKey } from '../keys/support.ts'
import { type Site, type SiteOptions, site } from './support.ts'

let s: Site
afterEach(() => s.close())
const start = async (names: string, options?: SiteOptions) => {
  s = await site(names.split(''), options)
}
const targets = (names: string) => names.split('').map((name) => `${name}/m`)

describe('sessions', () => {
  const session = (id: string) => ({ 'x-session-id': id })

  it('stay with who answered them, by header, until their time is over', async () => {
    const clock = fakeClock()
    await start('ab', { ports: { clock } })
    await s.make({ name: 'vm', strategy: 'load_balance', targets: targets('ab'), config: { sticky_ttl_secs: 1 } })
    await s.make({ name: 'loose', strategy: 'load_balance', targets: targets('ab'), config: { session_sticky: false } })
    expect(await s.askTimes(3, 'vm', session('one'))).toEqual(['a', 'a', 'a'])
    expect(await s.askTimes(1, 'vm')).toEqual(['b'])
    for (const name of ['x-gateway-session-id', 'session_id', 'session-id', 'helicone-session-id']) {
      const [first] = await s.askTimes(1, 'vm', { [name]: name })
      expect(await s.askTimes(2, 'vm', { [name]: ` ${name} ` })).toEqual([first, first])
    }
    expect(new Set(await s.askTimes(2, 'loose', session('one')))).toEqual(new Set(['a', 'b']))
    const seen: string[] = []
    for (let i = 0; i < 2; i++) {
      await clock.advance(1000)
      seen.push(...(await s.askTimes(1, 'vm', session('one'))))
    }
    expect(new Set(seen)).toEqual(new Set(['a', 'b']))
  })

  it('move on when their account is not to be had, and stay there', async () => {
    await start('ab')
    await s.make({ name: 'vm', strategy: 'failover', targets: targets('ab') })
    expect(await s.askTimes(1, 'vm', session('one'))).toEqual(['a'])
    s.up.a?.script(fail(500), text('a'))
    expect(await s.askTimes(2, 'vm', session('one'))).toEqual(['b', 'b'])
    expect(await s.askTimes(1, 'vm', session('two'))).toEqual(['a'])
  })
})

describe('an account that rests', () => {
  it('is left out of the turns, shown as dropped, and its sessions move', async () => {
    const limited = fail(429, { headers: { 'retry-after': '600' } })
    await start('ab', { resilience: true })
    const { id } = await s.make({ name: 'vm', strategy: 'load_balance', targets: targets('ab') })
    const session = { 'x-session-id': 'one' }
    expect(await s.askTimes(2, 'vm', session)).toEqual(['a', 'a'])
    s.up.a?.script(limited)
    expect(await s.askTimes(3, 'vm', session)).toEqual(['b', 'b', 'b'])
    expect(await s.askTimes(2, 'vm')).toEqual(['b', 'b'])
    expect(s.calls('a')).toBe(3)
    const shown = await s.json<{ order: { target: string }[]; dropped: { target: string; reason: string; until: string }[] }>(
      `/api/virtual-models/${id}/preview`,
    )
    expect(shown.order.map(({ target }) => target)).toEqual(['b/m'])
    expect(shown.dropped).toMatchObject([{ target: 'a/m', until: expect.stringMatching(/Z$/) }])
    expect(['model_locked', 'cooldown']).toContain(shown.dropped[0]?.reason)
  })
})

describe('an internal call', () => {
  it('may name a virtual model, and goes round like requests from outside', async () => {
    let invoke: (model: string) => Promise<unknown> = async () => undefined
    const inside = definePlugin({
      name: 'inside',
      setup(gateway) {
        invoke = (model) =>
          gateway.invoke(
            {
              model,
              stream: false,
              source: 'chat',
              system: [],
              messages: [{ role: 'user', parts: [{ t: 'text', text: 'hi' }] }],
              tools: [],
              sampling: {},
              headers: {},
              ext: {},
            },
            { operation: 'chat', source: 'inside' },
          )
      },
    })
    await start('ab', { plugins: [inside()] })
    await s.make({ name: 'turns', strategy: 'load_balance', targets: targets('ab') })
    await s.make({ name: 'chain', strategy: 'pipeline', targets: targets('ab') })
    for (let i = 0; i < 2; i++) await invoke('turns')
    expect([s.calls('a'), s.calls('b')]).toEqual([1, 1])
    await invoke('chain')
    expect([s.calls('a'), s.calls('b')]).toEqual([2, 2])
    await s.t.untilSettled(3)
    expect(s.t.settled.map(({ outcome }) => outcome.steps.length)).toEqual([1, 1, 2])
  })
})

describe('a key’s allow-list', () => {
  it('property: is matched against the virtual name alone, never against a target', async () => {
    await start('ab')
    await s.make({ name: 'team/coder', strategy: 'failover', targets: targets('ab') })
    const lists = fc.subarray(['team/coder', 'team/*', 'a/m', 'a/*', 'b/*', '*', 'coder'], { minLength: 1 })
    await fc.assert(
      fc.asyncProperty(lists, async (allowed) => {
        const { key } = await makeKey(s.t, { allowed_models: allowed })
        const before = s.calls('a')
        const { status } = await s.ask('team/coder', {}, bearer(key))
        const passes = allowed.some((glob) => ['team/coder', 'team/*', '*'].includes(glob))
        expect([status, s.calls('a') - before]).toEqual(passes ? [200, 1] : [403, 0])
      }),
      { numRuns: 40, seed: 20261121 },
    )
  })
})

// The effect of an account in trouble names how much slower the requests for its models are since then.
import { afterEach, describe, expect, it } from 'vitest'
import { type FakeClock, fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { fail, type Step, text } from '../../../adapters/testing/script.ts'
import { type World, world } from '../resilience/support.ts'

let w: World
let clock: FakeClock
afterEach(() => w.close())

/** An answer that takes this long by the gateway's clock. */
function slow(ms: number): Step {
  let waited = false
  const hold = (): unknown => {
    if (waited) return undefined
    waited = true
    return clock.advance(`${ms}ms`)
  }
  return text('ok', { hold })
}
const answers = (count: number, ms: number): Step[] => Array.from({ length: count }, () => slow(ms))
const settings = { breaker: { failure_threshold: 3, cooldown_secs: 3600, max_cooldown_secs: 3600 } }

/** `before` requests take `was` ms at the first account; it fails, and `after` requests take `is` ms at the second. */
async function effect({ before = 20, was = 1900, after = 23, is = 4100, model = 'm' } = {}): Promise<string> {
  clock = fakeClock()
  const down: Step[] = [fail(503), fail(503), fail(503)]
  w = await world({
    clock,
    accounts: [{ script: [...answers(before, was), ...down] }, { script: answers(after, is) }],
    config: { settings },
  })
  for (let i = 0; i < before; i++) expect(await w.status(model)).toBe(200)
  // The last minute before the trouble does not count.
  await clock.advance('1m')
  for (let i = 0; i < after; i++) expect(await w.status()).toBe(200)
  await w.t.gateway.committed()
  await clock.advance('5s')
  const { data } = (await (await w.t.fetch('/api/attention')).json()) as { data: { kind: string; effect: string }[] }
  return data.find(({ kind }) => kind === 'circuit_open')?.effect ?? ''
}

describe('the effect of an open circuit', () => {
  it('names p95 before and since', async () => {
    expect(await effect()).toBe('23 requests moved to p/p.2; none failed. p95 1.9 s → 4.1 s.')
  })

  it.each([
    ['half as slow again', { is: 2850 }],
    ['half a second', { was: 100, is: 590 }],
    ['too few requests before', { before: 19 }],
    ['too few requests since', { after: 21 }],
    ['another model before', { model: 'other' }],
  ])('does not: %s', async (_, made) => {
    expect(await effect(made)).toMatch(/^\d+ requests moved to p\/p\.2; none failed\.$/)
  })
})

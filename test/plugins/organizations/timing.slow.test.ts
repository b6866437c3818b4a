// A stranger who measures learns nothing: known and unknown addresses take the same time.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import type { TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { openTenants, signUp } from './support.ts'

const TRIES = 200
let t: TestGateway
const clock = fakeClock()
beforeAll(async () => {
  t = await openTenants({ ports: { clock } })
  await signUp(t, 'known@corp.example')
})
afterAll(() => t.close())

const median = (values: number[]): number => values.sort((x, y) => x - y)[Math.floor(values.length / 2)] as number

/** Difference of the medians, ms. The two take turns, so that a busy machine slows both. */
async function difference(path: string, body: object): Promise<number> {
  const took: Record<string, number[]> = { known: [], unknown: [] }
  for (let i = -10; i < TRIES; i++) {
    // The throttle counts by the minute.
    await clock.advance('1m')
    for (const who of i % 2 === 0 ? ['known', 'unknown'] : ['unknown', 'known']) {
      const from = performance.now()
      const { status } = await t.post(path, { email: `${who}@corp.example`, ...body })
      const ms = performance.now() - from
      expect([200, 401]).toContain(status)
      if (i >= 0) (took[who] as number[]).push(ms)
      // Work that was started after the answer must not slow the next one.
      for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
    }
  }
  return Math.abs(median(took.known as number[]) - median(took.unknown as number[]))
}

describe('known and unknown addresses', () => {
  it.each([
    ['/api/auth/login', { password: 'wrong password' }],
    ['/api/auth/forgot', {}],
    ['/api/auth/verify/resend', {}],
  ])('differ by less than a millisecond in the median at %s', { timeout: 240_000 }, async (path, body) => {
    // Noise of a busy machine comes and goes; a difference of the code is in every round.
    const rounds: number[] = []
    while (rounds.length < 3 && !rounds.some((ms) => ms < 1)) rounds.push(await difference(path, body))
    console.info(`${path}: medians differ by ${rounds.map((ms) => ms.toFixed(3)).join(', ')} ms over ${TRIES} tries`)
    expect(Math.min(...rounds)).toBeLessThan(1)
  })
})

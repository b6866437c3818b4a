// A stranger who measures learns nothing: known and unknown addresses take the same time. A third series is measured like the first, with
// another known address: their difference is the noise of this machine, and the bound grows with it.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { jumpingClock } from '../sign-in/support.ts'
import { openTenants, type Session, signUp } from './support.ts'

const TRIES = 500
/** ms */
const BOUND = 1
const SERIES = ['known', 'unknown', 'familiar'] as const
type Series = (typeof SERIES)[number]

let t: TestGateway
let owner: Session
/** Time passes for limits, and no job runs in between. */
const wall = jumpingClock()
let passed = 0
const clock = { ...wall, monotonic: () => wall.monotonic() + passed }
const jump = (ms: number): void => {
  passed += ms
  wall.jump(ms)
}
const MINUTE = 60_000
beforeAll(async () => {
  t = await openTenants({ ports: { clock } })
  owner = await signUp(t, 'owner@corp.example')
  await signUp(t, 'known@corp.example')
  await signUp(t, 'familiar@corp.example')
})
afterAll(() => t.close())

const sorted = (values: readonly number[]): number[] => [...values].sort((x, y) => x - y)
const median = (values: readonly number[]): number => sorted(values)[Math.floor(values.length / 2)] as number
/** Standard error of the difference of two medians, from the median deviation: a few slow tries do not count. */
const errorOf = (values: readonly number[]): number => {
  const middle = median(values)
  return 1.4826 * median(values.map((value) => Math.abs(value - middle))) * 1.2533 * Math.sqrt(2 / values.length)
}

type Call = (address: string) => Promise<number>

interface Measured {
  readonly difference: number
  readonly bound: number
}

/** The series take turns, so that a busy machine slows all of them. */
async function measured(name: string, call: Call, allowed: readonly number[], pauseMs: number): Promise<Measured> {
  const took: Record<Series, number[]> = { known: [], unknown: [], familiar: [] }
  for (let i = -10; i < TRIES; i++) {
    // Limits count by the minute, the hour and the day.
    jump(pauseMs)
    for (let turn = 0; turn < SERIES.length; turn++) {
      const who = SERIES[(turn + i + 30) % SERIES.length] as Series
      const from = performance.now()
      const status = await call(`${who}@corp.example`)
      const ms = performance.now() - from
      expect(allowed).toContain(status)
      if (i >= 0) took[who].push(ms)
    }
  }
  const [known, unknown, familiar] = SERIES.map((who) => median(took[who])) as [number, number, number]
  const difference = Math.abs(known - unknown)
  const noise = Math.max(Math.abs(known - familiar), errorOf(took.known), errorOf(took.unknown))
  const bound = Math.max(BOUND, 4 * noise)
  const shown = (ms: number): string => ms.toFixed(3)
  console.info(
    `${name}: medians known ${shown(known)}, unknown ${shown(unknown)}, known again ${shown(familiar)} ms; difference ${shown(difference)}, noise ${shown(noise)}, bound ${shown(bound)} ms over ${TRIES} tries each`,
  )
  return { difference, bound }
}

const post =
  (path: string, body: object): Call =>
  async (email) =>
    (await t.post(path, { email, ...body })).status
/** The letter is written after the answer. A caller who asks again at once would notice that. */
const thenAgain =
  (call: Call): Call =>
  async (email) => {
    const status = await call(email)
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
    await t.fetch('/healthz')
    return status
  }
const invite: Call = async (email) => {
  const request = new Request('http://gateway.test/api/orgs/members', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email }),
  })
  const operator = { actor: 'test', orgId: owner.org?.id as number, role: 'owner', readOnly: false, auth: 'host' } as const
  return (await t.gateway.control.fetch(request, { address: null, local: false, secure: true, operator })).status
}

const forgot = post('/api/auth/forgot', {})
const resend = post('/api/auth/verify/resend', {})
const CASES: [string, Call, number[], number][] = [
  ['login', post('/api/auth/login', { password: 'wrong password' }), [401], MINUTE],
  ['forgot', forgot, [200], 15 * MINUTE],
  ['forgot, and the next request', thenAgain(forgot), [200], 15 * MINUTE],
  ['another verification letter, and the next request', thenAgain(resend), [200], 15 * MINUTE],
  ['invite', invite, [201], 25 * MINUTE],
]

describe('known and unknown addresses differ by less than a millisecond in the median', () => {
  it.each(CASES)('%s', { timeout: 400_000 }, async (name, call, allowed, pauseMs) => {
    const { difference, bound } = await measured(name, call, allowed, pauseMs)
    expect(difference).toBeLessThan(bound)
  })
})

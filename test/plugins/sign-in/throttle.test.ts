// The buckets one by one, and which address is counted.
import { describe, expect, it } from 'vitest'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { memoryCounters } from '../../../core/counters/memory.ts'
import { slots } from '../../../plugins/sign-in/slots.ts'
import { forwardedAddress, throttle } from '../../../plugins/sign-in/throttle.ts'

function guarded() {
  const clock = fakeClock(Date.UTC(2026, 0, 1))
  const { attempt } = throttle(memoryCounters(clock), clock)
  const fail = (account: string, address: string | null) =>
    attempt(account, address).then(
      () => 'counted',
      (error: { status: number }) => error.status,
    )
  return { clock, attempt, fail }
}

describe('failed sign-ins', () => {
  it('are five a minute for an account, from wherever', async () => {
    const { fail, clock } = guarded()
    for (let i = 0; i < 5; i++) expect(await fail('ann', `192.0.2.${i}`)).toBe('counted')
    expect(await fail('ann', '192.0.2.99')).toBe(429)
    expect(await fail('ben', '192.0.2.99')).toBe('counted')
    await clock.advance('1m')
    expect(await fail('ann', '192.0.2.99')).toBe('counted')
  })

  it('are twenty a minute for an address, whomever they aim at', async () => {
    const { fail } = guarded()
    for (let i = 0; i < 20; i++) expect(await fail(`user-${i}`, '192.0.2.1')).toBe('counted')
    expect(await fail('user-20', '192.0.2.1')).toBe(429)
    expect(await fail('user-20', '192.0.2.2')).toBe('counted')
  })

  it('are five a minute for all who come without an address', async () => {
    const { fail } = guarded()
    for (let i = 0; i < 5; i++) expect(await fail(`user-${i}`, null)).toBe('counted')
    expect(await fail('user-5', null)).toBe(429)
    expect(await fail('user-5', '192.0.2.1')).toBe('counted')
  })

  it('are three hundred a minute for the whole gateway', async () => {
    const { fail, clock } = guarded()
    for (let i = 0; i < 300; i++) expect(await fail(`user-${i}`, `10.0.${i >> 8}.${i & 255}`)).toBe('counted')
    expect(await fail('user-300', '10.9.9.9')).toBe(429)
    await clock.advance(59_999)
    expect(await fail('user-300', '10.9.9.9')).toBe(429)
    await clock.advance(1)
    expect(await fail('user-300', '10.9.9.9')).toBe('counted')
  })

  it('of a victim do not lock out others behind other addresses', async () => {
    const { fail } = guarded()
    for (let i = 0; i < 50; i++) await fail('victim', '192.0.2.1')
    expect(await fail('other', '192.0.2.1')).toBe('counted')
    expect(await fail('other', '192.0.2.2')).toBe('counted')
  })

  it('are not what a refused or a successful attempt is', async () => {
    const { attempt, fail } = guarded()
    for (let i = 0; i < 40; i++) await (await attempt('ann', '192.0.2.1')).succeeded()
    for (let i = 0; i < 5; i++) expect(await fail('ann', '192.0.2.1')).toBe('counted')
    for (let i = 0; i < 40; i++) expect(await fail('ann', '192.0.2.1')).toBe(429)
    // 5 of this address are booked, not 45.
    for (let i = 0; i < 15; i++) expect(await fail(`user-${i}`, '192.0.2.1')).toBe('counted')
    expect(await fail('user-15', '192.0.2.1')).toBe(429)
  })
})

describe('the address that is counted', () => {
  const cases: [string, Record<string, string>, string | null][] = [
    ['none', {}, null],
    ['the only forwarded one', { 'x-forwarded-for': '203.0.113.7' }, '203.0.113.7'],
    ['the last of several: the others anyone can write', { 'x-forwarded-for': '10.0.0.1, 10.0.0.2,203.0.113.7' }, '203.0.113.7'],
    ['X-Real-IP where there is no list', { 'x-real-ip': '203.0.113.8' }, '203.0.113.8'],
    ['the list before X-Real-IP', { 'x-forwarded-for': '203.0.113.7', 'x-real-ip': '203.0.113.8' }, '203.0.113.7'],
    ['X-Real-IP where the list ends in no address', { 'x-forwarded-for': 'unknown', 'x-real-ip': '203.0.113.8' }, '203.0.113.8'],
    ['none where neither is one', { 'x-forwarded-for': 'a, b', 'x-real-ip': '_hidden' }, null],
    ['none for half an address', { 'x-forwarded-for': '127.1' }, null],
    ['an address with a port', { 'x-forwarded-for': '203.0.113.7:8080' }, '203.0.113.7'],
    ['the /64 of an IPv6 address', { 'x-forwarded-for': '2001:db8:1:2:3:4:5:6' }, '2001:db8:1:2::/64'],
    ['the same /64 for a neighbour', { 'x-forwarded-for': '[2001:db8:1:2:ffff::1]:443' }, '2001:db8:1:2::/64'],
    ['an IPv4 address in IPv6 clothes', { 'x-forwarded-for': '::ffff:203.0.113.7' }, '203.0.113.7'],
    ['not what is far too long', { 'x-forwarded-for': '1'.repeat(5000) }, null],
  ]
  it.each(cases)('is %s', (_, headers, expected) => {
    expect(forwardedAddress(new Headers(headers))).toBe(expected)
  })
})

describe('hashing', () => {
  it('is done by two at a time, in order of arrival, whatever becomes of them (D11)', async () => {
    const two = slots(2)
    const began: number[] = []
    let running = 0
    let most = 0
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, i) =>
        two.run(async () => {
          began.push(i)
          most = Math.max(most, ++running)
          await new Promise((resolve) => setImmediate(resolve))
          running--
          if (i % 3 === 0) throw new Error('no')
          return i
        }),
      ),
    )
    expect(most).toBe(2)
    expect(began).toEqual(Array.from({ length: 20 }, (_, i) => i))
    expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(7)
    expect(await two.run(async () => 'free')).toBe('free')
  })
})

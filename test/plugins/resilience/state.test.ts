// Invariants of an account's state for any sequence of events.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import type { Connection } from '../../../core/types/ports/provider.ts'
import { AccountState } from '../../../plugins/resilience/accounts/account-state.ts'
import type { Effect } from '../../../plugins/resilience/accounts/effects.ts'
import { join, snapshotOf } from '../../../plugins/resilience/accounts/sharing.ts'

const RULES = { threshold: 3, cooldownMs: 30_000, maxCooldownMs: 300_000 }
const connection = { id: '1' } as Connection

const span = fc.record({ ms: fc.integer({ min: 1, max: 4_000_000 }), backoff: fc.boolean() })
const effect: fc.Arbitrary<Effect> = fc.oneof(
  span.map((cooldown) => ({ cooldown })),
  fc
    .tuple(span, fc.boolean())
    .map(([given, all]) => ({ lock: { ...given, reason: 'rate_limited' as const, ...(all ? { all } : {}) } })),
  fc.integer({ min: 1, max: 4_000_000 }).map((quotaMs) => ({ quotaMs })),
  fc.constant({ breaker: true as const }),
)
const happening = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ effect, late: fc.boolean(), probe: fc.boolean(), after: fc.integer({ min: 0, max: 60_000 }) }),
  },
  { weight: 1, arbitrary: fc.record({ success: fc.boolean(), after: fc.integer({ min: 0, max: 60_000 }) }) },
)

it('an end that is set never comes nearer but by a success or by hand, and the account says when to come back', () => {
  fc.assert(
    fc.property(fc.array(happening, { maxLength: 40 }), (list) => {
      const state = new AccountState('1')
      let now = 0
      for (const step of list) {
        now += step.after
        const before = state.blocked(connection, 'm', now)
        const [cooldown, quota] = [state.cooldown?.until ?? 0, state.quotaUntil ?? 0]
        if ('effect' in step) {
          state.apply(step.effect, connection, 'm', now, step.late ? 0 : state.serial)
          if (step.effect.breaker) state.failed(now, RULES, step.probe && state.breaker.beginProbe(now))
          expect(state.cooldown?.until ?? 0).toBeGreaterThanOrEqual(cooldown)
          expect(state.quotaUntil ?? 0).toBeGreaterThanOrEqual(quota)
          if (before !== null) expect(state.blocked(connection, 'm', now)).not.toBeNull()
        } else state.succeeded('m', now, state.serial, step.success)
        const block = state.blocked(connection, 'm', now)
        if (block !== null) {
          expect(block.until).toBeGreaterThan(now)
          const later = state.blocked(connection, 'm', block.until as number)
          expect(later?.reason === block.reason && later.until === block.until).toBe(false)
        }
        if (state.quiet) expect(block).toBeNull()
      }
    }),
    { numRuns: 300 },
  )
})

it('two processes that tell each other know the same, in whichever order, and telling again changes nothing', () => {
  fc.assert(
    fc.property(fc.array(effect, { maxLength: 10 }), fc.array(effect, { maxLength: 10 }), (left, right) => {
      const clock = fakeClock()
      const made = (effects: readonly Effect[]) => {
        const state = new AccountState('1')
        for (const one of effects) state.apply(one, connection, 'm', 0, state.serial)
        return state
      }
      const [a, b] = [made(left), made(right)]
      const [toldByA, toldByB] = [snapshotOf(a, clock), snapshotOf(b, clock)]
      join(a, toldByB, clock)
      join(b, toldByA, clock)
      const ends = (state: AccountState) => {
        const { cooldown_until, quota_until, locks } = snapshotOf(state, clock)
        return [
          cooldown_until,
          quota_until,
          ...['m', '*'].map((name) => locks.find(({ model }) => model === name)?.until ?? null),
        ]
      }
      for (const [index, end] of ends(a).entries()) expect(Math.abs((end ?? 0) - (ends(b)[index] ?? 0))).toBeLessThanOrEqual(1000)
      const before = a.serial
      expect(join(a, snapshotOf(b, clock), clock)).toBe(false)
      expect(a.serial).toBe(before)
    }),
    { numRuns: 200 },
  )
})

it('remembers at most five hundred models, since their names come from callers', () => {
  const state = new AccountState('1')
  for (let i = 0; i < 2000; i++)
    state.apply({ lock: { ms: 1000, backoff: false, reason: 'not_found' } }, connection, `m${i}`, 0, state.serial)
  expect(state.locks.size).toBe(500)
  expect(state.blocked(connection, 'm1999', 0)).toMatchObject({ reason: 'model_locked' })
})

it('an account that an operator holds back stays blocked until the end, whatever its calls bring', () => {
  fc.assert(
    fc.property(fc.array(happening, { maxLength: 40 }), fc.constantFrom('*', 'm'), (list, name) => {
      const state = new AccountState('1')
      let now = 1000
      const { until } = state.hold(name, now + 600_000, now)
      expect(state.hold(name, now + 1000, now).until).toBe(until)
      for (const step of list) {
        now += step.after
        if ('effect' in step) state.apply(step.effect, connection, 'm', now, state.serial)
        else state.succeeded('m', now, state.serial, step.success)
        if (now < until) expect(state.blocked(connection, 'm', now)).not.toBeNull()
      }
    }),
  )
})

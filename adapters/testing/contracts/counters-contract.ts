// Contract tests for a Counters driver. Shared state is tested when the subject has several instances.
import assert from 'node:assert/strict'
import type { Counters } from '../../../core/types/ports/ports.ts'
import type { ContractCase } from './contract.ts'

export interface CountersSubject {
  /** Drivers over one empty store, like several gateways; a driver without a shared store has one. */
  readonly instances: readonly Counters[]
  /** Advances the time of all instances. */
  advance(ms: number): Promise<void>
  /** Stops the time of this instance: it renews nothing, as if its process had crashed. */
  crash(instance: number): void
  close(): Promise<void>
}

const MINUTE = 60_000
const LEASE = 60_000

export function countersContract(name: string, open: () => Promise<CountersSubject>): ContractCase[] {
  const check = (what: string, run: (subject: CountersSubject, counters: Counters) => Promise<void>): ContractCase => ({
    name: `${name}: ${what}`,
    async run() {
      const subject = await open()
      try {
        await run(subject, subject.instances[0] as Counters)
      } finally {
        await subject.close()
      }
    },
  })
  return [
    check('grants a rate exactly, and says to the millisecond when the next slot frees', async (subject, counters) => {
      const limit = { perMinute: 10 }
      for (let i = 0; i < 10; i++) {
        assert.deepEqual(await counters.take('key', limit), { ok: true, retryAfterMs: 0, degraded: false })
        await subject.advance(1000)
      }
      for (let round = 0; round < 3; round++) {
        const refused = await counters.take('key', limit)
        assert.equal(refused.ok, false)
        await subject.advance(refused.retryAfterMs - 1)
        assert.deepEqual(await counters.take('key', limit), { ok: false, retryAfterMs: 1, degraded: false })
        await subject.advance(1)
        assert.equal((await counters.take('key', limit)).ok, true)
      }
    }),
    check('grants a cap once to 1,000 takes at the same time, over all instances', async ({ instances }) => {
      const takes = (limit: { perMinute: number; burst?: number }, key: string) =>
        Promise.all(Array.from({ length: 1000 }, (_, i) => (instances[i % instances.length] as Counters).take(key, limit)))
      assert.equal((await takes({ perMinute: 137 }, 'window')).filter(({ ok }) => ok).length, 137)
      assert.equal((await takes({ perMinute: 60, burst: 137 }, 'bucket')).filter(({ ok }) => ok).length, 137)
    }),
    check('says what a minute holds, and takes nothing', async (subject, counters) => {
      assert.equal(await counters.inMinute('key'), 0)
      for (let i = 0; i < 4; i++) await counters.take('key', { perMinute: 5 })
      await counters.debit('key', 3, MINUTE)
      for (let i = 0; i < 3; i++) assert.equal(await counters.inMinute('key'), 7)
      // Half of the minute before is still inside; what is inside is what `take` goes by.
      await subject.advance(MINUTE + MINUTE / 2)
      assert.equal(await counters.inMinute('key'), 4)
      assert.equal((await counters.take('key', { perMinute: 5 })).ok, true)
      await subject.advance(2 * MINUTE)
      assert.equal(await counters.inMinute('key'), 0)
    }),
    check('lets no burst through at the edge of a window', async (subject, counters) => {
      const granted = async (): Promise<number> => {
        let count = 0
        while ((await counters.take('key', { perMinute: 10 })).ok) count++
        return count
      }
      await counters.take('key', { perMinute: 10 })
      await subject.advance(MINUTE - 1)
      assert.equal(await granted(), 9)
      await subject.advance(1)
      assert.equal(await granted(), 1)
      await subject.advance(MINUTE / 2 - 1)
      assert.equal(await granted(), 4)
      await subject.advance(3 * MINUTE)
      assert.equal(await granted(), 10)
    }),
    check('spends a burst at once and refills it evenly', async (subject, counters) => {
      const limit = { perMinute: 120, burst: 5 }
      for (let i = 0; i < 5; i++) assert.equal((await counters.take('key', limit)).ok, true)
      assert.deepEqual(await counters.take('key', limit), { ok: false, retryAfterMs: 500, degraded: false })
      await subject.advance(499)
      assert.equal((await counters.take('key', limit)).retryAfterMs, 1)
      await subject.advance(1)
      assert.equal((await counters.take('key', limit)).ok, true)
      assert.equal((await counters.take('key', limit, 3)).retryAfterMs, 1500)
      await subject.advance(10 * MINUTE)
      for (let i = 0; i < 5; i++) assert.equal((await counters.take('key', limit)).ok, true)
      assert.equal((await counters.take('key', limit)).ok, false)
    }),
    check(
      'admits what is larger than the cap when nothing else is booked, and never under a cap of 0',
      async (subject, counters) => {
        for (const limit of [{ perMinute: 10 }, { perMinute: 10, burst: 10 }]) {
          const key = `key-${limit.burst ?? ''}`
          assert.equal((await counters.take(key, limit, 25)).ok, true)
          const refused = await counters.take(key, limit, 25)
          assert.equal(refused.ok, false)
          await subject.advance(refused.retryAfterMs - 1)
          assert.equal((await counters.take(key, limit, 25)).ok, false)
          await subject.advance(1)
          assert.equal((await counters.take(key, limit, 25)).ok, true)
        }
        for (const limit of [{ perMinute: 0 }, { perMinute: 0, burst: 0 }])
          assert.deepEqual(await counters.take('never', limit), { ok: false, retryAfterMs: MINUTE, degraded: false })
      },
    ),
    check('asks with a cost of 0 whether what was debited leaves room', async (subject, counters) => {
      const limit = { perMinute: 1000 }
      const room = async (): Promise<boolean> => (await counters.take('tpm', limit, 0)).ok
      assert.equal(await room(), true)
      assert.deepEqual(await counters.debit('tpm', 999, MINUTE), { total: 999, endsInMs: MINUTE, degraded: false })
      assert.equal(await room(), true)
      assert.equal(await room(), true)
      assert.equal((await counters.debit('tpm', 4001, MINUTE)).total, 5000)
      const { ok, retryAfterMs } = await counters.take('tpm', limit, 0)
      assert.equal(ok, false)
      await subject.advance(retryAfterMs - 1)
      assert.equal(await room(), false)
      await subject.advance(1)
      assert.equal(await room(), true)
    }),
    check('totals debits over a window and begins again after it', async (subject, counters) => {
      for (const expected of [3, 6, 9]) assert.equal((await counters.debit('a', 3, 5000)).total, expected)
      assert.equal((await counters.debit('b', 1, 5000)).total, 1)
      await subject.advance(4999)
      assert.deepEqual(await counters.debit('a', 0, 5000), { total: 9, endsInMs: 1, degraded: false })
      await subject.advance(1)
      assert.equal((await counters.debit('a', 1, 5000)).total, 1)
    }),
    check('gives each slot to one holder; releasing twice frees one', async (_, counters) => {
      const first = await counters.acquire('slots', 2, LEASE)
      const second = await counters.acquire('slots', 2, LEASE)
      assert.deepEqual([first.ok, second.ok, first.degraded], [true, true, false])
      const refused = await counters.acquire('slots', 2, LEASE)
      assert.equal(refused.ok, false)
      refused.release()
      assert.equal((await counters.acquire('slots', 2, LEASE)).ok, false)
      first.release()
      first.release()
      assert.equal((await counters.acquire('slots', 2, LEASE)).ok, true)
      assert.equal((await counters.acquire('slots', 2, LEASE)).ok, false)
      assert.equal((await counters.acquire('other', 1, LEASE)).ok, true)
      assert.equal((await counters.acquire('none', 0, LEASE)).ok, false)
    }),
    check('keeps a slot for as long as it is held', async (subject, counters) => {
      const { release } = await counters.acquire('slots', 1, LEASE)
      for (let i = 0; i < 5; i++) {
        await subject.advance(LEASE)
        assert.equal((await counters.acquire('slots', 1, LEASE)).ok, false)
      }
      release()
      assert.equal((await counters.acquire('slots', 1, LEASE)).ok, true)
    }),
    check('flags once until the time is over, whoever asks', async (subject) => {
      const winners = async (): Promise<number> => {
        const asked = Array.from({ length: 40 }, (_, i) =>
          (subject.instances[i % subject.instances.length] as Counters).once('flag', 30_000),
        )
        return (await Promise.all(asked)).filter(Boolean).length
      }
      assert.equal(await winners(), 1)
      await subject.advance(29_999)
      assert.equal(await winners(), 0)
      await subject.advance(1)
      assert.equal(await winners(), 1)
    }),
    check('shares every count between instances, and frees the slots of one that died', async (subject) => {
      const [one, two] = subject.instances
      if (one === undefined || two === undefined) return
      let granted = 0
      for (let i = 0; i < 20; i++) if ((await (i % 2 ? one : two).take('rpm', { perMinute: 10 })).ok) granted++
      assert.equal(granted, 10)
      await one.debit('sum', 5, MINUTE)
      assert.equal((await two.debit('sum', 5, MINUTE)).total, 10)
      await one.acquire('slots', 2, LEASE)
      await two.acquire('slots', 2, LEASE)
      assert.equal((await two.acquire('slots', 2, LEASE)).ok, false)
      subject.crash(0)
      await subject.advance(LEASE - 1)
      assert.equal((await two.acquire('slots', 2, LEASE)).ok, false)
      await subject.advance(1)
      assert.equal((await two.acquire('slots', 2, LEASE)).ok, true)
      assert.equal((await two.acquire('slots', 2, LEASE)).ok, false)
    }),
  ]
}

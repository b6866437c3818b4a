// In-flight slots across processes: the cap applies to all of them, and the slots of a killed one are free again when the lease has
// expired, not earlier.
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { redisCounters } from '../../../adapters/stores/redis-counters.ts'
import { systemClock } from '../../../core/timing/clock.ts'
import { redisEnv, redisLink, whyNoRedis } from '../../support/redis.ts'
import { runTs } from '../../support/run-ts.ts'

const missing = await whyNoRedis()
const SLOTS = 3
// Longer than a busy machine suspends a process: the holder must renew in time.
const LEASE_MS = 9000

describe.skipIf(missing !== null)(`slots of a process that is killed${missing ? ` (skipped: ${missing})` : ''}`, () => {
  it('stay held while it lives, also beyond the lease, and are free when it has run out after kill -9', {
    timeout: 180_000,
  }, async () => {
    const env = redisEnv()
    const link = await redisLink(env)
    const counters = redisCounters({ link, clock: systemClock })
    const holder = runTs('slot-holder.ts', env, String(SLOTS), String(LEASE_MS))
    const exited = once(holder, 'exit')
    try {
      const [printed] = (await once(holder.stdout, 'data')) as [Buffer]
      expect(printed.toString().trim()).toBe(String(SLOTS))
      const free = async () => {
        const slot = await counters.acquire('account', SLOTS, LEASE_MS)
        slot.release()
        return slot.ok
      }
      const living = performance.now()
      while (performance.now() - living < 1.2 * LEASE_MS) {
        expect(await free()).toBe(false)
        await systemClock.sleep(100)
      }
      holder.kill('SIGKILL')
      await exited
      const killed = performance.now()
      expect(await free()).toBe(false)
      while (!(await free())) await systemClock.sleep(20)
      expect(performance.now() - killed).toBeLessThan(2.5 * LEASE_MS)
      const granted = async () => {
        const slots = await Promise.all(Array.from({ length: SLOTS + 1 }, () => counters.acquire('account', SLOTS, LEASE_MS)))
        for (const slot of slots) slot.release()
        return slots.filter(({ ok }) => ok).length
      }
      // Each was taken, and expires, at its own time.
      await expect.poll(granted).toBe(SLOTS)
    } finally {
      holder.kill('SIGKILL')
      await link.remove()
    }
  })
})

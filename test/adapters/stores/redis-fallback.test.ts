// Limits while Redis is slow, dead or answers garbage: the three policies, the added latency, and the recovery.
import { afterEach, describe, expect, it } from 'vitest'
import { type FallbackPolicy, fallbackCounters } from '../../../adapters/stores/fallback-counters.ts'
import { openRedis, type RedisLink } from '../../../adapters/stores/redis-client.ts'
import { redisCounters } from '../../../adapters/stores/redis-counters.ts'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { type FakeRedis, fakeRedis } from '../../../adapters/testing/fake-redis.ts'
import { closedPort } from '../../../adapters/testing/network-faults.ts'
import { memoryCounters } from '../../../core/counters/memory.ts'
import { jsonLog } from '../../../core/log.ts'
import { expectWithin, timed } from '../../support/in-time.ts'
import { REDIS_URL, untilReady, whyNoRedis } from '../../support/redis.ts'

const POLICIES: FallbackPolicy[] = ['fail-open', 'local', 'fail-closed']
const noRedis = await whyNoRedis()
const LIMIT = { perMinute: 2 }
const PATIENT = 5000
const DEFAULT = 50

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function gateway(policy: FallbackPolicy, url: string, commandTimeoutMs?: number) {
  const clock = fakeClock()
  const lines: string[] = []
  const log = jsonLog(clock, { level: 'debug', write: (line) => void lines.push(line) })
  const link = await openRedis({ url, env: 'test', clock, log, commandTimeoutMs })
  closing.push(() => link.close())
  const shared = redisCounters({ link, clock })
  const counters = fallbackCounters({ shared, local: memoryCounters(clock), link, policy, clock })
  return { clock, lines, link, counters }
}

/** A server that answers 0 (take granted, slot refused), 1 to acquire and once, and to a debit a total and ms to the end. */
async function server(): Promise<FakeRedis> {
  const fake = await fakeRedis((command, args) => {
    if (!/^eval/.test(command)) return 0
    if (/:(slots|once):/.test(args.join(' '))) return 1
    // A debit has one argument less than a take.
    return args.length === 6 ? [7, 500] : 0
  })
  closing.push(() => fake.die())
  return fake
}

/** A long time limit where nothing hangs, so that a busy machine fails no test about something else. */
async function connected(policy: FallbackPolicy, commandTimeoutMs: number | undefined = PATIENT) {
  const redis = await server()
  const parts = await gateway(policy, redis.url, commandTimeoutMs)
  await untilReady(parts.link)
  return { redis, ...parts }
}

async function lost(link: RedisLink): Promise<void> {
  await expect.poll(() => link.usable).toBe(false)
}

/** The connection that a hang cost was replaced; until its end the old one still reports itself ready. */
const reconnected = (link: RedisLink): Promise<void> => new Promise((resolve) => link.redis.once('ready', resolve))

const code = (error: { status?: number; code?: string }) => [error.status, error.code]

describe('while Redis answers', () => {
  it.each(POLICIES)('%s: counts there, undegraded', async (policy) => {
    const { counters, redis } = await connected(policy)
    for (let i = 0; i < 5; i++) expect(await counters.take('k', LIMIT)).toEqual({ ok: true, retryAfterMs: 0, degraded: false })
    expect((await counters.acquire('k', 1, 60_000)).ok).toBe(true)
    expect(await counters.once('k', 1000)).toBe(true)
    expect(await counters.debit('k', 1, 1000)).toEqual({ total: 7, endsInMs: 500, degraded: false })
    expect(redis.commands.filter((name) => name.startsWith('eval'))).toHaveLength(8)
    expect(await counters.health()).toEqual({ ok: true, latency_ms: 0, mode: 'redis' })
  })
})

describe('when Redis dies', () => {
  it.each(['dies', 'silent', 'garbage', 'error'] as const)('fail-open: allows, and says so (%s)', async (fault) => {
    const { counters, redis, link } = await connected('fail-open', fault === 'silent' ? DEFAULT : PATIENT)
    await breakIt(redis, link, fault)
    for (let i = 0; i < 6; i++) expect(await counters.take('k', LIMIT)).toEqual({ ok: true, retryAfterMs: 0, degraded: true })
    for (let i = 0; i < 3; i++) expect(await counters.acquire('k', 1, 60_000)).toMatchObject({ ok: true, degraded: true })
  })

  it.each(['dies', 'silent', 'garbage', 'error'] as const)('local: this process counts on (%s)', async (fault) => {
    const { counters, redis, link } = await connected('local', fault === 'silent' ? DEFAULT : PATIENT)
    await breakIt(redis, link, fault)
    const taken = []
    for (let i = 0; i < 4; i++) taken.push(await counters.take('k', LIMIT))
    expect(taken.map(({ ok }) => ok)).toEqual([true, true, false, false])
    expect(taken.every(({ degraded }) => degraded)).toBe(true)
    const held = await counters.acquire('k', 1, 60_000)
    expect(await counters.acquire('k', 1, 60_000)).toMatchObject({ ok: false, degraded: true })
    held.release()
    expect(await counters.acquire('k', 1, 60_000)).toMatchObject({ ok: true, degraded: true })
  })

  it.each(['dies', 'silent', 'garbage', 'error'] as const)('fail-closed: refuses with 503 (%s)', async (fault) => {
    const { counters, redis, link } = await connected('fail-closed', fault === 'silent' ? DEFAULT : PATIENT)
    await breakIt(redis, link, fault)
    for (let i = 0; i < 5; i++) {
      expect(await Promise.resolve(counters.take('k', LIMIT)).catch(code)).toEqual([503, 'storage_unavailable'])
      expect(await counters.acquire('k', 1, 60_000).catch(code)).toEqual([503, 'storage_unavailable'])
    }
  })

  it.each(POLICIES)('%s: bookings and flags go on in this process', async (policy) => {
    const { counters, redis, link } = await connected(policy)
    await breakIt(redis, link, 'dies')
    expect(await counters.debit('k', 4, 1000)).toEqual({ total: 4, endsInMs: 1000, degraded: true })
    expect(await counters.debit('k', 4, 1000)).toEqual({ total: 8, endsInMs: 1000, degraded: true })
    expect([await counters.once('k', 1000), await counters.once('k', 1000)]).toEqual([true, false])
    expect(await counters.health()).toEqual({ ok: false, latency_ms: null, mode: 'local' })
  })

  it('comes back by itself, with the shared counts', async () => {
    const { counters, redis, link, clock } = await connected('local')
    await breakIt(redis, link, 'dies')
    expect((await counters.take('k', LIMIT)).degraded).toBe(true)
    await redis.revive()
    await untilReady(link)
    await clock.advance(5000)
    expect(await counters.take('k', LIMIT)).toEqual({ ok: true, retryAfterMs: 0, degraded: false })
    expect(await counters.health()).toMatchObject({ ok: true, mode: 'redis' })
  })

  it('comes back when it closed the connection during the handshake', async () => {
    const redis = await server()
    redis.mode = 'garbage'
    const { counters, link } = await gateway('local', redis.url, PATIENT)
    expect((await counters.take('k', LIMIT)).degraded).toBe(true)
    await new Promise((resolve) => link.redis.once('close', resolve))
    redis.mode = 'ok'
    await untilReady(link)
    expect((await counters.take('k', LIMIT)).degraded).toBe(false)
  })
})

describe('a Redis that hangs', () => {
  it('adds at most 60 ms a call, three times, and then nothing until it is probed', async () => {
    const hanging = async () => {
      const parts = await connected('local', DEFAULT)
      parts.redis.mode = 'silent'
      const call = () => timed(async () => expect((await parts.counters.take('k', { perMinute: 100 })).degraded).toBe(true))
      const times: number[] = []
      for (let i = 0; i < 6; i++) times.push(await call())
      for (const time of times.slice(0, 3)) expect(time).toBeGreaterThan(45)
      return { ...parts, times }
    }
    // The limit is 60, plus 40 for a machine that is busy with other tests.
    await expectWithin(100, async () => Math.max(...(await hanging()).times.slice(0, 3)))
    await expectWithin(20, async () => Math.max(...(await hanging()).times.slice(3)))

    const { counters, redis, link, clock } = await hanging()
    const back = reconnected(link)
    redis.mode = 'ok'
    await back
    expect((await counters.take('k', { perMinute: 100 })).degraded).toBe(true)
    const probed = async (): Promise<boolean> => {
      await clock.advance(5000)
      return (await counters.take('k', { perMinute: 100 })).degraded
    }
    await expect.poll(probed).toBe(false)
  })

  it('delays a crowd once, not one after the other, and one probe stands for all', async () => {
    const { counters, redis, clock, link } = await connected('fail-open', DEFAULT)
    const crowd = () => Promise.all(Array.from({ length: 200 }, () => counters.take('k', LIMIT)))
    redis.mode = 'silent'
    for (let stall = 1; stall <= 3; stall++) {
      // One after the other would take ten seconds.
      expect(await timed(crowd)).toBeLessThan(5000)
      expect(link.usable).toBe(stall < 3)
    }
    redis.mode = 'error'
    await reconnected(link)
    const before = redis.commands.length
    await clock.advance(5000)
    await Promise.all(Array.from({ length: 200 }, () => counters.take('k', LIMIT)))
    expect(redis.commands.length - before).toBe(1)
    expect(link.usable).toBe(false)
  })

  it('fail-open: this process counts until three stalls in a row say that Redis is down', async () => {
    const { counters, redis } = await connected('fail-open', DEFAULT)
    const crowd = async () => {
      const taken = await Promise.all(Array.from({ length: 20 }, () => counters.take('k', LIMIT)))
      return taken.filter(({ ok }) => ok).length
    }
    redis.mode = 'silent'
    expect(await crowd()).toBe(2)
    expect(await crowd()).toBe(0)
    expect(await crowd()).toBe(20)
  })

  it('gets its slot back when its answer to acquire comes too late', async () => {
    const { counters, redis } = await connected('fail-open', DEFAULT)
    redis.mode = 'silent'
    const asked = counters.acquire('k', 1, 60_000)
    expect(await asked).toMatchObject({ ok: true, degraded: true })
    await expect.poll(() => redis.commands).toEqual(['eval', 'zrem'])
  })
})

describe('a Redis that was never reached', () => {
  const nowhere = async () => `redis://user:secret-canary@127.0.0.1:${await closedPort()}`

  it.each([
    'fail-open',
    'local',
  ] as const)('%s: this process enforces the limits, so that a wrong URL lifts none', async (policy) => {
    const { counters } = await gateway(policy, await nowhere())
    const taken = []
    for (let i = 0; i < 4; i++) taken.push(await counters.take('k', LIMIT))
    expect(taken.map(({ ok }) => ok)).toEqual([true, true, false, false])
    expect(taken.every(({ degraded }) => degraded)).toBe(true)
    expect(await counters.health()).toEqual({ ok: false, latency_ms: null, mode: 'local' })
  })

  it('fail-closed: refuses with 503', async () => {
    const { counters } = await gateway('fail-closed', await nowhere())
    expect(await Promise.resolve(counters.take('k', LIMIT)).catch(code)).toEqual([503, 'storage_unavailable'])
  })

  it('is asked nothing, and does not delay the boot, when it accepts and never answers', async () => {
    await expectWithin(500, async () => {
      const redis = await server()
      redis.mode = 'silent'
      const took = await timed(async () => {
        const { counters } = await gateway('local', redis.url)
        expect((await counters.take('k', LIMIT)).degraded).toBe(true)
      })
      expect(redis.commands).toEqual([])
      return took
    })
  })
})

describe('what is said about it', () => {
  it('is one line a change, without anything of the URL', async () => {
    const { lines, redis, link, counters, clock } = await connected('local')
    await breakIt(redis, link, 'dies')
    for (let i = 0; i < 5; i++) await counters.take('k', LIMIT)
    await redis.revive()
    await untilReady(link)
    await clock.advance(5000)
    await counters.take('k', LIMIT)
    const said = lines.map((line) => (JSON.parse(line) as { message: string }).message)
    // On a machine that stalls, the first connection may need two attempts.
    expect(said.slice(said.indexOf('redis.connected'))).toEqual(['redis.connected', 'redis.lost', 'redis.connected'])
    expect(lines.join()).not.toContain('canary')
  })

  it('reports a slow Redis once', async () => {
    const { lines, redis, counters } = await connected('local', DEFAULT)
    redis.mode = 'silent'
    for (let i = 0; i < 2; i++) await counters.take('k', LIMIT)
    expect(lines.filter((line) => line.includes('redis.slow'))).toHaveLength(1)
  })

  it.skipIf(noRedis !== null)('refuses to start on a database number that the server does not have', async () => {
    const url = new URL(REDIS_URL)
    url.pathname = '/99999'
    await expect(gateway('local', url.href)).rejects.toThrow(
      'GATEWAY_REDIS_URL names database 99999, which this Redis does not have',
    )
    url.pathname = '/1'
    const { link } = await gateway('local', url.href)
    expect(link.redis.status).toBe('ready')
  })

  it.each(['http://127.0.0.1:1/secret-canary', 'secret-canary'])('refuses %s by the name of the variable', async (url) => {
    const refusal = await gateway('local', url).catch((error: Error) => error.message)
    expect(refusal).toBe('GATEWAY_REDIS_URL must be a redis:// or rediss:// URL.')
  })
})

/** Ends with the link unusable. For a fault that only a call can detect, the first calls are still to come. */
async function breakIt(redis: FakeRedis, link: RedisLink, fault: 'dies' | 'silent' | 'garbage' | 'error'): Promise<void> {
  if (fault !== 'dies') redis.mode = fault
  else {
    await redis.die()
    await lost(link)
  }
}

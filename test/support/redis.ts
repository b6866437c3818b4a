// The Redis of the tests: TEST_REDIS_URL or the local one. Each user gets a key prefix of its own and removes its keys.
import { randomUUID } from 'node:crypto'
import { Command, Redis } from 'ioredis'
import { afterAll, beforeAll, expect } from 'vitest'
import { NO_ANSWER } from '../../adapters/stores/answer-watch.ts'
import { openRedis, type RedisLink } from '../../adapters/stores/redis-client.ts'
import { silentLog } from '../../core/log.ts'
import { systemClock } from '../../core/timing/clock.ts'
import type { Clock } from '../../core/types/ports/ports.ts'

export const REDIS_URL = process.env.TEST_REDIS_URL ?? 'redis://127.0.0.1:6379'

/** Why tests with a real Redis cannot run, null when they can. */
export async function whyNoRedis(): Promise<string | null> {
  const redis = new Redis(REDIS_URL, { lazyConnect: true, retryStrategy: () => null, connectTimeout: 15_000 })
  redis.on('error', () => {})
  try {
    await redis.connect()
    return null
  } catch {
    return 'no Redis answers at TEST_REDIS_URL or 127.0.0.1:6379'
  } finally {
    redis.disconnect()
  }
}

/**
 * In the tests of this file Redis may take as long as it needs, also where a gateway would give it 50 ms: they are not about
 * a slow one, and a busy machine is.
 */
export function patientRedis(): void {
  const commands = Command.prototype as unknown as { initPromise(this: Command): void }
  const { initPromise } = commands
  beforeAll(() => {
    commands.initPromise = function () {
      initPromise.call(this)
      const { reject } = this
      this.reject = (error) => {
        if (error.message !== NO_ANSWER) reject(error)
      }
    }
  })
  afterAll(() => {
    commands.initPromise = initPromise
  })
}

/** What a gateway keeps before it has reached Redis it keeps for itself: a test of two that share waits for both. */
export async function reachedRedis(...gateways: { fetch(path: string): Promise<Response> }[]): Promise<void> {
  for (const t of gateways) {
    const mode = async () => ((await (await t.fetch('/healthz')).json()) as { shared_store: { mode: string } }).shared_store.mode
    await expect.poll(mode).toBe('redis')
  }
}

export const redisEnv = (): string => `test-${randomUUID()}`

export interface TestLink extends RedisLink {
  /** Removes every key under the prefix and closes. */
  remove(): Promise<void>
}

/** A connected link with a patient time limit, so that a busy machine fails no test about counting. */
export async function redisLink(env = redisEnv(), clock: Clock = systemClock): Promise<TestLink> {
  const link = await openRedis({ url: REDIS_URL, env, clock, log: silentLog, commandTimeoutMs: 10_000 })
  await untilReady(link)
  const remove = async (): Promise<void> => {
    const keys = await link.redis.keys(`${link.prefix}*`)
    if (keys.length > 0) await link.redis.unlink(...keys)
    await link.close()
  }
  return Object.assign(Object.create(link) as TestLink, { remove })
}

export async function untilReady(link: RedisLink): Promise<void> {
  if (link.redis.status !== 'ready') await new Promise((resolve) => link.redis.once('ready', resolve))
}

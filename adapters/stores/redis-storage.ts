// Key-value storage over Redis, for values that may be lost: caches, stickiness, cooldowns. While Redis is unavailable they are in this
// process's memory. It uses the counters' breaker, so a slow store delays no request.
import { createStorage, type Driver } from 'unstorage'
import type { KeyValueStore } from '../../core/types/ports/ports.ts'
import type { RedisLink } from './redis-client.ts'

export interface RedisStorageOptions {
  link: RedisLink
  /** Used while Redis is unavailable: memoryDriver of the core. */
  local: Driver
}

export function redisStorage(options: RedisStorageOptions): KeyValueStore {
  return createStorage({ driver: redisDriver(options) })
}

/**
 * `setItem(key, value, { ttl })` takes seconds with fractions, as the memory driver does. unstorage's own Redis driver opens a second
 * connection without our time limits and refuses fractions of a second.
 */
export function redisDriver({ link, local }: RedisStorageOptions): Driver {
  const root = `${link.prefix}kv:`
  const either = <T>(shared: () => Promise<T>, alone: () => T | Promise<T>): Promise<T> =>
    link.attempt(shared)?.catch(alone) ?? Promise.resolve().then(alone)

  const keysUnder = async (base = ''): Promise<string[]> => {
    const pattern = `${escapeGlob(root + base)}*`
    const keys = new Set<string>()
    let cursor = '0'
    do {
      const [next, found] = await link.redis.scan(cursor, 'MATCH', pattern, 'COUNT', 500)
      for (const key of found) keys.add(key)
      cursor = next
    } while (cursor !== '0')
    return [...keys]
  }

  return {
    name: 'redis',
    hasItem: (key, options) =>
      either(
        async () => (await link.redis.exists(root + key)) === 1,
        () => local.hasItem(key, options),
      ),
    getItem: (key, options) =>
      either(
        () => link.redis.get(root + key),
        () => local.getItem(key, options) as string | null,
      ),
    setItem: (key, value, options) =>
      either<void>(
        async () => {
          const ttl = options.ttl as number | undefined
          await (ttl ? link.redis.set(root + key, value, 'PX', Math.ceil(ttl * 1000)) : link.redis.set(root + key, value))
        },
        () => local.setItem?.(key, value, options),
      ),
    removeItem: (key, options) =>
      either<void>(
        async () => void (await link.redis.unlink(root + key)),
        () => local.removeItem?.(key, options),
      ),
    getKeys: (base, options) =>
      either(
        async () => (await keysUnder(base)).map((key) => key.slice(root.length)),
        () => local.getKeys(base, options),
      ),
    clear: (base, options) =>
      either<void>(
        async () => {
          const keys = await keysUnder(base)
          for (let at = 0; at < keys.length; at += 500) await link.redis.unlink(...keys.slice(at, at + 500))
        },
        () => local.clear?.(base, options),
      ),
    dispose: () => local.dispose?.(),
  }
}

function escapeGlob(text: string): string {
  return text.replace(/[\\*?[\]]/g, '\\$&')
}

// An unstorage driver in memory with a TTL and a size limit. It evicts the least recently used entry first.
import type { Driver } from 'unstorage'
import type { Clock } from '../types/ports.ts'

interface Entry {
  value: unknown
  /** Monotonic ms, Infinity without a TTL. */
  expires: number
}

export interface MemoryDriverOptions {
  clock: Clock
  /** Default 50,000. */
  maxEntries?: number
}

/** `setItem(key, value, { ttl })` takes seconds, as other drivers do. */
export function memoryDriver({ clock, maxEntries = 50_000 }: MemoryDriverOptions): Driver {
  const entries = new Map<string, Entry>()
  const live = (key: string): Entry | undefined => {
    const entry = entries.get(key)
    if (entry === undefined) return undefined
    entries.delete(key)
    if (entry.expires <= clock.monotonic()) return undefined
    entries.set(key, entry)
    return entry
  }
  const set = (key: string, value: unknown, options: { ttl?: number } = {}): void => {
    entries.delete(key)
    entries.set(key, { value, expires: options.ttl ? clock.monotonic() + options.ttl * 1000 : Number.POSITIVE_INFINITY })
    if (entries.size > maxEntries) entries.delete(entries.keys().next().value as string)
  }
  return {
    name: 'memory',
    hasItem: (key) => live(key) !== undefined,
    getItem: (key) => (live(key)?.value ?? null) as null,
    getItemRaw: (key) => live(key)?.value ?? null,
    setItem: set,
    setItemRaw: set,
    removeItem: (key) => void entries.delete(key),
    getKeys: () => [...entries.keys()].filter((key) => live(key) !== undefined),
    clear: () => entries.clear(),
    dispose: () => entries.clear(),
  }
}

// An unstorage driver in memory with a TTL and a size limit. It evicts the least recently used entry first.
import type { Driver } from 'unstorage'
import type { Clock } from '../types/ports/ports.ts'

interface Entry {
  value: unknown
  /** Monotonic ms, Infinity without a TTL. */
  expires: number
}

export interface MemoryDriverOptions {
  clock: Clock
  /** Default 50,000. */
  maxEntries?: number
  /** Limit of the keys and texts together, bytes at one byte per character; values of other types count nothing. Default: none. */
  maxBytes?: number
}

/** `setItem(key, value, { ttl })` takes seconds, as other drivers do. */
export function memoryDriver({ clock, maxEntries = 50_000, maxBytes = Number.POSITIVE_INFINITY }: MemoryDriverOptions): Driver {
  const entries = new Map<string, Entry>()
  let bytes = 0
  const remove = (key: string): Entry | undefined => {
    const entry = entries.get(key)
    if (entry !== undefined && entries.delete(key)) bytes -= sizeOf(key, entry)
    return entry
  }
  const live = (key: string): Entry | undefined => {
    const entry = remove(key)
    if (entry === undefined || entry.expires <= clock.monotonic()) return undefined
    keep(key, entry)
    return entry
  }
  const keep = (key: string, entry: Entry): void => {
    entries.set(key, entry)
    bytes += sizeOf(key, entry)
  }
  const set = (key: string, value: unknown, options: { ttl?: number } = {}): void => {
    remove(key)
    keep(key, { value, expires: options.ttl ? clock.monotonic() + options.ttl * 1000 : Number.POSITIVE_INFINITY })
    while (entries.size > maxEntries || bytes > maxBytes) remove(entries.keys().next().value as string)
  }
  const clear = (): void => {
    entries.clear()
    bytes = 0
  }
  return {
    name: 'memory',
    hasItem: (key) => live(key) !== undefined,
    getItem: (key) => (live(key)?.value ?? null) as null,
    getItemRaw: (key) => live(key)?.value ?? null,
    setItem: set,
    setItemRaw: set,
    removeItem: (key) => void remove(key),
    getKeys: () => [...entries.keys()].filter((key) => live(key) !== undefined),
    clear,
    dispose: clear,
  }
}

function sizeOf(key: string, { value }: Entry): number {
  return key.length + (typeof value === 'string' ? value.length : 0)
}

// A map whose entries expire. Above its limit it evicts the least recently used entry.
import type { Clock } from '../types/ports/ports.ts'

export interface ExpiringMapOptions {
  clock: Clock
  ttlMs: number
  maxEntries: number
}

/** Holds at most `maxEntries` values, each for `ttlMs`. */
export class ExpiringMap<V> {
  readonly #entries = new Map<string, { value: V; until: number }>()
  readonly #options: ExpiringMapOptions

  constructor(options: ExpiringMapOptions) {
    this.#options = options
  }

  /** Marks the entry as recently used; its expiry stays the same. */
  get(key: string): V | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    this.#entries.delete(key)
    if (entry.until <= this.#options.clock.monotonic()) return undefined
    this.#entries.set(key, entry)
    return entry.value
  }

  set(key: string, value: V): void {
    const { clock, ttlMs, maxEntries } = this.#options
    this.#entries.delete(key)
    this.#entries.set(key, { value, until: clock.monotonic() + ttlMs })
    if (this.#entries.size > maxEntries) this.#entries.delete(this.#entries.keys().next().value as string)
  }

  /** Removes expired entries. */
  sweep(): void {
    const now = this.#options.clock.monotonic()
    for (const [key, { until }] of this.#entries) if (until <= now) this.#entries.delete(key)
  }

  clear(): void {
    this.#entries.clear()
  }

  get size(): number {
    return this.#entries.size
  }
}

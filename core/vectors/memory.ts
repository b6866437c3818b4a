// Stores the vectors of one process. A search scans at most 2,000 entries of one scope. Above 64 MiB in total the least recently used
// scopes are removed.
import type { Clock, VectorEntry, VectorMatch, VectorStore } from '../types/ports/ports.ts'

export interface MemoryVectorsOptions {
  readonly clock: Pick<Clock, 'now'>
  /** Entries of one scope; default 2,000. */
  readonly maxEntries?: number
  /** Bytes of all scopes together; default 64 MiB. */
  readonly maxBytes?: number
}

export interface MemoryVectors extends VectorStore {
  /** Synchronous versions of the VectorStore methods. */
  put(scope: string, entry: VectorEntry): void
  find(scope: string, vector: Float32Array): VectorMatch | undefined
  /** Returns false also for a scope that was evicted. */
  has(scope: string): boolean
  readonly bytes: number
}

/** Limit of the entries of one scope, shared or local. */
export const MAX_ENTRIES = 2000
const MAX_BYTES = 64 * 1024 * 1024
/** Bytes of an entry besides its vector and its text. */
const OVERHEAD = 200

export function memoryVectors({ clock, maxEntries = MAX_ENTRIES, maxBytes = MAX_BYTES }: MemoryVectorsOptions): MemoryVectors {
  /** In each scope the oldest entry is first; the least recently used scope is first. */
  const scopes = new Map<string, Map<string, VectorEntry>>()
  let bytes = 0

  const remove = (entries: Map<string, VectorEntry>, id: string): void => {
    const entry = entries.get(id)
    if (entry === undefined) return
    bytes -= sizeOf(entry)
    entries.delete(id)
  }
  const drop = (scope: string): void => {
    for (const entry of scopes.get(scope)?.values() ?? []) bytes -= sizeOf(entry)
    scopes.delete(scope)
  }
  const used = (scope: string): Map<string, VectorEntry> | undefined => {
    const entries = scopes.get(scope)
    if (entries === undefined) return undefined
    scopes.delete(scope)
    scopes.set(scope, entries)
    return entries
  }
  const expire = (scope: string, entries: Map<string, VectorEntry>, now: number): void => {
    for (const [id, { expiresAt }] of entries) if (expiresAt <= now) remove(entries, id)
    if (entries.size === 0) scopes.delete(scope)
  }

  const store: MemoryVectors = {
    put(scope, entry) {
      const entries = used(scope) ?? new Map<string, VectorEntry>()
      scopes.set(scope, entries)
      remove(entries, entry.id)
      entries.set(entry.id, entry)
      bytes += sizeOf(entry)
      while (entries.size > maxEntries) remove(entries, oldestOf(entries))
      while (bytes > maxBytes && scopes.size > 1) drop(oldestOf(scopes))
      // A scope that is too large by itself loses its oldest entries.
      while (bytes > maxBytes) remove(entries, oldestOf(entries))
      if (entries.size === 0) scopes.delete(scope)
    },
    find(scope, vector) {
      const entries = used(scope)
      if (entries === undefined) return undefined
      const now = clock.now()
      let best: VectorMatch | undefined
      for (const entry of entries.values()) {
        if (entry.expiresAt <= now || entry.vector.length !== vector.length) continue
        const similarity = dot(entry.vector, vector)
        if (best === undefined || similarity >= best.similarity) best = { id: entry.id, value: entry.value, similarity }
      }
      return best
    },
    has: (scope) => scopes.has(scope),
    get bytes() {
      return bytes
    },
    async add(scope, entry) {
      store.put(scope, entry)
    },
    nearest: async (scope, vector) => store.find(scope, vector),
    async sweep() {
      const now = clock.now()
      for (const [scope, entries] of scopes) expire(scope, entries, now)
    },
  }
  return store
}

function oldestOf(map: ReadonlyMap<string, unknown>): string {
  return map.keys().next().value as string
}

function sizeOf({ id, vector, value }: VectorEntry): number {
  return vector.byteLength + 2 * (id.length + value.length) + OVERHEAD
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += (a[i] as number) * (b[i] as number)
  return sum
}

// Keeps the thoughts in memory and writes them with a delay to a table, which is read when memory lacks some. So a restart loses none,
// and another replica can continue a conversation. A table that does not answer counts as a miss.
import { ExpiringMap } from '../../core/collections/expiring-map.ts'
import { BatchWriter } from '../../core/db/batch-writer.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { ReasoningPart } from '../../core/types/request/canonical.ts'
import { type KeptThoughts, type ThoughtRow, thoughtStore } from './store.ts'

/** A turn of a history that lacks its thoughts. */
export interface Wanted {
  readonly index: number
  readonly key: string
}

export type Find = (key: string) => readonly ReasoningPart[] | undefined

export interface Thoughts {
  keep(orgId: number | null, keys: readonly string[], parts: readonly ReasoningPart[]): void
  /** Finds thoughts in memory. */
  readonly find: Find
  /** Reads the missing thoughts of `wanted` from the table, in one query; undefined: there is nothing to wait for. Never rejects. */
  fetched(orgId: number | null, wanted: readonly Wanted[]): Promise<void> | undefined
  /** Removes expired thoughts, also from the table until it is empty; with `kept`, in any case. */
  sweep(kept: boolean): Promise<void>
  /** Removes those of one organization, in memory and in the table; undefined: all. */
  forget(orgId?: number | null): Promise<void>
  close(): Promise<void>
}

const TTL_MS = 2 * 3_600_000
const MAX_ENTRIES = 2000
/** Maximum characters of all thoughts of an answer. */
const MAX_LENGTH = 64 * 1024
/** Number of newest turns that are looked up in the table. */
const MAX_FETCHED = 64
/** Longest wait of a request for the table. */
const FETCH_MS = 1000
const AT_ONCE = 50
const MAX_QUEUED_BYTES = 16 << 20

export function keptThoughts(gateway: PluginGateway): Thoughts {
  const { clock, log } = gateway
  const memory = new ExpiringMap<KeptThoughts>({ clock, ttlMs: TTL_MS, maxEntries: MAX_ENTRIES })
  const store = thoughtStore(gateway, gateway.db, MAX_ENTRIES)
  /** Counts how often all was removed. Writes that began earlier are then discarded. */
  let age = 0
  let failing = false
  let leftInTable = true
  const writer = new BatchWriter<ThoughtRow & { age: number }>({
    name: 'cache of reasoning',
    clock,
    log,
    detached: gateway.detached,
    maxRows: AT_ONCE,
    maxQueuedBytes: MAX_QUEUED_BYTES,
    async write(rows) {
      const wanted = rows.filter((row) => row.age === age)
      if (wanted.length > 0) await store.write(wanted)
    },
  })

  const find: Find = (key) => {
    const kept = memory.get(key)
    return kept !== undefined && kept.until > clock.now() ? kept.parts : undefined
  }

  const load = async (orgId: number | null, keys: readonly string[]): Promise<void> => {
    const asked = age
    try {
      const rows = await store.find(orgId, keys)
      if (asked === age) for (const { key, parts, until } of rows) memory.set(key, { parts, until })
      failing = false
    } catch (error) {
      // Logged once per outage.
      if (!failing) log.warn('reasoning_replay.read_failed', { error: String(error) })
      failing = true
    }
  }

  return {
    keep(orgId, keys, parts) {
      const { length } = JSON.stringify(parts)
      if (length > MAX_LENGTH) return
      const until = clock.now() + TTL_MS
      leftInTable = true
      for (const key of keys) {
        memory.set(key, { parts, until })
        writer.push({ key, orgId, parts, until, age }, length)
      }
    },
    find,
    fetched(orgId, wanted) {
      const missing = [...new Set(wanted.map(({ key }) => key))].filter((key) => find(key) === undefined).slice(-MAX_FETCHED)
      if (missing.length === 0) return undefined
      return new Promise((resolve) => {
        const timer = clock.timer(FETCH_MS, resolve, true)
        void load(orgId, missing).then(() => {
          timer.cancel()
          resolve()
        })
      })
    },
    async sweep(kept) {
      memory.sweep()
      if (kept || leftInTable) leftInTable = await store.prune()
    },
    async forget(orgId) {
      // Thoughts of other organizations stay in the queue and in the table, and are read from there again.
      if (orgId === undefined) age++
      memory.clear()
      try {
        await writer.flush()
        memory.clear()
        await store.clear(orgId)
      } catch (error) {
        log.warn('reasoning_replay.forget_failed', { error: String(error) })
        // The sweep removes it.
        leftInTable = true
      }
    },
    async close() {
      await writer.close()
      memory.clear()
    },
  }
}

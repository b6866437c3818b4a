// The two queues between requests and the database: rows, and where bodies are logged theirs, which are given up first.
import { BatchWriter } from '../../core/db/batch-writer.ts'
import type { PluginGateway } from '../../core/types/plugin.ts'
import { type Bodies, bodyWriter, sizeOf } from './bodies/body-writer.ts'
import type { Entry } from './entry.ts'
import { logMetrics } from './gauges.ts'
import { logWriter } from './insert.ts'

export interface LogQueue {
  push(entry: Entry, bodies: Bodies | null): void
  /** Resolves when what was pushed so far is in the database or lost, or when that takes too long to wait for. */
  flush(): Promise<void>
  close(): Promise<void>
}

/** Approximate memory of a waiting row. */
const ROW_BYTES = 1024
/** With so many rows waiting, the store is too slow for bodies. */
const ROWS_BEFORE_BODIES = 2000
/** A reader would rather miss the last moment than wait for a store that is away. */
const FLUSH_MS = 250

export function logQueue(gateway: PluginGateway, maxBodyBytes: number): LogQueue {
  const { db, clock, log } = gateway
  const insert = logWriter(db)
  const rows = new BatchWriter<Entry>({
    name: 'request log',
    clock,
    log,
    async write(entries) {
      await insert(entries)
      metrics.written(entries.length)
    },
  })
  const texts = bodyWriter(gateway, db, maxBodyBytes)
  let givenUp = 0
  const metrics = logMetrics(gateway, {
    depth: () => rows.depth,
    droppedRows: () => rows.dropped,
    droppedBodies: () => texts.dropped + givenUp,
  })
  return {
    push(entry, bodies) {
      const kept = rows.push(entry, ROW_BYTES)
      if (bodies === null) return
      if (kept && rows.depth < ROWS_BEFORE_BODIES) texts.push(bodies, sizeOf(bodies))
      else givenUp++
    },
    async flush() {
      await new Promise<void>((resolve) => {
        const timer = clock.timer(FLUSH_MS, resolve, true)
        void Promise.all([rows.flush(), texts.flush()]).then(() => {
          timer.cancel()
          resolve()
        })
      })
    },
    async close() {
      await Promise.all([rows.close(), texts.close()])
      metrics.close()
    },
  }
}

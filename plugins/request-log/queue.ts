// The two queues between requests and the database: one for rows, and one for bodies if they are logged, which are dropped first.
import { BatchWriter } from '../../core/db/batch-writer.ts'
import { groupedInsert, type SqlValue } from '../../core/db/grouped-insert.ts'
import { sql } from '../../core/db/sql.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { Db, Sql } from '../../core/types/ports/db.ts'
import { type Bodies, bodyWriter, sizeOf } from './bodies/body-writer.ts'
import { OWN, SHARED, valuesOf } from './columns.ts'
import type { Entry } from './entry.ts'

export interface LogQueue {
  push(entry: Entry, bodies: Bodies | null): void
  /** Resolves when everything pushed so far is stored or lost, or after the longest wait. */
  flush(): Promise<void>
  /** Rows lost since this instance of the plugin was set up; `at`: epoch ms of the last loss. */
  lost(): { rows: number; at: number | null }
  close(): Promise<void>
}

/** Approximate memory of a waiting row. */
const ROW_BYTES = 1024
/** With this many waiting rows, the store is too slow for bodies. */
const ROWS_BEFORE_BODIES = 2000
/** A reader should miss the newest rows rather than wait for an unavailable store. */
const FLUSH_MS = 250

// Metrics of the log, read at scrape time.
interface LogFigures {
  /** Number of waiting rows. */
  depth(): number
  /** Number of rows lost since this instance of the plugin was set up. */
  droppedRows(): number
  droppedBodies(): number
}

interface LogMetrics {
  written(rows: number): void
  /** Adds the last values that were not yet scraped. */
  close(): void
}

function logMetrics({ metrics }: PluginGateway, figures: LogFigures): LogMetrics {
  const rows = metrics.tally('request_log_rows_total', 'Rows of the request log written.', []).series()
  const dropped = metrics.counter(
    'request_log_dropped_total',
    'What the request log lost, under pressure or without its store.',
    ['what'],
  )
  const depth = metrics.gauge('request_log_queue_depth', 'Rows of the request log that wait to be written.')
  const seen = { row: 0, body: 0 }
  // Counters continue after a reload, but these figures restart: only the increase is added.
  const count = (): void => {
    const now = { row: figures.droppedRows(), body: figures.droppedBodies() }
    for (const what of ['row', 'body'] as const) {
      dropped.inc({ what }, now[what] - seen[what])
      seen[what] = now[what]
    }
  }
  Object.assign(dropped, { collect: count })
  Object.assign(depth, { collect: () => depth.set(figures.depth()) })
  return { written: (written) => rows.add(written), close: count }
}

const CONFLICT = 'ON CONFLICT (request_id) DO NOTHING'

/** Writes in one transaction. Rows that an earlier attempt has written stay. */
export function logWriter(db: Db): (entries: readonly Entry[]) => Promise<void> {
  const inserts =
    db.dialect === 'sqlite'
      ? groupedInsert({ table: 'request_log', shared: SHARED, own: OWN, conflict: CONFLICT })
      : plainInsert()
  return async (entries) => {
    await db.atomic(inserts(entries.map(valuesOf)))
  }
}

/** A batch is split into these lengths, because the number of values of a statement is limited. */
const LENGTHS = [128, 64, 32, 16, 8, 4, 2, 1]

function plainInsert(): (rows: readonly SqlValue[][]) => { sql: Sql }[] {
  const texts = new Map<number, string>()
  return (rows) => {
    const statements: { sql: Sql }[] = []
    let at = 0
    for (const length of LENGTHS) {
      for (; rows.length - at >= length; at += length) {
        const text = texts.get(length) ?? insertText(length)
        texts.set(length, text)
        statements.push({ sql: { text, params: rows.slice(at, at + length).flat() } })
      }
    }
    return statements
  }
}

function insertText(rows: number): string {
  const names = [...SHARED, ...OWN]
  const columns = sql.join(names.map((name) => sql.id(name)))
  const values = sql.values(Array.from({ length: rows }, () => names.map(() => null)))
  return sql`INSERT INTO request_log (${columns}) VALUES ${values} ON CONFLICT (request_id) DO NOTHING`.text
}

export function logQueue(gateway: PluginGateway, maxBodyBytes: number): LogQueue {
  const { db, clock, log } = gateway
  const insert = logWriter(db)
  const rows = new BatchWriter<Entry>({
    name: 'request log',
    clock,
    log,
    detached: gateway.detached,
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
    lost: () => ({ rows: rows.dropped, at: rows.droppedAt }),
    async close() {
      await Promise.all([rows.close(), texts.close()])
      metrics.close()
    },
  }
}

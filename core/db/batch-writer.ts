// Write-behind for data that may be lost: logs, bodies, live events. Rows are collected and written in batches. Under pressure or when
// the store fails, rows are dropped and counted; requests never wait.
import type { TenantWall } from '../types/ports/db.ts'
import type { Clock, Logger, Timer } from '../types/ports/ports.ts'

export interface BatchWriterOptions<T> {
  /** Writes one batch at a time, in order. A batch whose write rejects is retried once, then dropped. */
  write(rows: T[]): Promise<void>
  clock: Clock
  log: Logger
  /** Pass `gateway.detached`: a row that a route of one organization adds may start the write of all that wait. */
  detached?: TenantWall['detached']
  /** The name for the log: "request log". */
  name: string
  /** A batch is written after this time, ms; default 50. */
  maxWaitMs?: number
  /** A batch is written at this number of rows; default 200. */
  maxRows?: number
  /** A batch is written at this number of bytes; default 4 MiB. */
  maxBytes?: number
  /** Maximum rows in memory, further ones are dropped; default 10,000. */
  maxQueuedRows?: number
  /** Maximum bytes in memory, further rows are dropped; default 32 MiB. */
  maxQueuedBytes?: number
}

interface Queued<T> {
  row: T
  bytes: number
}

const RETRY_MS = 1000

/** Queues rows for a store, bounded in number and bytes. close() writes the rest. */
export class BatchWriter<T> {
  readonly #options: Required<BatchWriterOptions<T>>
  #queue: Queued<T>[] = []
  #bytes = 0
  #dropped = 0
  #droppedAt: number | null = null
  #timer: Timer | null = null
  #running: Promise<void> | null = null
  #failing = false
  #closed = false

  constructor(options: BatchWriterOptions<T>) {
    const bounds = { maxWaitMs: 50, maxRows: 200, maxBytes: 4 << 20, maxQueuedRows: 10_000, maxQueuedBytes: 32 << 20 }
    this.#options = { detached: (fn) => fn, ...bounds, ...options }
  }

  /** Number of queued rows. */
  get depth(): number {
    return this.#queue.length
  }

  /** Number of rows dropped since the start. */
  get dropped(): number {
    return this.#dropped
  }

  /** Epoch ms of the last dropped row; null: none was dropped. */
  get droppedAt(): number | null {
    return this.#droppedAt
  }

  /** Queues a row. @param bytes an estimate of its size. Returns false when the row was dropped. */
  push(row: T, bytes = 0): boolean {
    const { maxRows, maxBytes, maxQueuedRows, maxQueuedBytes, maxWaitMs, clock } = this.#options
    if (this.#closed || this.#queue.length >= maxQueuedRows || this.#bytes + bytes > maxQueuedBytes) {
      this.#drop(1)
      return false
    }
    this.#queue.push({ row, bytes })
    this.#bytes += bytes
    if (this.#queue.length >= maxRows || this.#bytes >= maxBytes) this.#start()
    else this.#timer ??= clock.timer(maxWaitMs, () => this.#start(), true)
    return true
  }

  /** Resolves when every row pushed so far is written or dropped. */
  async flush(): Promise<void> {
    do {
      this.#start()
      await this.#running
    } while (this.#queue.length > 0)
  }

  /** Flushes; rows pushed later are dropped. */
  async close(): Promise<void> {
    this.#closed = true
    await this.flush()
  }

  #start(): void {
    this.#timer?.cancel()
    this.#timer = null
    if (this.#queue.length > 0)
      this.#running ??= this.#options
        .detached(() => this.#run())()
        .finally(() => {
          this.#running = null
        })
  }

  async #run(): Promise<void> {
    while (this.#queue.length > 0) await this.#write(this.#take())
  }

  #take(): T[] {
    const { maxRows, maxBytes } = this.#options
    let bytes = 0
    let count = 0
    for (const queued of this.#queue) {
      if (count === maxRows || (count > 0 && bytes + queued.bytes > maxBytes)) break
      bytes += queued.bytes
      count++
    }
    this.#bytes -= bytes
    return this.#queue.splice(0, count).map((queued) => queued.row)
  }

  async #write(rows: T[]): Promise<void> {
    const { write, clock, log, name } = this.#options
    try {
      try {
        await write(rows)
      } catch (error) {
        // Retry only once per outage; close() does not wait either.
        if (this.#failing || this.#closed) throw error
        await clock.sleep(RETRY_MS)
        await write(rows)
      }
      if (this.#failing) log.info('batch_writer.recovered', { writer: name, dropped: this.#dropped })
      this.#failing = false
    } catch (error) {
      if (!this.#failing)
        log.warn('batch_writer.failing', { writer: name, error, hint: 'Rows are dropped until writes succeed.' })
      this.#failing = true
      this.#drop(rows.length)
    }
  }

  #drop(rows: number): void {
    this.#dropped += rows
    this.#droppedAt = this.#options.clock.now()
  }
}

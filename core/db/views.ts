// Keeps rows in memory as typed values. A write increments its kind's version in the same transaction. Every process polls the versions
// and reloads what changed. A value that was read before an increment never replaces a newer one. If all writes since the last load named
// their rows, a view that can renew single rows reads only these.
import { catchRejection } from '../timing/catch-rejection.ts'
import type { Database, Db, Renew, TenantWall, View } from '../types/ports/db.ts'
import type { Clock, Logger, Timer } from '../types/ports/ports.ts'
import { changedRows, rememberRows } from './changed-rows.ts'
import { sql } from './sql.ts'
import { storageUnavailable } from './storage-fault.ts'

export interface ViewOptions {
  /** Interval of the poll for other processes' changes, ms; default 1000. */
  pollMs?: number
  /** Views show the rows of every organization, also when a route of one of them writes. */
  detached?: TenantWall['detached']
  /** Called after each write, so that processes that can be reached need not wait for their poll. */
  wrote?: () => Promise<void>
}

interface Entry {
  readonly kind: string
  readonly load: (db: Db) => Promise<unknown>
  readonly renew: Renew<unknown> | undefined
  readonly watchers: ((value: unknown, rows: ReadonlySet<number> | null) => void)[]
  current: unknown
  /** Rows that were read again since the last call of the watchers; null: all. */
  changed: Set<number> | null
  /** The version that was read before the rows of `current`. */
  version: number
  loading: Promise<void> | null
}

export class ViewHub {
  readonly #db: Database
  readonly #log: Logger
  readonly #poll: Timer
  readonly #detached: TenantWall['detached']
  readonly #wrote: () => Promise<void>
  readonly #entries = new Map<View<unknown>, Entry>()
  #polling: Promise<void> | null = null
  #failing = false
  #closed = false

  constructor(db: Database, clock: Clock, log: Logger, options: ViewOptions = {}) {
    this.#db = db
    this.#log = log
    this.#detached = options.detached ?? ((fn) => fn)
    this.#wrote = options.wrote ?? (() => Promise.resolve())
    this.#poll = clock.every(options.pollMs ?? 1000, () => void this.poll())
  }

  /**
   * Loads the rows and keeps them up to date. Several views of one kind are reloaded together.
   * @param load reads only through the given db. It may run at any time, but never twice at once.
   * @param renew reads single rows again, after writes that named their rows. It follows the same rule.
   */
  async view<T>(kind: string, load: (db: Db) => Promise<T>, renew?: Renew<T>): Promise<View<T>> {
    const entry: Entry = {
      kind,
      load,
      renew: renew as Renew<unknown> | undefined,
      watchers: [],
      current: undefined,
      changed: null,
      version: -1,
      loading: null,
    }
    const view: View<T> = {
      get current() {
        return entry.current as T
      },
      write: (change, rows) => this.#write([kind], change, rows),
      // A poll that is already running may have read before the write.
      refresh: async () => {
        await this.#polling
        await this.poll()
      },
      watch: (fn) => void entry.watchers.push(fn as (typeof entry.watchers)[number]),
    }
    this.#entries.set(view, entry)
    try {
      await this.#reach(entry, 0)
    } catch (error) {
      this.#entries.delete(view)
      throw error
    }
    return view
  }

  /** Runs one transaction that increments the kinds of all these views. */
  writeAll<R>(views: readonly View<unknown>[], change: (db: Db) => Promise<R>): Promise<R> {
    const kinds = views.map((view) => {
      const entry = this.#entries.get(view)
      if (entry === undefined) throw new Error('writeAll() was given a view that this hub does not follow.')
      return entry.kind
    })
    return this.#write(kinds, change)
  }

  /** Stops updating the view; it keeps its last value. */
  release(view: View<unknown>): void {
    this.#entries.delete(view)
  }

  /** Checks for changes now, as the timer does. Never rejects. */
  poll(): Promise<void> {
    this.#polling ??= this.#follow().finally(() => {
      this.#polling = null
    })
    return this.#polling
  }

  /** Stops polling; resolves when no poll is running. */
  async close(): Promise<void> {
    this.#closed = true
    this.#poll.cancel()
    this.#entries.clear()
    await this.#polling
  }

  async #write<R>(kinds: readonly string[], change: (db: Db) => Promise<R>, rows?: (result: R) => readonly number[]): Promise<R> {
    const versions = new Map<string, number>()
    const result = await this.#db.tx(async (tx) => {
      const result = await change(tx)
      // All writers use the same order; otherwise two writers of the same kinds could deadlock.
      for (const kind of [...new Set(kinds)].sort()) {
        const version = await bump(tx, kind)
        versions.set(kind, version)
        if (rows !== undefined) await rememberRows(tx, kind, version, rows(result))
      }
      return result
    })
    const informing = this.#wrote()
    const concerned = [...this.#entries.values()].filter((entry) => versions.has(entry.kind))
    try {
      await Promise.all(concerned.map((entry) => this.#reach(entry, versions.get(entry.kind) as number)))
    } catch (error) {
      throw storageUnavailable('the change is saved but could not be read back; it takes effect when it can.', error)
    }
    await informing
    return result
  }

  async #follow(): Promise<void> {
    if (this.#entries.size === 0 || this.#closed) return
    try {
      const rows = await this.#db.all<{ kind: string; version: number }>(sql`SELECT kind, version FROM gateway_versions`)
      const versions = new Map(rows.map((row) => [row.kind, row.version]))
      const reloads = [...this.#entries.values()].map((entry) => this.#catchUp(entry, versions.get(entry.kind) ?? 0))
      const failed = (await Promise.allSettled(reloads)).find((outcome) => outcome.status === 'rejected')
      if (failed !== undefined) throw failed.reason
      if (this.#failing) this.#log.info('views.recovered', {})
      this.#failing = false
    } catch (error) {
      if (!this.#failing && !this.#closed) this.#log.warn('views.failing', { error, hint: 'The last values stay in use.' })
      this.#failing = true
    }
  }

  async #catchUp(entry: Entry, version: number): Promise<void> {
    // A restored backup has older version numbers.
    if (version < entry.version && entry.loading === null) entry.version = -1
    await this.#reach(entry, version)
  }

  /** Reloads until the value was read at `version` or later. A load that began earlier does not count. */
  async #reach(entry: Entry, version: number): Promise<void> {
    let reloaded = false
    while (entry.version < version) {
      const mine = entry.loading === null
      entry.loading ??= this.#detached(() => this.#load(entry))().finally(() => {
        entry.loading = null
      })
      await entry.loading
      reloaded ||= mine
    }
    if (reloaded) this.#tell(entry)
  }

  async #load(entry: Entry): Promise<void> {
    const row = await this.#db.get<{ version: number }>(sql`SELECT version FROM gateway_versions WHERE kind = ${entry.kind}`)
    const version = row?.version ?? 0
    const { renew, version: have } = entry
    const ids = renew === undefined || have < 0 ? null : await changedRows(this.#db, entry.kind, have, version)
    const value = renew === undefined || ids === null ? await entry.load(this.#db) : await renew(this.#db, ids, entry.current)
    entry.version = version
    entry.current = value
    if (ids === null) entry.changed = null
    else for (const id of ids) entry.changed?.add(id)
  }

  #tell(entry: Entry): void {
    const rows = entry.changed
    entry.changed = new Set()
    for (const watcher of entry.watchers) {
      const failed = (error: unknown) => this.#log.error('views.watcher_failed', { view: entry.kind, error })
      try {
        catchRejection(watcher(entry.current, rows), failed)
      } catch (error) {
        failed(error)
      }
    }
  }
}

async function bump(tx: Db, kind: string): Promise<number> {
  const row = await tx.get<{ version: number }>(
    sql`INSERT INTO gateway_versions (kind, version) VALUES (${kind}, 1)
        ON CONFLICT (kind) DO UPDATE SET version = gateway_versions.version + 1 RETURNING version`,
  )
  return (row as { version: number }).version
}

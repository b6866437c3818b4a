// Keeps snapshots of all accounts: from answer headers and from drivers. They are stored with a delay.
import { BatchWriter } from '../../core/db/batch-writer.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { HeaderBag } from '../../core/types/ports/ports.ts'
import type { Connection } from '../../core/types/ports/provider.ts'
import type { ExhaustedAccounts } from './exhausted.ts'
import { headerWindows } from './header-windows.ts'
import type { QuotaReading } from './service.ts'
import { exhaustions, rateResetsAt, remainingFraction, type Snapshot, withError, withHeaders, withReading } from './snapshot.ts'
import { loadSnapshots, storeSnapshot } from './store.ts'

/** Delay before a changed snapshot is stored, ms: a busy account changes with every answer. */
const BEHIND_MS = 10_000

export class Meter {
  readonly #gateway: PluginGateway
  readonly #exhausted: ExhaustedAccounts
  readonly #snapshots: Map<string, Snapshot>
  /** Connections with a rate limit of 0 remaining in their latest answer. */
  readonly #usedUp = new Set<string>()
  readonly #unwritten = new Set<string>()
  readonly #writer: BatchWriter<string>
  readonly #secretOf: (connection: Connection) => string | null
  /** The credential that each connection's snapshot belongs to. */
  readonly #credentials = new Map<string, string | null>()

  constructor(gateway: PluginGateway, exhausted: ExhaustedAccounts, snapshots: Map<string, Snapshot>) {
    this.#gateway = gateway
    this.#exhausted = exhausted
    this.#snapshots = snapshots
    const { db, clock, log } = gateway
    const connections = gateway.use('connections')
    this.#secretOf = (connection) => connections.secretOf(connection)
    this.#writer = new BatchWriter<string>({
      name: 'quota of accounts',
      clock,
      log,
      detached: gateway.detached,
      maxWaitMs: BEHIND_MS,
      async write(ids) {
        for (const id of ids) {
          writing(id)
          const snapshot = snapshots.get(id)
          if (snapshot !== undefined) await storeSnapshot(db, id, snapshot)
        }
      },
    })
    const writing = (id: string) => this.#unwritten.delete(id)
  }

  /** True when every rate limit has something remaining, which is the usual case. */
  get ratesFree(): boolean {
    return this.#usedUp.size === 0
  }

  heard(connection: Connection, model: string, headers: HeaderBag): void {
    const now = this.#gateway.clock.now()
    const windows = headerWindows(headers, model, now)
    if (windows.length === 0) return
    this.#look(connection)
    this.#keep(connection, withHeaders(this.#snapshots.get(connection.id), windows, now))
  }

  read(connection: Connection, reading: QuotaReading): void {
    this.#look(connection)
    this.#keep(connection, withReading(this.#snapshots.get(connection.id), reading, this.#gateway.clock.now()))
  }

  failed(connection: Connection, error: string): void {
    this.#keep(connection, withError(this.#snapshots.get(connection.id), error, this.#gateway.clock.now()))
  }

  /** Returns the epoch ms until which a rate limit of the account or the model is used up; null: something remains, or nothing is known. */
  rateResetsAt(connection: Connection, model: string): number | null {
    if (!this.#usedUp.has(connection.id)) return null
    this.#look(connection)
    const snapshot = this.#snapshots.get(connection.id)
    return snapshot === undefined ? null : rateResetsAt(snapshot, model, this.#gateway.clock.now())
  }

  /** Remaining fraction of the tightest window, 0 to 1; null: unknown. */
  remaining(connection: Connection, model: string): number | null {
    if (!this.#snapshots.has(connection.id)) return null
    this.#look(connection)
    const snapshot = this.#snapshots.get(connection.id)
    return snapshot === undefined ? null : remainingFraction(snapshot, model, this.#gateway.clock.now())
  }

  /** Drops the snapshot of the old key. */
  forget(connectionId: string): void {
    this.#snapshots.delete(connectionId)
    this.#usedUp.delete(connectionId)
  }

  /** When another process has a later snapshot, that one is returned. */
  async snapshots(): Promise<ReadonlyMap<string, Snapshot>> {
    const all = await loadSnapshots(this.#gateway.db)
    for (const [id, own] of this.#snapshots) if ((all.get(id)?.fetchedAt ?? 0) <= own.fetchedAt) all.set(id, own)
    return all
  }

  close(): Promise<void> {
    return this.#writer.close()
  }

  /** The snapshot may belong to another key. */
  #look(connection: Connection): void {
    this.#exhausted.look(connection)
    const credential = this.#secretOf(connection)
    const before = this.#credentials.get(connection.id)
    if (before !== undefined && before !== credential) this.forget(connection.id)
    this.#credentials.set(connection.id, credential)
  }

  #keep(connection: Connection, snapshot: Snapshot): void {
    const { id } = connection
    this.#snapshots.set(id, snapshot)
    if (!this.#unwritten.has(id)) {
      this.#unwritten.add(id)
      this.#writer.push(id)
    }
    const now = this.#gateway.clock.now()
    if (rateResetsAt(snapshot, null, now) !== null) this.#usedUp.add(id)
    else this.#usedUp.delete(id)
    const until = exhaustions(snapshot, now)
    for (const [glob, ends] of until) this.#exhausted.mark(connection, glob ?? '', ends)
    if (this.#exhausted.none) return
    for (const glob of this.#exhausted.globs(id)) if (!until.has(glob === '' ? null : glob)) this.#exhausted.clear(id, glob)
  }
}

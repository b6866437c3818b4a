// Tracks accounts without remaining quota: in memory for every request, in rows for the next boot and for other processes. The event is
// emitted once each time an account runs out.
import { globMatch } from '../../core/text/glob.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { Db, View } from '../../core/types/ports/db.ts'
import type { Connection } from '../../core/types/ports/provider.ts'
import { deleteExhausted, type ExhaustedRow, storeExhausted } from './store.ts'

interface Block {
  /** Epoch ms. */
  until: number
  /** The credential of this quota; undefined: unknown since the boot. */
  credential?: string | null
}

export interface Told {
  /** Marks a whole account as exhausted, once. */
  ranOut(connection: Connection, until: number): void
  /** Call it when the connection has a new key with its own quota. */
  renewed(connectionId: string): void
}

/** Reset times from durations differ a little in each answer. */
const SAME_MS = 60_000

export class ExhaustedAccounts {
  readonly #gateway: PluginGateway
  readonly #view: View<readonly ExhaustedRow[]>
  readonly #secretOf: (connection: Connection) => string | null
  readonly #told: Told
  /** Connection id → model glob ('' = every model). */
  #blocks = new Map<string, Map<string, Block>>()
  /** Changes that are not stored yet. */
  readonly #unwritten = new Set<string>()

  constructor(gateway: PluginGateway, view: View<readonly ExhaustedRow[]>, told: Told) {
    this.#gateway = gateway
    this.#view = view
    this.#told = told
    const connections = gateway.use('connections')
    this.#secretOf = (connection) => connections.secretOf(connection)
    this.#take(view.current)
    view.watch((rows) => this.#take(rows))
  }

  get none(): boolean {
    return this.#blocks.size === 0
  }

  /** Returns epoch ms; null: quota remains. */
  until(connection: Connection, model: string): number | null {
    this.look(connection)
    const blocks = this.#blocks.get(connection.id)
    if (blocks === undefined) return null
    const now = this.#gateway.clock.now()
    let until: number | null = null
    for (const [glob, block] of blocks) {
      if (block.until <= now) this.clear(connection.id, glob)
      else if (glob === '' || globMatch(glob, model)) until = Math.max(until ?? 0, block.until)
    }
    return until
  }

  /** Checks the connection's key before its headers are read: earlier state may belong to another key. */
  look(connection: Connection): void {
    const blocks = this.#blocks.get(connection.id)
    if (blocks === undefined) return
    const credential = this.#secretOf(connection)
    let renewed = false
    for (const [glob, block] of blocks) {
      block.credential ??= credential
      if (block.credential === credential) continue
      this.clear(connection.id, glob)
      renewed = true
    }
    if (renewed) this.#told.renewed(connection.id)
  }

  /** Returns the whole account's reset time. */
  ofAccount(connection: Connection): number | null {
    return this.#blocks.get(connection.id)?.has('') ? this.until(connection, '') : null
  }

  /** Returns the blocked globs. */
  globs(connectionId: string): readonly string[] {
    return [...(this.#blocks.get(connectionId)?.keys() ?? [])]
  }

  mark(connection: Connection, glob: string, until: number): void {
    const now = this.#gateway.clock.now()
    const blocks = this.#blocks.get(connection.id) ?? new Map<string, Block>()
    const before = blocks.get(glob)
    if (before !== undefined && before.until > now && Math.abs(before.until - until) < SAME_MS) return
    this.#blocks.set(connection.id, blocks.set(glob, { until, credential: this.#secretOf(connection) }))
    const row = { connection_id: Number(connection.id), model: glob, until }
    const ranOut = (fresh: boolean) => void (fresh && glob === '' && this.#told.ranOut(connection, until))
    this.#write(connection.id, glob, (db) => storeExhausted(db, row, now)).then(ranOut, () =>
      ranOut(before === undefined || before.until <= now),
    )
  }

  clear(connectionId: string, glob: string): void {
    const blocks = this.#blocks.get(connectionId)
    if (!blocks?.delete(glob)) return
    if (blocks.size === 0) this.#blocks.delete(connectionId)
    this.#write(connectionId, glob, (db) => deleteExhausted(db, Number(connectionId), glob)).catch(() => {})
  }

  async #write<T>(id: string, glob: string, change: (db: Db) => Promise<T>): Promise<T> {
    const key = `${id} ${glob}`
    this.#unwritten.add(key)
    try {
      return await this.#view.write((db) => {
        // The next reload reads the stored row.
        this.#unwritten.delete(key)
        return change(db)
      })
    } catch (error) {
      this.#gateway.log.warn('quota.unwritten', { connection: id, error: String(error) })
      throw error
    }
  }

  #take(rows: readonly ExhaustedRow[]): void {
    const next = new Map<string, Map<string, Block>>()
    const put = (id: string, glob: string, block: Block) => next.set(id, (next.get(id) ?? new Map()).set(glob, block))
    for (const { connection_id, model, until } of rows) {
      const id = String(connection_id)
      if (this.#unwritten.has(`${id} ${model}`)) continue
      put(id, model, { until, credential: this.#blocks.get(id)?.get(model)?.credential })
    }
    for (const [id, blocks] of this.#blocks)
      for (const [glob, block] of blocks) if (this.#unwritten.has(`${id} ${glob}`)) put(id, glob, block)
    this.#blocks = next
  }
}

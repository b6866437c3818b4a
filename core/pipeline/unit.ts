// Collects a request's writes from hooks, hands them to the group commit together, and runs what waits for the commit.
import type { GroupCommit } from '../db/group-commit.ts'
import { isStorageUnavailable } from '../db/storage-fault.ts'
import { GatewayError } from '../errors/gateway-error.ts'
import { catchRejection } from '../timing/catch-rejection.ts'
import type { Statement, Unit } from '../types/db.ts'

export class RequestUnit implements Unit {
  readonly #commits: GroupCommit | null
  #statements: Statement[] | null = null
  #waiting: (() => void)[] | null = null
  #unavailable: ((error: Error) => void) | null = null

  constructor(commits: GroupCommit | null) {
    this.#commits = commits
  }

  add(...statements: Statement[]): void {
    for (const statement of statements)
      if (typeof statement?.sql?.text !== 'string') throw new TypeError('unit.add() takes statements: `{ sql: sql`…` }`')
    if (this.#commits === null)
      throw GatewayError.unavailable('A plugin wants to write, and this gateway has no database.', {
        code: 'storage_unavailable',
      })
    this.#statements = this.#statements === null ? statements : [...this.#statements, ...statements]
  }

  afterCommit(fn: () => void): void {
    if (this.#waiting === null) this.#waiting = [fn]
    else this.#waiting.push(fn)
  }

  unavailable(fn: (error: Error) => void): void {
    this.#unavailable = fn
  }

  /** The request waits only for statements that may refuse. */
  get mayRefuse(): boolean {
    return this.#statements?.some((statement) => statement.expect !== undefined) ?? false
  }

  /**
   * Commits the collected writes, then runs what waited for them. Returns undefined when there was nothing to commit. Rejects with a
   * statement's refusal, or with 503 `storage_unavailable`.
   * @param spoolable the writes survive a database outage.
   */
  commit(spoolable: boolean, failed: (error: unknown) => void): Promise<void> | undefined {
    if (this.#statements === null || this.#commits === null) {
      this.#committed(failed)
      return undefined
    }
    return this.#commits.add(this.#statements, { spoolable }).then(
      () => this.#committed(failed),
      (error: unknown) => {
        if (this.#unavailable === null || !isStorageUnavailable(error)) throw error
        return this.#unavailable(error)
      },
    )
  }

  #committed(failed: (error: unknown) => void): void {
    if (this.#waiting === null) return
    for (const fn of this.#waiting.splice(0)) {
      try {
        catchRejection(fn(), failed)
      } catch (error) {
        failed(error)
      }
    }
  }
}

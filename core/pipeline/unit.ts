// Collects a request's writes from hooks, hands them to the group commit together, and runs what waits for the commit.
import type { GroupCommit, PendingUnit } from '../db/group-commit.ts'
import { isStorageUnavailable } from '../db/storage-fault.ts'
import { GatewayError } from '../errors/gateway-error.ts'
import { catchRejection } from '../timing/catch-rejection.ts'
import type { Statement, Unit } from '../types/ports/db.ts'

export class RequestUnit implements Unit, PendingUnit {
  readonly #commits: GroupCommit | null
  #statements: Statement[] | null = null
  #waiting: (() => void)[] | null = null
  #unavailable: ((error: Error) => void) | null = null
  #failed: Failed = ignore
  /** The writes survive a database outage. */
  spoolable = false

  constructor(commits: GroupCommit | null) {
    this.#commits = commits
  }

  add(...statements: Statement[]): void {
    for (const statement of statements)
      if (statement?.join === undefined && typeof statement?.sql?.text !== 'string')
        throw new TypeError('unit.add() takes statements: `{ sql: sql`…` }`')
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

  get statements(): readonly Statement[] {
    return this.#statements ?? NONE
  }

  /**
   * Commits the collected writes, then runs what waited for them. Returns a promise if one of the statements may refuse: the request
   * waits for it. It rejects with the statement's refusal, or with 503 `storage_unavailable`.
   * @param failed called when something that waited for the commit throws, and with the error of a commit for which no request waits.
   */
  commit(spoolable: boolean, failed: Failed): Promise<void> | undefined {
    this.#failed = failed
    this.spoolable = spoolable
    if (this.#statements === null || this.#commits === null) {
      this.#committed()
      return undefined
    }
    if (!mayRefuse(this.#statements)) {
      this.#commits.enqueue(this)
      return undefined
    }
    return this.#commits.add(this.#statements, { spoolable }).then(
      () => this.#committed(),
      (error: unknown) => this.#uncommitted(error),
    )
  }

  resolve(): void {
    this.#committed()
  }

  reject(error: unknown): void {
    try {
      this.#uncommitted(error)
    } catch (thrown) {
      this.#failed('commit', thrown)
    }
  }

  #uncommitted(error: unknown): void {
    if (this.#unavailable === null || !isStorageUnavailable(error)) throw error
    return this.#unavailable(error)
  }

  #committed(): void {
    if (this.#waiting === null) return
    const failed = (error: unknown) => this.#failed('afterCommit', error)
    for (const fn of this.#waiting.splice(0)) {
      try {
        catchRejection(fn(), failed)
      } catch (error) {
        failed(error)
      }
    }
  }
}

type Failed = (where: 'commit' | 'afterCommit', error: unknown) => void

const NONE: readonly never[] = []

function ignore(): void {}

function mayRefuse(statements: readonly Statement[]): boolean {
  for (const { expect } of statements) if (expect !== undefined) return true
  return false
}

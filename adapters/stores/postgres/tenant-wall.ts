// Restricts statements to one organization: they run as a role without rights of its own, under row-level security.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { TenantWall, WallState, WallTables } from '../../../core/types/ports/db.ts'
import type { Session } from '../session.ts'
import { SETTING, TENANT_ROLE } from './policies.ts'
import { standingWall } from './wall-builder.ts'

export class PostgresWall implements TenantWall {
  state: WallState | null = null
  readonly #transaction: (fn: (session: Session) => Promise<WallState>) => Promise<WallState>
  readonly #inside = new AsyncLocalStorage<number | null>()
  /** Reading the storage costs time, and a gateway of one user never enters it. */
  #entered = false

  /** @param transaction runs `fn` in a transaction of its own, READ COMMITTED. */
  constructor(transaction: (fn: (session: Session) => Promise<WallState>) => Promise<WallState>) {
    this.#transaction = transaction
  }

  async build(tables: WallTables): Promise<WallState> {
    this.state = await this.#transaction((session) => standingWall(session, tables))
    return this.state
  }

  within<T>(orgId: number, fn: () => Promise<T>): Promise<T> {
    if (!Number.isSafeInteger(orgId)) throw new TypeError('The id of an organization is an integer.')
    if (this.state === null || this.state.by === null) return fn()
    this.#entered = true
    return this.#inside.run(orgId, fn)
  }

  detached<F extends (...args: never[]) => unknown>(fn: F): F {
    if (this.#organization() === null) return fn
    return ((...args: never[]) => this.#inside.run(null, () => fn(...args))) as F
  }

  /** Returns the words that begin a transaction of the current organization; null outside of every organization. */
  begin(words: string): string | null {
    const orgId = this.#organization()
    if (orgId === null) return null
    const role = this.state?.by === 'role' ? `SET LOCAL ROLE ${TENANT_ROLE}; ` : ''
    return `${words}; ${role}SET LOCAL ${SETTING} = '${orgId}'`
  }

  #organization(): number | null {
    return this.#entered ? (this.#inside.getStore() ?? null) : null
  }
}

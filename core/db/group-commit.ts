// Commits many requests' writes in few transactions, without a timer. Units queued in one turn of the event loop are committed together;
// on a slow engine also those queued during the last commit. Under load, settlements wait a few turns for requests that begin.
// A refused unit is rolled back alone. When the database fails, units that must not be lost go to a spool and are replayed later.
import type { Database, Spool, SpooledUnit, Statement, TenantWall, UnitResult } from '../types/ports/db.ts'
import type { Clock, Logger } from '../types/ports/ports.ts'
import { isJoinable, joinUnits } from './joined-units.ts'
import { isInDoubt, isStorageUnavailable, storageUnavailable } from './storage-fault.ts'

export interface AddOptions {
  /** Goes to the spool when the database fails; otherwise `add` rejects with 503 `storage_unavailable`. */
  spoolable?: boolean
}

/** Writes that wait for a commit. One of the two functions is called, once; they must not throw. */
export interface PendingUnit {
  readonly statements: readonly Statement[]
  readonly spoolable: boolean
  /** The unit is on disk: committed or spooled. */
  resolve(): void
  /** @param error a statement's own `refuse()`, its SQL error, or GatewayError 503 `storage_unavailable`. */
  reject(error: unknown): void
}

/** Limits how long one commit blocks the event loop on SQLite. */
const MAX_UNITS = 200
/** From this number on, settlements wait for requests that begin: a commit costs as much as the rows of several requests. */
const MANY_SETTLED = 8
/** Turns of the event loop that settlements wait at most. */
const MAX_TURNS = 4
/** Above this number the database counts as unavailable. */
const MAX_QUEUED = 10_000
/** Waits between the attempts of one transaction, ms. During a known outage there is one attempt only. */
const RETRY_MS: readonly number[] = [50, 250, 1000]
/** No attempt begins later than this, ms, because requests wait. A locked engine has already waited before it fails. */
const GIVE_UP_MS = 2000

export class GroupCommit {
  readonly #db: Database
  readonly #clock: Clock
  readonly #log: Logger
  readonly #spool: Spool | null
  readonly #queue: PendingUnit[] = []
  readonly #detached: TenantWall['detached']
  readonly #start = () => this.#run()
  #running: Promise<void> | null = null
  #outage = false
  #spooled = 0

  /** @param detached a unit of one organization may start the commit of all that wait. */
  constructor(
    db: Database,
    clock: Clock,
    log: Logger,
    spool: Spool | null = null,
    detached: TenantWall['detached'] = (fn) => fn,
  ) {
    this.#detached = detached
    this.#db = db
    this.#clock = clock
    this.#log = log
    this.#spool = spool
  }

  /** Number of units that wait for a commit. */
  get depth(): number {
    return this.#queue.length
  }

  /** Units written to the spool since the start. */
  get spooled(): number {
    return this.#spooled
  }

  /**
   * Resolves when the unit is on disk: committed or spooled. Rejects with a statement's own `refuse()`, with its SQL error, or with
   * GatewayError 503 `storage_unavailable`.
   */
  add(statements: readonly Statement[], options: AddOptions = {}): Promise<void> {
    if (statements.length === 0) return Promise.resolve()
    return new Promise((resolve, reject) => {
      this.enqueue({ statements, spoolable: options.spoolable ?? false, resolve, reject })
    })
  }

  /** The same as `add`, without a promise. */
  enqueue(unit: PendingUnit): void {
    if (this.#queue.length >= MAX_QUEUED) return void this.#giveUp([unit], storageUnavailable('it is too slow for the load.'))
    this.#queue.push(unit)
    this.#running ??= this.#detached(this.#start)()
  }

  /** Resolves when nothing is queued or running. */
  async flush(): Promise<void> {
    while (this.#running !== null) await this.#running
  }

  /** Applies the spool of an earlier process or outage; returns the number of units. Call it at boot, before any request. */
  async recover(): Promise<number> {
    if (this.#spool === null) return 0
    const count = await this.#spool.drain((units) => this.#replay(units))
    if (count > 0) this.#log.info('spool.applied', { units: count })
    return count
  }

  async #run(): Promise<void> {
    do {
      await nextTurn()
      for (let turn = 0; turn < MAX_TURNS && this.#hasTime(); turn++) await nextTurn()
      await this.#commit(this.#queue.splice(0, MAX_UNITS))
    } while (this.#queue.length > 0)
    this.#running = null
  }

  /** No request waits for a unit that may go to the spool. */
  #hasTime(): boolean {
    const { length } = this.#queue
    return length >= MANY_SETTLED && length < MAX_UNITS && this.#queue.every(({ spoolable }) => spoolable)
  }

  async #commit(units: readonly PendingUnit[]): Promise<void> {
    const alone: PendingUnit[] = []
    const joining: PendingUnit[] = []
    for (const unit of units) (isJoinable(unit.statements) ? joining : alone).push(unit)
    const joined = joining.length === 0 ? null : joinUnits(joining)
    let results: UnitResult[]
    try {
      const statements = alone.map((unit) => unit.statements)
      if (joined !== null) statements.push(joined.statements)
      results = await this.#attempt(statements)
    } catch (error) {
      await this.#giveUp(units, error)
      return
    }
    conclude(alone, results)
    if (joined !== null) {
      if (results[alone.length]?.ok) {
        joined.done()
        for (const unit of joining) unit.resolve()
      } else await this.#commitEach(joining)
    }
    if (this.#outage) await this.#recovered()
  }

  /** After a mistake in joined statements: only the unit that has it fails. */
  async #commitEach(units: readonly PendingUnit[]): Promise<void> {
    try {
      conclude(units, await this.#attempt(units.map((unit) => unit.statements)))
    } catch (error) {
      await this.#giveUp(units, error)
    }
  }

  async #attempt(statements: readonly (readonly Statement[])[]): Promise<UnitResult[]> {
    const until = this.#clock.monotonic() + GIVE_UP_MS
    let doubt: unknown = null
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#db.commit(statements)
      } catch (error) {
        const wait = RETRY_MS[attempt]
        if (isInDoubt(error)) doubt = error
        // After an attempt whose outcome is unknown, a later certain failure does not prove that nothing was committed.
        if (this.#outage || wait === undefined || this.#clock.monotonic() + wait > until) throw doubt ?? error
        await this.#clock.sleep(wait)
      }
    }
  }

  async #giveUp(units: readonly PendingUnit[], error: unknown): Promise<void> {
    if (!this.#outage)
      this.#log.error('database.writes_failing', { error, hint: 'Writes that must not be lost go to the spool.' })
    this.#outage = true
    const failure = isStorageUnavailable(error) ? error : storageUnavailable('a transaction failed.', error)
    const kept = this.#spool === null ? [] : units.filter((unit) => unit.spoolable)
    for (const unit of units) if (!kept.includes(unit)) unit.reject(failure)
    if (kept.length === 0) return
    try {
      await (this.#spool as Spool).append(kept.map((unit) => unit.statements))
      this.#spooled += kept.length
      for (const unit of kept) unit.resolve()
    } catch (cause) {
      this.#log.error(`${kept.length} units of writes are lost: neither the database nor the spool takes them.`, { error: cause })
      for (const unit of kept) unit.reject(failure)
    }
  }

  async #recovered(): Promise<void> {
    this.#outage = false
    this.#log.info('database.writes_recovered', {})
    try {
      await this.recover()
    } catch (error) {
      this.#log.error('spool.failed', { error, hint: 'It is retried after the next outage or start.' })
    }
  }

  async #replay(units: readonly SpooledUnit[]): Promise<void> {
    for (const result of await this.#db.commit(units))
      if (!result.ok) this.#log.warn('spool.unit_refused', { error: result.error })
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

function conclude(units: readonly PendingUnit[], results: readonly UnitResult[]): void {
  for (let i = 0; i < units.length; i++) {
    const unit = units[i] as PendingUnit
    const result = results[i] as UnitResult
    if (result.ok) unit.resolve()
    else if (result.error !== null) unit.reject(result.error)
    else refuse(unit, unit.statements[result.index] as Statement)
  }
}

/** Other units do not wait for a refusal that looks something up. */
function refuse(unit: PendingUnit, statement: Statement): void {
  const refusal = refusalOf(statement)
  if (refusal instanceof Promise) refusal.then(unit.reject, unit.reject)
  else unit.reject(refusal)
}

function refusalOf(statement: Statement): Error | Promise<Error> {
  return statement.refuse?.() ?? new Error(`A statement changed another number of rows than the ${statement.expect} it expects.`)
}

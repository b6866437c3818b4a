// Holds all accounts' states, and applies attempts to them. A change is announced once, then passed on for storage and other processes.
import type { GatewayErrorShape } from '../../../core/types/error.ts'
import type { Clock } from '../../../core/types/ports/ports.ts'
import type { Connection } from '../../../core/types/ports/provider.ts'
import type { Announcer } from '../events.ts'
import { AccountState } from './account-state.ts'
import type { BreakerRules, CircuitChange } from './breaker.ts'
import type { Effect } from './effects.ts'

/** One call to an account, from its admission to the end of its answer. */
export interface Sent {
  readonly state: AccountState
  readonly connection: Connection
  /** The access (see `accessOf`) at the time of the call. */
  readonly access: unknown
  readonly model: string
  /** The name of a lock that the call may cause. */
  readonly lock: string
  /** The state's serial when it started. */
  seen: number
  /** True for the one request that an open circuit admits. */
  readonly probe: boolean
  /** True for an operator's own test: its result always applies. */
  readonly test: boolean
}

export interface AccountBookOptions {
  clock: Clock
  announce: Announcer
  /** Returns a value that changes when the connection sends another credential or address. */
  accessOf(connection: Connection): unknown
  rules(): BreakerRules
  /** Called when a state has changed for more than a moment. */
  changed(state: AccountState): void
}

export class AccountBook {
  readonly #options: AccountBookOptions
  readonly #states = new Map<string, AccountState>()

  constructor(options: AccountBookOptions) {
    this.#options = options
  }

  readonly of = (id: string): AccountState => {
    let state = this.#states.get(id)
    if (state === undefined) {
      state = new AccountState(id, this.#options.accessOf)
      this.#states.set(id, state)
    }
    return state
  }

  readonly accessOf = (connection: Connection): unknown => this.#options.accessOf(connection)

  failed(sent: Sent, error: GatewayErrorShape, effect: Effect): void {
    const { clock, announce, rules, changed } = this.#options
    const { state, connection, access, lock } = sent
    const now = clock.monotonic()
    state.lastUsedAt = clock.now()
    state.lastError = { status: error.upstream?.status || error.status, message: error.message, at: clock.now() }
    const before = state.serial
    const started = state.apply(effect, access, lock, now, sent.seen)
    const circuit = this.#judge(sent, effect, now)
    if (started.cooldownMs !== undefined) announce.cooldownStarted(connection, started.cooldownMs, 'retry_after')
    if (started.quota) announce.quotaExhausted(connection)
    if (circuit !== null) state.circuitAt = clock.now()
    if (circuit === 'opened') {
      const { cooldownMs } = rules()
      announce.circuitOpened(connection, state.breaker.failures, cooldownMs)
      announce.cooldownStarted(connection, cooldownMs, 'circuit_breaker')
    }
    if (state.serial !== before || circuit !== null) changed(state)
  }

  /** Call it after the whole answer. */
  succeeded(sent: Sent): void {
    const { clock } = this.#options
    const { state, model, seen } = sent
    state.lastUsedAt = clock.now()
    if (state.quiet && state.breaker.failures === 0) return
    const wasQuiet = state.quiet
    if (sent.test) {
      state.refused = null
      state.cooldown = null
      state.quotaUntil = null
    }
    this.#closed(sent, state.succeeded(model, clock.monotonic(), sent.test ? state.serial : seen, sent.probe || sent.test))
    if (!wasQuiet) this.#options.changed(state)
  }

  /** Call it when the attempt shows nothing about the account: the caller left, or the request itself was refused. */
  toldNothing({ state, probe }: Sent): void {
    if (!probe) return
    state.breaker.probeToldNothing(this.#options.clock.monotonic())
    state.circuitAt = this.#options.clock.now()
    this.#options.changed(state)
  }

  clear(id: string): void {
    const state = this.#states.get(id)
    if (state === undefined) return
    state.clear()
    this.#cleared(state)
  }

  /** Returns the end of the lock, monotonic ms. @param model `ALL_MODELS`: all of them */
  hold(id: string, model: string, ms: number): number {
    const now = this.#options.clock.monotonic()
    const state = this.of(id)
    const { until } = state.hold(model, now + ms, now)
    this.#options.changed(state)
    return until
  }

  clearLocks(id: string, model: string | undefined): number {
    const state = this.#states.get(id)
    const now = this.#options.clock.monotonic()
    const names = [...(state?.locks ?? [])].filter(([name]) => model === undefined || name === model)
    if (state === undefined || names.length === 0) return 0
    for (const [name] of names) state.locks.delete(name)
    state.settle()
    this.#cleared(state)
    return names.filter(([, { until }]) => now < until).length
  }

  #judge(sent: Sent, effect: Effect, now: number): CircuitChange | null {
    const { state, probe } = sent
    if (effect.breaker) return state.failed(now, this.#options.rules(), probe)
    if (probe) this.toldNothing(sent)
    return null
  }

  #closed({ state, connection }: Sent, openFor: number | null): void {
    if (openFor === null) return
    state.circuitAt = this.#options.clock.now()
    this.#options.announce.circuitClosed(connection, openFor)
  }

  #cleared(state: AccountState): void {
    // Later than any earlier change, so that other processes accept it.
    state.clearedAt = Math.max(this.#options.clock.now(), state.clearedAt + 1)
    state.circuitAt = state.breaker.closed ? 0 : state.circuitAt
    this.#options.changed(state)
  }
}

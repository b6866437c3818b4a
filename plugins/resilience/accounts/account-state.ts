// The state of one account: cooldown, model locks, quota, refused credential, circuit. It is in memory, changed by effects and successes,
// and read for every candidate. Times are monotonic ms; expiry is checked on read.
import type { SkipReason } from '../../../core/types/error.ts'
import type { Connection } from '../../../core/types/ports/provider.ts'
import { Breaker, type BreakerRules, type CircuitChange } from './breaker.ts'
import type { Effect, LockReason, Span } from './effects.ts'

export interface ModelLock {
  until: number
  reason: LockReason
  /** Number of consecutive times without a hint from the upstream. */
  level: number
  /** Serial number of the change that created it. */
  serial: number
}

export interface Cooldown {
  until: number
  serial: number
}

export interface LastError {
  status: number
  message: string
  /** Epoch ms. */
  at: number
}

/** Why a candidate is skipped; `until` is monotonic. */
export interface Block {
  reason: SkipReason
  until: number | null
  lock: LockReason | null
}

/** New states that one effect started; ms from now. */
export interface Started {
  cooldownMs?: number
  quota?: true
  opened?: true
}

export const ALL_MODELS = '*'
const MAX_SPAN_MS = 300_000
const MAX_LEVEL = 15
/** After its end a lock keeps its level for this time. */
const FORGOTTEN_MS = 3_600_000
/** A limit, because model names come from callers. */
const MAX_LOCKS = 500

export class AccountState {
  readonly id: string
  readonly breaker = new Breaker()
  readonly locks = new Map<string, ModelLock>()
  cooldown: Cooldown | null = null
  /** Consecutive 429s of the whole account without a hint. */
  level = 0
  quotaUntil: number | null = null
  /** The refused access: when a connection has another one since, it is tried again. */
  refused: unknown = null
  inflight = 0
  lastError: LastError | null = null
  /** Epoch ms. */
  lastUsedAt: number | null = null
  /** Epoch ms of the last manual reset; older states from other processes are ignored. */
  clearedAt = 0
  /** Epoch ms of the last change of the circuit. */
  circuitAt = 0
  /** Increases with each change, so that an attempt knows which changes came before it. */
  serial = 0
  /** True without any state to check, which is the usual case. */
  quiet = true
  readonly #accessOf: (connection: Connection) => unknown
  /** Monotonic ms: until then a limit on another model is not reported again. */
  #reportedUntil = 0

  /** @param accessOf returns a value that changes when the connection sends another credential or address. */
  constructor(id: string, accessOf: (connection: Connection) => unknown = (connection) => connection) {
    this.id = id
    this.#accessOf = accessOf
  }

  refuses(connection: Connection): boolean {
    return this.refused !== null && this.refused === this.#accessOf(connection)
  }

  /** Returns null when the account may be used. */
  blocked(connection: Connection, model: string, now: number): Block | null {
    if (this.quiet) return null
    if (this.refused !== null) {
      if (this.refuses(connection)) return { reason: 'auth_failed', until: null, lock: null }
      this.refused = null
    }
    if (this.quotaUntil !== null && now < this.quotaUntil)
      return { reason: 'quota_exhausted', until: this.quotaUntil, lock: null }
    const admitsAt = this.breaker.admitsAt(now)
    return admitsAt > now ? { reason: 'circuit_open', until: admitsAt, lock: null } : this.#resting(model, now)
  }

  /** True when only the circuit blocks the account and an early probe is allowed. */
  admitsEarly(connection: Connection, model: string, now: number, everyMs: number): boolean {
    if (this.blocked(connection, model, now)?.reason !== 'circuit_open') return false
    return this.#resting(model, now) === null && this.breaker.admitsEarly(now, everyMs)
  }

  #resting(model: string, now: number): Block | null {
    if (this.cooldown !== null && now < this.cooldown.until) return { reason: 'cooldown', until: this.cooldown.until, lock: null }
    for (const name of [ALL_MODELS, model]) {
      const lock = this.locks.get(name)
      if (lock !== undefined && now < lock.until) return { reason: 'model_locked', until: lock.until, lock: lock.reason }
    }
    return null
  }

  /**
   * @param access the access of the call; the connection may have another one by now.
   * @param seen the serial when the attempt started: among concurrent failures only one raises the level.
   */
  apply(effect: Effect, access: unknown, model: string, now: number, seen: number): Started {
    const started: Started = {}
    if (effect.lock) {
      const name = effect.lock.all ? ALL_MODELS : model
      const before = this.locks.get(name)
      const { until, level } = this.#extended(effect.lock, before, before?.level ?? 0, now, seen)
      // Reported once for the account, however many models are requested.
      if (effect.lock.reason === 'rate_limited' && now >= this.#reportedUntil) started.cooldownMs = until - now
      // Moves the lock to the end: the oldest is removed when there are too many.
      this.locks.delete(name)
      const reason = before !== undefined && isHeld(before, now) ? before.reason : effect.lock.reason
      this.locks.set(name, { until, level, reason, serial: ++this.serial })
      this.#dropOldest(now)
    }
    if (effect.cooldown) {
      const before = this.cooldown
      const { until, level } = this.#extended(effect.cooldown, before, this.level, now, seen)
      if (before === null || now >= before.until) started.cooldownMs = until - now
      this.level = level
      this.cooldown = { until, serial: ++this.serial }
    }
    if (started.cooldownMs !== undefined) this.#reportedUntil = now + started.cooldownMs
    if (effect.quotaMs !== undefined) {
      if (this.quotaUntil === null || now >= this.quotaUntil) started.quota = true
      this.quotaUntil = Math.max(this.quotaUntil ?? 0, now + effect.quotaMs)
      this.serial++
    }
    if (effect.refused) {
      this.refused = access
      this.serial++
    }
    this.settle()
    return started
  }

  /** An operator's lock. It ends at `until` or when an operator ends it, and never makes an earlier lock shorter. */
  hold(model: string, until: number, now: number): ModelLock {
    const before = this.locks.get(model)
    const lock = { until: Math.max(before?.until ?? 0, until), level: 0, reason: 'operator', serial: ++this.serial } as const
    this.locks.delete(model)
    this.locks.set(model, lock)
    this.#dropOldest(now)
    this.settle()
    return lock
  }

  failed(now: number, rules: BreakerRules, probe: boolean): CircuitChange | null {
    const change = this.breaker.failed(now, rules, probe)
    this.settle()
    return change
  }

  /**
   * Ends states that a success disproves, unless they are newer than the attempt. Returns ms that the circuit was open, when this closed
   * it.
   */
  succeeded(model: string, now: number, seen: number, probe: boolean): number | null {
    const openFor = this.breaker.succeeded(now, probe)
    if (this.quiet) return openFor
    this.level = 0
    const lock = this.locks.get(model)
    if (lock !== undefined && lock.serial <= seen && !isHeld(lock, now)) this.locks.delete(model)
    for (const [name, { until }] of this.locks) if (now >= until + FORGOTTEN_MS) this.locks.delete(name)
    if (this.cooldown !== null && now >= this.cooldown.until) this.cooldown = null
    if (this.quotaUntil !== null && now >= this.quotaUntil) this.quotaUntil = null
    this.serial++
    this.settle()
    return openFor
  }

  /** Resets the state; running requests continue. */
  clear(): void {
    this.breaker.reset()
    this.locks.clear()
    this.cooldown = null
    this.#reportedUntil = 0
    this.level = 0
    this.quotaUntil = null
    this.refused = null
    this.lastError = null
    this.serial++
    this.settle()
  }

  settle(): void {
    this.quiet =
      this.breaker.closed &&
      this.locks.size === 0 &&
      this.cooldown === null &&
      this.level === 0 &&
      this.quotaUntil === null &&
      this.refused === null
  }

  #dropOldest(now: number): void {
    if (this.locks.size <= MAX_LOCKS) return
    for (const [name, lock] of this.locks) if (!isHeld(lock, now)) return void this.locks.delete(name)
  }

  /** Never shortens the time; doubles it once for all concurrent failures. */
  #extended(
    span: Span,
    before: { until: number; serial: number } | null | undefined,
    level: number,
    now: number,
    seen: number,
  ): { until: number; level: number } {
    const beside = before !== null && before !== undefined && before.serial > seen
    const next = span.backoff && !beside ? Math.min(MAX_LEVEL, level + 1) : level
    const doubled = span.backoff ? span.ms * 2 ** Math.max(0, next - 1) : span.ms
    const ms = Math.min(doubled, Math.max(MAX_SPAN_MS, span.ms))
    const until = beside && span.backoff ? before.until : now + ms
    return { until: Math.max(before?.until ?? 0, until), level: next }
  }
}

/** Whether an operator holds the account back: no success and no failure of a call ends that. */
function isHeld({ reason, until }: ModelLock, now: number): boolean {
  return reason === 'operator' && now < until
}

// A second, independent model of an account's state after each fault. Tests compare it with the gateway's own state.
// Times are milliseconds on the test's clock.

export type Reason = 'auth_failed' | 'quota_exhausted' | 'circuit_open' | 'cooldown' | 'model_locked'
type LockReason = 'rate_limited' | 'permission' | 'not_found' | 'misconfigured'

/** The effect of a fault. `backoff`: two seconds, doubled for each consecutive time. */
export interface Effect {
  breaker?: true
  lock?: { ms: number | 'backoff'; reason: LockReason; all?: true }
  cooldown?: number | 'backoff'
  quotaMs?: number
  refused?: true
}

const THRESHOLD = 5
const OPEN_MS = 30_000
const MOST_MS = 300_000
const FORGOTTEN_MS = 3_600_000

export class AccountModel {
  readonly label: string
  failures = 0
  circuit: { since: number; until: number; reopenings: number } | null = null
  refused = false
  /** The fault that made it unavailable. */
  outBy: string | null = null
  #cooldownUntil = 0
  #level = 0
  #reportedUntil = 0
  #quotaUntil = 0
  readonly #locks = new Map<string, { until: number; reason: LockReason; level: number }>()

  constructor(label: string) {
    this.label = label
  }

  /** Returns the first reason why the account is unavailable; `until` 0: only a manual reset ends it. */
  out(model: string, now: number): { reason: Reason; until: number } | null {
    if (this.refused) return { reason: 'auth_failed', until: 0 }
    const locked = Math.max(0, ...['*', model].map((name) => this.#locks.get(name)?.until ?? 0))
    const reasons: [Reason, number][] = [
      ['quota_exhausted', this.#quotaUntil],
      ['circuit_open', this.circuit?.until ?? 0],
      ['cooldown', this.#cooldownUntil],
      ['model_locked', locked],
    ]
    const found = reasons.find(([, until]) => now < until)
    return found === undefined ? null : { reason: found[0], until: found[1] }
  }

  /** Returns the expected events, as `type source seconds`. */
  failed({ breaker, lock, cooldown, quotaMs, refused }: Effect, model: string, now: number): string[] {
    const events: string[] = []
    const started = (ms: number) => {
      this.#reportedUntil = now + ms
      events.push(`account.cooldown_started retry_after ${Math.ceil(ms / 1000)}`)
    }
    if (lock) {
      const name = lock.all ? '*' : model
      const level = (this.#locks.get(name)?.level ?? 0) + (lock.ms === 'backoff' ? 1 : 0)
      const ms = lock.ms === 'backoff' ? backoff(level) : lock.ms
      this.#locks.set(name, { until: now + ms, reason: lock.reason, level })
      if (lock.reason === 'rate_limited' && now >= this.#reportedUntil) started(ms)
    }
    if (cooldown !== undefined) {
      if (cooldown === 'backoff') this.#level++
      const ms = cooldown === 'backoff' ? backoff(this.#level) : cooldown
      this.#cooldownUntil = now + ms
      started(ms)
    }
    if (quotaMs !== undefined) {
      this.#quotaUntil = now + quotaMs
      events.push('account.quota_exhausted')
    }
    if (refused) this.refused = true
    if (breaker) events.push(...this.#fault(now))
    return events
  }

  succeeded(model: string, now: number): string[] {
    const events = this.circuit === null ? [] : [`provider.circuit_closed ${now - this.circuit.since}`]
    this.circuit = null
    this.failures = 0
    this.#level = 0
    this.#locks.delete(model)
    for (const [name, { until }] of this.#locks) if (now >= until + FORGOTTEN_MS) this.#locks.delete(name)
    return events
  }

  /** The connection got a new key. */
  edited(): void {
    this.failures = 0
    this.circuit = null
    this.refused = false
    this.#cooldownUntil = 0
    this.#level = 0
    this.#quotaUntil = 0
    this.#locks.clear()
  }

  /** Returns `state` of /api/providers. */
  record(now: number, iso: (at: number) => string): Record<string, unknown> {
    const ahead = (until: number) => (until > now ? until : 0)
    const [quota, cooldown, open] = [ahead(this.#quotaUntil), ahead(this.#cooldownUntil), ahead(this.circuit?.until ?? 0)]
    const until = Math.max(cooldown, open)
    return {
      status: this.refused
        ? 'auth_failed'
        : quota > 0
          ? 'quota_exhausted'
          : this.circuit !== null
            ? 'circuit_open'
            : cooldown > 0
              ? 'cooldown'
              : 'active',
      cooldown_until: until > 0 ? iso(until) : null,
      cooldown_source: until === 0 ? null : open > cooldown ? 'circuit_breaker' : 'retry_after',
      consecutive_failures: this.failures,
      breaker: this.circuit === null ? 'closed' : open > 0 ? 'open' : 'half_open',
      model_locks: [...this.#locks]
        .filter(([, lock]) => lock.until > now)
        .map(([model, lock]) => ({ model, until: iso(lock.until), reason: lock.reason }))
        .sort((a, b) => (a.model < b.model ? -1 : 1)),
      quota_exhausted: quota > 0,
      quota_resets_at: quota > 0 ? iso(quota) : null,
      inflight: 0,
    }
  }

  #fault(now: number): string[] {
    this.failures++
    if (this.circuit !== null) {
      // Only the probe is admitted: it opens the circuit again, for longer, which is not a second opening.
      this.circuit.reopenings++
      this.circuit.until = now + Math.min(MOST_MS, OPEN_MS * 2 ** this.circuit.reopenings)
      return []
    }
    if (this.failures < THRESHOLD) return []
    this.circuit = { since: now, until: now + OPEN_MS, reopenings: 0 }
    return [`provider.circuit_opened ${THRESHOLD}`, `account.cooldown_started circuit_breaker ${OPEN_MS / 1000}`]
  }
}

function backoff(level: number): number {
  return Math.min(MOST_MS, 2000 * 2 ** (level - 1))
}

/** provider.outage: five faults within a minute are minor, ten are major; one of the two is emitted in ten minutes. */
export class OutageModel {
  #faults: number[] = []
  #told = Number.NEGATIVE_INFINITY

  fault(now: number): string[] {
    this.#faults = [...this.#faults.filter((at) => at > now - 60_000), now]
    if (this.#faults.length < 5) return []
    const severity = this.#faults.length < 10 ? 'minor' : 'major'
    if (now < this.#told + 600_000) return []
    this.#told = now
    return [`provider.outage ${severity}`]
  }
}

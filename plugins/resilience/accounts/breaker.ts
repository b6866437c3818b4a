// The circuit of one account: closed → open after consecutive failures → one probe → closed, or open for twice as long. An early probe
// that fails does not delay the next regular one. Times are monotonic ms.

export interface BreakerRules {
  /** Consecutive failures that open it. */
  threshold: number
  cooldownMs: number
  /** The longest cooldown; doubling stops here. */
  maxCooldownMs: number
}

export type Circuit = 'closed' | 'open' | 'half_open'

/** `kept_open`: an early probe failed while the circuit would have stayed open anyway. */
export type CircuitChange = 'opened' | 'reopened' | 'kept_open'

/** Limits how long a probe that never ends blocks others. */
export const PROBE_LEASE_MS = 30_000

export class Breaker {
  /** Consecutive failures; not counted while open. */
  failures = 0
  /** Time of the first opening; null while closed. */
  openedAt: number | null = null
  openUntil = 0
  reopenings = 0
  /** Number of unfinished probes since the last opening; part of the next probe's name. */
  probes = 0
  /** Time of the opening, or of the last failed probe. */
  lookedAt = 0
  #probeUntil = 0

  get closed(): boolean {
    return this.openedAt === null
  }

  circuit(now: number): Circuit {
    if (this.openedAt === null) return 'closed'
    return now < this.openUntil ? 'open' : 'half_open'
  }

  /** Returns the time at which a request may probe; a time in the past: now. */
  admitsAt(now: number): number {
    if (this.openedAt === null) return now
    return Math.max(this.openUntil, this.#probeUntil)
  }

  /** Returns true for the one request that may probe the account. */
  beginProbe(now: number): boolean {
    if (this.openedAt === null || this.admitsAt(now) > now) return false
    this.#probeUntil = now + PROBE_LEASE_MS
    return true
  }

  /** True when no probe is running, and none ran for `everyMs`. */
  admitsEarly(now: number, everyMs: number): boolean {
    return this.openedAt !== null && now < this.openUntil && this.#probeUntil <= now && this.lookedAt + everyMs <= now
  }

  /** Returns true for the one request that may probe early. */
  beginEarlyProbe(now: number, everyMs: number): boolean {
    if (!this.admitsEarly(now, everyMs)) return false
    this.#probeUntil = now + PROBE_LEASE_MS
    return true
  }

  /** The probe had no result: the next request becomes the probe. */
  probeToldNothing(now: number): void {
    this.#probeUntil = 0
    this.lookedAt = now
    this.probes++
  }

  /** Applies a failure. While the circuit is open only the probe counts, because other calls were sent earlier. */
  failed(now: number, rules: BreakerRules, probe: boolean): CircuitChange | null {
    if (this.openedAt === null) {
      if (++this.failures < rules.threshold) return null
      this.openedAt = now
      this.#open(now, rules)
      return 'opened'
    }
    if (!probe) return null
    this.failures++
    if (now < this.openUntil) {
      this.#probeUntil = 0
      this.lookedAt = now
      return 'kept_open'
    }
    this.reopenings++
    this.#open(now, rules)
    return 'reopened'
  }

  /** Returns how long the circuit was open, ms, when this closed it; otherwise null. */
  succeeded(now: number, probe: boolean): number | null {
    if (this.openedAt === null) {
      this.failures = 0
      return null
    }
    if (!probe) return null
    const openFor = now - this.openedAt
    this.reset()
    return openFor
  }

  reset(): void {
    this.failures = 0
    this.openedAt = null
    this.openUntil = 0
    this.reopenings = 0
    this.probes = 0
    this.lookedAt = 0
    this.#probeUntil = 0
  }

  #open(now: number, { cooldownMs, maxCooldownMs }: BreakerRules): void {
    const doubled = cooldownMs * 2 ** Math.min(this.reopenings, 30)
    this.openUntil = now + Math.max(cooldownMs, Math.min(maxCooldownMs, doubled))
    this.probes = 0
    this.lookedAt = now
    this.#probeUntil = 0
  }
}

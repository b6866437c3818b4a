// The circuit of one account: closed → open after consecutive failures → one probe → closed, or open for
// twice as long. A probe before its time that fails changes nothing about when the next one is due. Times are monotonic ms.

export interface BreakerRules {
  /** Consecutive failures that open it. */
  threshold: number
  cooldownMs: number
  /** Doubling ends here. */
  maxCooldownMs: number
}

export type Circuit = 'closed' | 'open' | 'half_open'

/** `kept_open`: by a probe before its time, until when it was open anyway. */
export type CircuitChange = 'opened' | 'reopened' | 'kept_open'

/** Bounds what a probe that never ends keeps closed to others. */
export const PROBE_LEASE_MS = 30_000

export class Breaker {
  /** In a row; none of it while open. */
  failures = 0
  /** Time of the first opening; null while closed. */
  openedAt: number | null = null
  openUntil = 0
  reopenings = 0
  /** Probes without a result since the last opening; part of the next probe's name. */
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

  /** When a request may be tried; not in the future: now. */
  admitsAt(now: number): number {
    if (this.openedAt === null) return now
    return Math.max(this.openUntil, this.#probeUntil)
  }

  /** True for the one request that may look whether the account works again. */
  beginProbe(now: number): boolean {
    if (this.openedAt === null || this.admitsAt(now) > now) return false
    this.#probeUntil = now + PROBE_LEASE_MS
    return true
  }

  /** True when no probe is running, and none ran for `everyMs`. */
  admitsEarly(now: number, everyMs: number): boolean {
    return this.openedAt !== null && now < this.openUntil && this.#probeUntil <= now && this.lookedAt + everyMs <= now
  }

  /** True for the one request that may look before its time. */
  beginEarlyProbe(now: number, everyMs: number): boolean {
    if (!this.admitsEarly(now, everyMs)) return false
    this.#probeUntil = now + PROBE_LEASE_MS
    return true
  }

  /** It said neither yes nor no: the next request is the probe. */
  probeToldNothing(now: number): void {
    this.#probeUntil = 0
    this.lookedAt = now
    this.probes++
  }

  /** The effect on the circuit. While it is open only the probe counts: other calls were sent before. */
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

  /** How long it was open when this closed it, ms; else null. */
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

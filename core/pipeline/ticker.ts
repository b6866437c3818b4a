// One timer for all open exchanges: heartbeats of quiet streams, idle upstreams, stalled readers.
// No timer is reset per chunk; an exchange only notes when it last read and wrote.
import type { Clock, Timer } from '../types/ports.ts'

export interface Ticking {
  /** Called about every `periodMs` with the monotonic time. */
  tick(now: number): void
}

export class Ticker {
  readonly #clock: Clock
  readonly #members = new Set<Ticking>()
  #period = 0
  #timer: Timer | null = null

  constructor(clock: Clock, heartbeatMs: number) {
    this.#clock = clock
    this.retune(heartbeatMs)
  }

  get periodMs(): number {
    return this.#period
  }

  /** A quarter of the heartbeat, between 25 ms and 1 s. */
  retune(heartbeatMs: number): void {
    const period = Math.min(1000, Math.max(25, heartbeatMs > 0 ? heartbeatMs / 4 : 1000))
    if (period === this.#period) return
    this.#period = period
    this.#timer?.cancel()
    this.#timer = null
    if (this.#members.size > 0) this.#start()
  }

  add(member: Ticking): () => void {
    this.#members.add(member)
    this.#start()
    return () => {
      this.#members.delete(member)
      if (this.#members.size > 0) return
      this.#timer?.cancel()
      this.#timer = null
    }
  }

  get size(): number {
    return this.#members.size
  }

  #start(): void {
    this.#timer ??= this.#clock.every(this.#period, () => {
      const now = this.#clock.monotonic()
      for (const member of this.#members) member.tick(now)
    })
  }
}

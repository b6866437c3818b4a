// Runs one timer for all open exchanges: heartbeats of quiet streams, idle upstreams, stalled readers. No timer is reset per chunk; an
// exchange only records its last read and write.
import { SwapRemoveList, type Ticket } from '../collections/swap-remove-list.ts'
import type { Clock, Timer } from '../types/ports/ports.ts'

export interface Ticking {
  /** Called about every `periodMs` with the monotonic time. */
  tick(now: number): void
}

/** Number of ticks without a member after which the timer stops. */
const IDLE_TICKS = 10

export class Ticker {
  readonly #clock: Clock
  readonly #members = new SwapRemoveList<Ticking>()
  #period = 0
  #timer: Timer | null = null

  constructor(clock: Clock, heartbeatMs: number) {
    this.#clock = clock
    this.retune(heartbeatMs)
  }

  get periodMs(): number {
    return this.#period
  }

  /** Sets the period to a quarter of the heartbeat, between 25 ms and 1 s. */
  retune(heartbeatMs: number): void {
    const period = Math.min(1000, Math.max(25, heartbeatMs > 0 ? heartbeatMs / 4 : 1000))
    if (period === this.#period) return
    this.#period = period
    this.#timer?.cancel()
    this.#timer = null
    if (this.#members.size > 0) this.#start()
  }

  add(member: Ticking): Ticket<Ticking> {
    const ticket = this.#members.add(member)
    if (this.#timer === null) this.#start()
    return ticket
  }

  /** The timer runs on for a while: a start and stop for every request would cost more than an idle tick. */
  remove(ticket: Ticket<Ticking>): void {
    this.#members.remove(ticket)
  }

  get size(): number {
    return this.#members.size
  }

  #start(): void {
    let idle = 0
    this.#timer = this.#clock.every(this.#period, () => {
      idle = this.#members.size === 0 ? idle + 1 : 0
      if (idle > IDLE_TICKS) {
        this.#timer?.cancel()
        this.#timer = null
        return
      }
      const now = this.#clock.monotonic()
      for (const member of this.#members.values()) member.tick(now)
    })
  }
}

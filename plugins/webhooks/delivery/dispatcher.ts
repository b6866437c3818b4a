// Finds due deliveries, claims them and starts their attempts. The rows are the queue: deliveries of a killed process are found by
// another process or its successor.
import { randomId } from '../../../core/ids/ids.ts'
import type { PluginGateway } from '../../../core/types/plugin/plugin.ts'
import type { Timer } from '../../../core/types/ports/ports.ts'
import type { Lease } from '../queue.ts'
import type { Deliver } from './delivery.ts'
import { claim, dueDeliveries, dueEndpoints, nextDue } from './store.ts'

/** A poll is needed, because other processes queue deliveries as well. */
const POLL_MS = 1000
/** Well above the longest attempt. */
const LEASE_MS = 60_000
/** Time for running attempts when the gateway closes. */
const CLOSE_MS = 2000

export interface DispatcherParts {
  readonly gateway: PluginGateway
  readonly deliver: Deliver
  /** False: there is no endpoint, so nothing can be due. */
  active(): boolean
}

export class Dispatcher {
  readonly #parts: DispatcherParts
  readonly #flying = new Map<Promise<void>, AbortController>()
  #timer: Timer | null = null
  #looking: Promise<void> | null = null
  #again = false
  #failing = false
  #closed = false

  constructor(parts: DispatcherParts) {
    this.#parts = parts
    this.#sleep(POLL_MS)
  }

  /** Call it when a delivery may be due. */
  wake(): void {
    if (this.#closed || !this.#parts.active()) return
    this.#again = true
    this.#timer?.cancel()
    this.#timer = null
    // A route of one organization may wake it, and it delivers the events of all.
    this.#looking ??= this.#parts.gateway.detached(() => this.#look())()
  }

  /** For a delivery that is queued as already claimed. */
  lease(): Lease {
    return { owner: randomId('', 16), until: this.#parts.gateway.clock.now() + LEASE_MS }
  }

  /** Sends it now; resolves when the result is stored. */
  async send(id: string, { owner }: Lease): Promise<void> {
    const stop = new AbortController()
    const flight = this.#parts.deliver(id, owner, stop)
    this.#flying.set(flight, stop)
    await flight
    this.#flying.delete(flight)
    this.wake()
  }

  /** Gives running deliveries a short time to finish; the rest become free for the next process. */
  async close(): Promise<void> {
    const { clock } = this.#parts.gateway
    this.#closed = true
    this.#timer?.cancel()
    await this.#looking
    const stopAll = () => {
      for (const stop of this.#flying.values()) stop.abort()
    }
    const timer = clock.timer(CLOSE_MS, stopAll, true)
    await Promise.all(this.#flying.keys())
    timer.cancel()
  }

  async #look(): Promise<void> {
    const { db, clock, log } = this.#parts.gateway
    let sleep = POLL_MS
    try {
      while (this.#again) {
        this.#again = false
        const began = clock.now()
        await this.#round()
        // Older due deliveries wait for a free slot, which triggers the next run.
        const next = await nextDue(db, began)
        sleep = next === null ? POLL_MS : Math.min(POLL_MS, next - clock.now())
        this.#again ||= sleep <= 0
      }
      this.#failing = false
    } catch (error) {
      sleep = POLL_MS
      if (!this.#failing) log.warn('webhooks.queue_unread', { error: String(error) })
      this.#failing = true
    }
    this.#looking = null
    this.#sleep(sleep)
  }

  async #round(): Promise<void> {
    const { db, clock } = this.#parts.gateway
    for (const endpointId of await dueEndpoints(db, clock.now())) {
      for (const id of await dueDeliveries(db, endpointId, clock.now())) {
        const lease = this.lease()
        if (this.#closed || !(await claim(db, { id, endpointId }, lease, clock.now()))) break
        void this.send(id, lease)
      }
    }
  }

  #sleep(ms: number): void {
    if (this.#closed) return
    this.#timer?.cancel()
    this.#timer = this.#parts.gateway.clock.timer(
      ms,
      () => {
        this.#timer = null
        if (this.#parts.active()) this.wake()
        else this.#sleep(POLL_MS)
      },
      true,
    )
  }
}

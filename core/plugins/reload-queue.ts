// Serializes reloads: the last requested configuration wins. A plugin that a reload dropped is torn down when no running request uses it.
import { withTimeout } from '../timing/with-timeout.ts'
import type { Clock, Logger } from '../types/ports.ts'
import { endJobs, type Generation, retire } from './generation.ts'

export interface ReloadQueueSource {
  readonly clock: Clock
  readonly log: Logger
  current(): Generation
  /** Resolves when no request uses the generation, or after the longest wait. */
  idle(generation: Generation): Promise<unknown>
}

/** How long close() waits for a running change, ms. */
const CHANGE_MS = 10_000

export class ReloadQueue {
  readonly #source: ReloadQueueSource
  readonly #held = new Set<Generation>()
  #changing: Promise<unknown> = Promise.resolve()
  #closing: Promise<void> | null = null

  constructor(source: ReloadQueueSource) {
    this.#source = source
  }

  /** Runs `make` after all earlier changes. @throws Error once the gateway is closed. */
  change<T>(make: () => Promise<T>): Promise<T> {
    const turn = this.#changing.then(() => {
      this.refuseClosed()
      return make()
    })
    this.#changing = turn.catch(() => {})
    return turn
  }

  refuseClosed(): void {
    if (this.#closing !== null) throw new Error('The gateway is closed.')
  }

  /** Called when another generation serves: tears down the plugins that only this one has, after its requests. */
  leave(generation: Generation): void {
    const { log, current, idle } = this.#source
    this.#held.add(generation)
    void idle(generation).then(() => {
      this.#held.delete(generation)
      return retire(generation, [current(), ...this.#held], this.#source.clock, log)
    })
  }

  /** Runs once: stops jobs, runs `before` while plugins still exist, then tears all of them down. */
  close(before: () => Promise<void>, after: () => Promise<void>): Promise<void> {
    this.#closing ??= this.#close(before, after)
    return this.#closing
  }

  async #close(before: () => Promise<void>, after: () => Promise<void>): Promise<void> {
    const { clock, log, current } = this.#source
    // A running change is refused at its end and tears down what it has set up.
    await Promise.resolve()
    await withTimeout(clock, CHANGE_MS, this.#changing).catch(() => log.error('config.reload_unfinished', {}))
    const generations = [...this.#held, current()]
    for (const generation of generations) await endJobs(generation, clock, log)
    await before()
    for (const generation of generations) await retire(generation, [], clock, log)
    await after()
  }
}

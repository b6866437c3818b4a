// Generations follow each other: one change at a time, the last one asked for stays, and what a generation leaves behind ends when
// no request is in a generation that has it.
import { withTimeout } from '../timing/with-timeout.ts'
import type { Clock, Logger } from '../types/ports.ts'
import { endJobs, type Generation, retire } from './generation.ts'

export interface ReloadQueueSource {
  readonly clock: Clock
  readonly log: Logger
  current(): Generation
  /** Resolves when no request is in it any more, or when it was waited for long enough. */
  idle(generation: Generation): Promise<unknown>
}

/** How long an end waits for a change that is under way, ms. */
const CHANGE_MS = 10_000

export class ReloadQueue {
  readonly #source: ReloadQueueSource
  readonly #held = new Set<Generation>()
  #changing: Promise<unknown> = Promise.resolve()
  #closing: Promise<void> | null = null

  constructor(source: ReloadQueueSource) {
    this.#source = source
  }

  /** Runs when the changes before it are over. @throws Error once the gateway was closed. */
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

  /** Another one serves: what only this one has ends when its requests have. */
  leave(generation: Generation): void {
    const { log, current, idle } = this.#source
    this.#held.add(generation)
    void idle(generation).then(() => {
      this.#held.delete(generation)
      return retire(generation, [current(), ...this.#held], this.#source.clock, log)
    })
  }

  /** Once. Jobs stop, then `before` runs while plugins are still there, then all plugins end. */
  close(before: () => Promise<void>, after: () => Promise<void>): Promise<void> {
    this.#closing ??= this.#close(before, after)
    return this.#closing
  }

  async #close(before: () => Promise<void>, after: () => Promise<void>): Promise<void> {
    const { clock, log, current } = this.#source
    // One that is under way is refused at its end, and takes back what it has set up.
    await Promise.resolve()
    await withTimeout(clock, CHANGE_MS, this.#changing).catch(() => log.error('config.reload_unfinished', {}))
    const generations = [...this.#held, current()]
    for (const generation of generations) await endJobs(generation, clock, log)
    await before()
    for (const generation of generations) await retire(generation, [], clock, log)
    await after()
  }
}

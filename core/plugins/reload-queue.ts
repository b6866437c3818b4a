// Serializes reloads: the last requested configuration wins, and a refusal is remembered until one succeeds. A plugin that a reload dropped is torn down when no running request uses it.
import { withTimeout } from '../timing/with-timeout.ts'
import type { Clock, Logger } from '../types/ports/ports.ts'
import type { RefusedReload } from '../types/reload.ts'
import { endJobs, type Generation, retire } from './generation.ts'

export interface ReloadQueueSource {
  readonly clock: Clock
  readonly log: Logger
  current(): Generation
  /** Called after each change. */
  ended(state: 'loaded' | 'refused'): void
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
  #refused: RefusedReload | null = null

  constructor(source: ReloadQueueSource) {
    this.#source = source
  }

  /** The refusal of the last change; null: it was taken. */
  get refused(): RefusedReload | null {
    return this.#refused
  }

  /** Also for a configuration that could not be loaded at all. */
  readonly refuse = (error: unknown): void => {
    const message = error instanceof Error ? error.message : String(error)
    this.#refused = { at: this.#source.clock.now(), message }
    this.#source.ended('refused')
  }

  /** Runs `make` after all earlier changes. @throws Error once the gateway is closed. */
  change<T>(make: () => Promise<T>): Promise<T> {
    const turn = this.#changing.then(() => {
      this.refuseClosed()
      return make()
    })
    this.#changing = turn.then(() => {
      this.#refused = null
      this.#source.ended('loaded')
    }, this.refuse)
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

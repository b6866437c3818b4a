// Delivers letters of the outbox one after another. A lease keeps a letter in one process at a time, and the rows are the queue: letters of
// a killed process are found by another one or by its successor.
import { randomId } from '../../core/ids/ids.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { Timer } from '../../core/types/ports/ports.ts'
import type { Attempt, Driver } from './drivers.ts'
import { rendered } from './rendered.ts'
import type { Letter } from './service.ts'
import {
  claimNext,
  type Finished,
  finish,
  type Lease,
  type LetterRow,
  letterPlace,
  NO_LETTER,
  nextDue,
  release,
} from './store.ts'

/** Finds letters of a process that was killed. */
const POLL_MS = 60_000
const AFTER_ERROR_MS = 5000
/** Well above the longest attempt. */
const LEASE_MS = 60_000
const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
/** Waits after each failed attempt: eight attempts within a day. */
const WAITS = [30 * SECOND, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, 2 * HOUR, 6 * HOUR, 15 * HOUR]

export interface DispatcherParts {
  readonly gateway: Pick<PluginGateway, 'db' | 'clock' | 'log' | 'vault'>
  readonly driver: Driver
  link(path: string): string
  /** Called with the state after each attempt; `waiting` will be tried again. */
  attempted(status: Finished['status']): void
}

export class Dispatcher {
  readonly #parts: DispatcherParts
  readonly #stop = new AbortController()
  #timer: Timer | null = null
  #running: Promise<void> | null = null
  #again = false
  #failing = false
  /** The API asked to send nothing before this time, epoch ms. */
  #notBefore = 0

  constructor(parts: DispatcherParts) {
    this.#parts = parts
  }

  /** Starts a look at the outbox; call it when a letter may be due. */
  wake(): void {
    if (this.#stop.signal.aborted) return
    this.#again = true
    this.#timer?.cancel()
    this.#running ??= this.#look()
  }

  lease(): Lease {
    return { owner: randomId('', 16), until: this.#parts.gateway.clock.now() + LEASE_MS }
  }

  async close(): Promise<void> {
    this.#stop.abort(new Error('The gateway closes.'))
    this.#timer?.cancel()
    await this.#running
  }

  /** Makes one attempt for a claimed letter and stores its result. */
  async deliver(row: LetterRow, { owner }: Lease): Promise<Attempt> {
    const { db, clock, log } = this.#parts.gateway
    let attempt: Attempt
    try {
      attempt = await this.#attempt(row)
    } catch (error) {
      await release(db, row.id, owner)
      throw error
    }
    const now = clock.now()
    if (attempt.waitMs !== undefined && attempt.result === 'retry')
      this.#notBefore = Math.max(this.#notBefore, now + attempt.waitMs)
    const wait = WAITS[row.attempts]
    const status = attempt.result === 'sent' ? 'sent' : attempt.result === 'never' || wait === undefined ? 'dead' : 'waiting'
    const nextAttemptAt = now + Math.max(wait ?? 0, attempt.waitMs ?? 0)
    const result = { status, nextAttemptAt, httpStatus: attempt.status, error: attempt.error } as const
    if ((await finish(db, row, owner, result, now)) && row.kind !== NO_LETTER) this.#parts.attempted(status)
    if (status !== 'sent') {
      const facts = { id: row.id, kind: row.kind, domain: row.domain, attempts: row.attempts + 1, error: attempt.error }
      if (status === 'dead') log.error('mail.dead', { ...facts, hint: 'GET /api/mail lists letters that failed.' })
      else log.warn('mail.failed', { ...facts, next_attempt_at: new Date(nextAttemptAt).toISOString() })
    }
    return attempt
  }

  async #attempt(row: LetterRow): Promise<Attempt> {
    const { vault } = this.#parts.gateway
    const letter = await vault.open(row.letter ?? '', letterPlace(row.id, row.org_id)).then(
      (text) => JSON.parse(text) as Letter,
      () => null,
    )
    if (letter === null) return { result: 'never', status: null, error: 'The letter cannot be opened with this master key.' }
    const link = letter.action === undefined ? null : this.#parts.link(letter.action.path)
    const mail = { id: row.id, kind: row.kind, to: letter.to, link, ...rendered(letter, link) }
    if (row.kind === NO_LETTER) return { result: 'sent', status: null, error: null }
    return this.#parts.driver.deliver(mail, this.#stop.signal)
  }

  async #look(): Promise<void> {
    const { db, clock, log } = this.#parts.gateway
    const stop = this.#stop.signal
    let sleep = POLL_MS
    try {
      while (this.#again && !stop.aborted) {
        this.#again = false
        while (clock.now() >= this.#notBefore && !stop.aborted) {
          const lease = this.lease()
          const row = await claimNext(db, lease, clock.now())
          if (row === undefined) break
          await this.deliver(row, lease)
        }
      }
      const next = await nextDue(db)
      if (next !== null) sleep = Math.max(1, Math.min(sleep, Math.max(next, this.#notBefore) - clock.now()))
      this.#failing = false
    } catch (error) {
      sleep = AFTER_ERROR_MS
      if (!this.#failing && !stop.aborted) log.warn('mail.queue_unread', { error: String(error) })
      this.#failing = true
    }
    this.#running = null
    if (!stop.aborted) this.#timer = clock.timer(this.#again ? 1 : sleep, () => this.wake(), true)
  }
}

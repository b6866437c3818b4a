// One candidate's part of the timeline: a line for its call, and another one each time a plugin around the attempt sends again.
import { GatewayError } from '../errors/gateway-error.ts'
import { errorText } from '../lib/error-text.ts'
import type { Attempt, Candidate } from '../types/context.ts'
import type { GatewayErrorShape } from '../types/error.ts'
import type { Result } from '../types/result.ts'
import { sendAttempt } from './attempt.ts'
import type { RequestState } from './context.ts'
import type { Kernel } from './runtime.ts'

/** Upper limit of upstream calls for one request, whatever its plan and its plugins do. */
export const MAX_ATTEMPTS = 8

export interface Walk {
  /** Upstream calls the walk itself decided on, but for the running one. */
  sent: number
  /** Calls that a plugin around an attempt added to it. */
  again: number
}

export class Tries {
  attempt: Attempt
  readonly #kernel: Kernel
  readonly #ctx: RequestState
  readonly #candidate: Candidate
  readonly #walk: Walk
  #startedAt = 0
  #called = false
  #failure: GatewayError | null = null

  constructor(kernel: Kernel, ctx: RequestState, candidate: Candidate, walk: Walk) {
    this.#kernel = kernel
    this.#ctx = ctx
    this.#candidate = candidate
    this.#walk = walk
    ctx.candidate = candidate
    ctx.upstreamHeaders = null
    this.attempt = this.#open()
  }

  async run(): Promise<{ result: Result } | { error: GatewayErrorShape }> {
    const { attempt: wrapped } = this.#ctx.generation.hooks
    try {
      const result = await (wrapped === null ? this.#send() : wrapped(this.#ctx, this.#candidate, this.#send))
      this.#close(null)
      this.attempt.action = 'returned'
      return { result }
    } catch (thrown) {
      const error = GatewayError.from(thrown)
      this.#close(error)
      return { error: this.#ctx.stopped ?? error }
    }
  }

  /** Not an async function: that would be one more turn for every request. */
  readonly #send = (): Promise<Result> => {
    try {
      if (this.#called) this.#again()
    } catch (error) {
      return Promise.reject(error)
    }
    this.#called = true
    return sendAttempt(this.#kernel, this.#ctx, this.#candidate).catch(this.#failed)
  }

  readonly #failed = (thrown: unknown): never => {
    // A bug below is not the fault of the plugins around it.
    this.#failure = ownError(this.#kernel, this.#ctx, thrown)
    throw this.#failure
  }

  /** @throws what the last call ended in when the request has had its calls. */
  #again(): void {
    const { sent, again } = this.#walk
    const failure = this.#failure
    if (sent + again + 1 >= MAX_ATTEMPTS)
      throw failure ?? GatewayError.unavailable(`One request makes at most ${MAX_ATTEMPTS} upstream calls.`)
    this.#close(failure)
    this.attempt.action ??= failure?.upstream?.field ? 'retry_stripped_field' : 'retried'
    this.#failure = null
    this.#walk.again++
    this.attempt = this.#open()
  }

  #open(): Attempt {
    this.#startedAt = this.#kernel.clock.monotonic()
    const attempt: Attempt = { candidate: this.#candidate, startedAt: this.#kernel.clock.now() }
    this.#ctx.attempts.push(attempt)
    return attempt
  }

  #close(error: GatewayError | null): void {
    const { attempt } = this
    attempt.latencyMs = this.#kernel.clock.monotonic() - this.#startedAt
    attempt.status = error === null ? 200 : error.upstream?.status || error.status
    if (error !== null) attempt.error = error
  }
}

function ownError(kernel: Kernel, ctx: RequestState, thrown: unknown): GatewayError {
  if (!GatewayError.is(thrown)) {
    kernel.log.error('attempt.failed', { requestId: ctx.id, error: errorText(thrown) })
  }
  return GatewayError.from(thrown)
}

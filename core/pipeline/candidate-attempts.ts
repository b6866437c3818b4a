// The attempts on one candidate: one line of the timeline for its call, and one for each retry of a plugin around it.
import { GatewayError } from '../errors/gateway-error.ts'
import { errorText } from '../text/error-text.ts'
import type { Attempt, Candidate } from '../types/context.ts'
import type { GatewayErrorShape } from '../types/error.ts'
import type { Result } from '../types/result.ts'
import { sendAttempt } from './attempt.ts'
import type { RequestState } from './context.ts'
import type { Runtime } from './runtime.ts'

/** Upper limit of upstream calls for one request, whatever its plan and its plugins do. */
export const MAX_ATTEMPTS = 8

export interface AttemptCounts {
  /** Upstream calls that the executor started, without the running one. */
  sent: number
  /** Further calls that plugins made around attempts. */
  retries: number
}

export class CandidateAttempts {
  attempt: Attempt
  readonly #runtime: Runtime
  readonly #ctx: RequestState
  readonly #candidate: Candidate
  readonly #walk: AttemptCounts
  #startedAt = 0
  #called = false
  #failure: GatewayError | null = null

  constructor(runtime: Runtime, ctx: RequestState, candidate: Candidate, walk: AttemptCounts) {
    this.#runtime = runtime
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
      if (this.#called) this.#retry()
    } catch (error) {
      return Promise.reject(error)
    }
    this.#called = true
    return sendAttempt(this.#runtime, this.#ctx, this.#candidate).catch(this.#failed)
  }

  readonly #failed = (thrown: unknown): never => {
    // A bug below is not the fault of the plugins around it.
    this.#failure = ownError(this.#runtime, this.#ctx, thrown)
    throw this.#failure
  }

  /** Opens another line of the timeline. @throws the last failure when the request has used up its calls. */
  #retry(): void {
    const { sent, retries } = this.#walk
    const failure = this.#failure
    if (sent + retries + 1 >= MAX_ATTEMPTS)
      throw failure ?? GatewayError.unavailable(`One request makes at most ${MAX_ATTEMPTS} upstream calls.`)
    this.#close(failure)
    this.attempt.action ??= failure?.upstream?.field ? 'retry_stripped_field' : 'retried'
    this.#failure = null
    this.#walk.retries++
    this.attempt = this.#open()
  }

  #open(): Attempt {
    this.#startedAt = this.#runtime.clock.monotonic()
    const attempt: Attempt = { candidate: this.#candidate, startedAt: this.#runtime.clock.now() }
    this.#ctx.attempts.push(attempt)
    return attempt
  }

  #close(error: GatewayError | null): void {
    const { attempt } = this
    attempt.latencyMs = this.#runtime.clock.monotonic() - this.#startedAt
    attempt.status = error === null ? 200 : error.upstream?.status || error.status
    if (error !== null) attempt.error = error
  }
}

function ownError(runtime: Runtime, ctx: RequestState, thrown: unknown): GatewayError {
  if (!GatewayError.is(thrown)) {
    runtime.log.error('attempt.failed', { requestId: ctx.id, error: errorText(thrown) })
  }
  return GatewayError.from(thrown)
}

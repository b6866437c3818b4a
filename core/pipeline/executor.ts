// Turns a plan into an answer: tries targets × connections in order until one commits. It keeps no state between requests; cooldowns,
// breakers and strategies are plugins on `candidates` and `attempt`.
import { finalError, walkAction } from '../errors/classify.ts'
import { GatewayError } from '../errors/gateway-error.ts'
import { restingText } from '../errors/resting.ts'
import type { ConnectionService } from '../services.ts'
import { errorText } from '../text/error-text.ts'
import type { GatewayErrorShape } from '../types/error.ts'
import type { MediaOperation } from '../types/operations/operations.ts'
import type { Attempt, Candidate, Plan } from '../types/request/context.ts'
import type { Result } from '../types/request/result.ts'
import { sendAttempt } from './attempt.ts'
import type { RequestState } from './context.ts'
import type { Runtime } from './runtime.ts'
import { discardLastAnswer } from './steps.ts'

/** Returns the first result. @throws GatewayError: the caller's final error after every candidate failed. */
export function execute(runtime: Runtime, ctx: RequestState): Promise<Result> {
  const { hooks } = ctx
  const candidates = expand(ctx, ctx.plan as Plan)
  if (hooks.candidates === null) return answerFrom(runtime, ctx, candidates)
  const choosing = hooks.candidates(ctx, candidates)
  return choosing instanceof Promise
    ? choosing.then((chosen) => answerFrom(runtime, ctx, chosen))
    : answerFrom(runtime, ctx, choosing)
}

function answerFrom(runtime: Runtime, ctx: RequestState, candidates: readonly Candidate[]): Promise<Result> {
  const { hooks } = ctx
  if (candidates.length === 0) throw noCandidate(ctx)
  const first = runtime.operations.get(ctx.operation as MediaOperation)?.connections === 'first'
  const walk = () => walkCandidates(runtime, ctx, first ? candidates.slice(0, 1) : candidates)
  return hooks.call === null ? walk() : hooks.call(ctx, undefined, walk)
}

function expand(ctx: RequestState, plan: Plan): Candidate[] {
  const connections = ctx.generation.service('connections') as ConnectionService | undefined
  if (connections === undefined) throw GatewayError.unavailable('No plugin provides connections to upstreams.')
  const candidates: Candidate[] = []
  for (const target of plan.targets) {
    const { shared, connectionId } = target
    if (shared !== undefined) {
      const connection = connections.shared?.(connectionId ?? '')
      if (connection !== undefined) candidates.push({ target, connection })
      continue
    }
    for (const connection of connections.list(target.provider, target.model, ctx)) {
      if (connectionId === null || connectionId === connection.id) candidates.push({ target, connection })
    }
  }
  return candidates
}

function noCandidate(ctx: RequestState): GatewayErrorShape {
  const skipped = ctx.attempts.flatMap((attempt) => attempt.skipped ?? [])
  if (skipped.length === 0) {
    return GatewayError.modelNotFound(ctx.requestedModel, 'No connection for its provider is configured and enabled for it.')
  }
  const waits = waitsOf(ctx)
  const retryAfterMs = waits.length > 0 ? Math.min(...waits) : null
  const circuits = skipped.every(({ reason }) => reason === 'circuit_open')
  const busy = skipped.some(
    ({ reason }) =>
      reason === 'cooldown' || reason === 'at_capacity' || reason === 'quota_exhausted' || reason === 'model_locked',
  )
  const reasons = skipped.map(({ reason }) => reason)
  const message = restingText('No account can take this request now', reasons, retryAfterMs)
  if (busy && !circuits) return GatewayError.rateLimited(message, retryAfterMs)
  return GatewayError.unavailable(message, retryAfterMs === null ? {} : { retryAfterMs })
}

/** Returns the waits of accounts that were skipped until a known time, ms. */
function waitsOf(ctx: RequestState): number[] {
  return ctx.attempts.flatMap(({ skipped }) => (skipped?.until === undefined ? [] : [Math.max(0, skipped.until - ctx.startedAt)]))
}

/** Upper limit of upstream calls for one request. It applies to every plan and all plugins. */
const MAX_ATTEMPTS = 8

interface AttemptCounts {
  /** Upstream calls that the executor started, without the running one. */
  sent: number
  /** Additional calls that plugins made around attempts. */
  retries: number
}

class CandidateAttempts {
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
    discardLastAnswer(runtime, ctx)
    ctx.candidate = candidate
    ctx.upstreamHeaders = null
    this.attempt = this.#open()
  }

  /** Not an async function: that would cost each request one more microtask. */
  send(): Promise<Result> {
    const { attempt: wrapped } = this.#ctx.hooks
    if (wrapped === null) return sendAttempt(this.#runtime, this.#ctx, this.attempt)
    return wrapped(this.#ctx, this.#candidate, this.#send)
  }

  returned(result: Result): void {
    if (this.#ctx.hooks.attempt === null) this.#ctx.lastAnswer = result
    this.#close(null)
    this.attempt.action = 'returned'
    if (result.kind === 'stream') this.attempt.ttftMs = this.attempt.latencyMs as number
  }

  /** Returns what ended the attempt. */
  failed(thrown: unknown): GatewayErrorShape {
    const isWrapped = this.#ctx.hooks.attempt !== null
    const error = isWrapped ? GatewayError.from(thrown) : ownError(this.#runtime, this.#ctx, thrown)
    this.#close(error)
    return this.#ctx.stopped ?? error
  }

  readonly #send = (): Promise<Result> => {
    try {
      if (this.#called) this.#retry()
    } catch (error) {
      return Promise.reject(error)
    }
    this.#called = true
    return sendAttempt(this.#runtime, this.#ctx, this.attempt).then(this.#answered, this.#failed)
  }

  readonly #answered = (result: Result): Result => {
    this.#ctx.lastAnswer = result
    return result
  }

  readonly #failed = (thrown: unknown): never => {
    // An error thrown further inside is not the fault of the plugins around it.
    this.#failure = ownError(this.#runtime, this.#ctx, thrown)
    throw this.#failure
  }

  /** Adds a line to the timeline. @throws the last failure when the request has used all its calls. */
  #retry(): void {
    const { sent, retries } = this.#walk
    const failure = this.#failure
    if (sent + retries + 1 >= MAX_ATTEMPTS)
      throw failure ?? GatewayError.unavailable(`One request makes at most ${MAX_ATTEMPTS} upstream calls.`)
    this.#close(failure)
    this.attempt.action ??= failure?.upstream?.field ? 'retry_stripped_field' : 'retried'
    this.#failure = null
    this.#walk.retries++
    discardLastAnswer(this.#runtime, this.#ctx)
    this.attempt = this.#open()
  }

  #open(): Attempt {
    this.#startedAt = this.#runtime.clock.monotonic()
    const attempt: Attempt = { candidate: this.#candidate, startedAt: this.#runtime.clock.now() }
    this.#ctx.add(attempt)
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

async function walkCandidates(runtime: Runtime, ctx: RequestState, candidates: readonly Candidate[]): Promise<Result> {
  const failures: GatewayErrorShape[] = []
  const walk: AttemptCounts = { sent: 0, retries: 0 }
  let deadTarget: Candidate['target'] | null = null
  /** The call that failed last, while its next step is still unknown. */
  let left: Attempt | null = null
  for (const candidate of candidates) {
    if (candidate.target === deadTarget) continue
    if (left !== null) left.action = stepTo(left, candidate)
    for (let fresh = false; ; fresh = true) {
      // Retries that plugins make on one account count only against the larger limit.
      if (walk.sent > candidates.length || walk.sent + walk.retries >= MAX_ATTEMPTS) throw finalError(failures, ctx.dialect)
      const tries = new CandidateAttempts(runtime, ctx, candidate, walk)
      let error: GatewayErrorShape
      try {
        const result = await tries.send()
        tries.returned(result)
        return result
      } catch (thrown) {
        error = tries.failed(thrown)
      }
      const { attempt } = tries
      const action = walkAction(error)
      if (action === 'skip') {
        Object.assign(attempt, { action: 'skipped', skipped: { reason: error.skip } })
        failures.push(error)
        break
      }
      walk.sent++
      if (action === 'return' || ctx.stopped !== null)
        throw failures.length > 0 && error.upstream === null ? error : finalError([error], ctx.dialect)
      failures.push(error)
      if (action === 'retry_fresh_socket' && !fresh) {
        attempt.action = action
        continue
      }
      // With no candidate left, record the action that this failure would have caused.
      attempt.action = action === 'next_target' ? 'next_target' : 'next_account'
      if (action === 'next_target') deadTarget = candidate.target
      left = attempt
      break
    }
  }
  throw finalError(failures, ctx.dialect, waitsOf(ctx))
}

/** Returns the step between two candidates. The loop asks again after each skipped candidate, so skipped candidates do not count. */
function stepTo({ candidate: { target: from } }: Attempt, { target: to }: Candidate): 'next_target' | 'next_account' {
  return from.provider === to.provider && from.model === to.model ? 'next_account' : 'next_target'
}

// From a plan to an answer: targets × connections, one after the other, until one commits. Keeps no state between
// requests; cooldowns, breakers and strategies are plugins on `candidates` and `attempt`.
import { finalError, walkAction } from '../errors/classify.ts'
import { GatewayError } from '../errors/gateway-error.ts'
import type { ConnectionService } from '../services.ts'
import type { Attempt, Candidate, Plan } from '../types/context.ts'
import type { GatewayErrorShape } from '../types/error.ts'
import type { Result } from '../types/result.ts'
import { sendAttempt } from './attempt.ts'
import type { RequestState } from './context.ts'
import type { Kernel } from './kernel.ts'

/** RELIABILITY 2.3: whatever the plan holds, no request calls upstreams more often. */
const MAX_ATTEMPTS = 8

/** @throws GatewayError: the caller's final error after the whole walk. */
export function execute(kernel: Kernel, ctx: RequestState): Promise<Result> {
  const { hooks } = ctx.generation
  const candidates = expand(ctx, ctx.plan as Plan)
  if (hooks.candidates === null) return answerFrom(kernel, ctx, candidates)
  const choosing = hooks.candidates(ctx, candidates)
  return choosing instanceof Promise
    ? choosing.then((chosen) => answerFrom(kernel, ctx, chosen))
    : answerFrom(kernel, ctx, choosing)
}

function answerFrom(kernel: Kernel, ctx: RequestState, candidates: readonly Candidate[]): Promise<Result> {
  const { hooks } = ctx.generation
  if (candidates.length === 0) throw noCandidate(ctx)
  const walk = () => walkCandidates(kernel, ctx, candidates)
  return hooks.call === null ? walk() : hooks.call(ctx, undefined, walk)
}

function expand(ctx: RequestState, plan: Plan): Candidate[] {
  const connections = ctx.generation.service('connections') as ConnectionService | undefined
  if (connections === undefined) throw GatewayError.unavailable('No plugin provides connections to upstreams.')
  const candidates: Candidate[] = []
  for (const target of plan.targets) {
    for (const connection of connections.list(target.provider, target.model, ctx)) {
      if (target.connectionId === null || target.connectionId === connection.id) candidates.push({ target, connection })
    }
  }
  return candidates
}

function noCandidate(ctx: RequestState): GatewayErrorShape {
  const skipped = ctx.attempts.flatMap((attempt) => attempt.skipped ?? [])
  if (skipped.length === 0) {
    return GatewayError.modelNotFound(ctx.requestedModel, 'No connection for its provider is configured and enabled for it.')
  }
  const waits = skipped.flatMap(({ until }) => (until === undefined ? [] : [Math.max(0, until - ctx.startedAt)]))
  const retryAfterMs = waits.length > 0 ? Math.min(...waits) : null
  const circuits = skipped.every(({ reason }) => reason === 'circuit_open')
  const busy = skipped.some(
    ({ reason }) =>
      reason === 'cooldown' || reason === 'at_capacity' || reason === 'quota_exhausted' || reason === 'model_locked',
  )
  const reasons = [...new Set(skipped.map(({ reason }) => reason))].join(', ')
  if (busy && !circuits) return GatewayError.rateLimited(`No account can take this request now (${reasons}).`, retryAfterMs)
  return GatewayError.unavailable(
    `No account can take this request now (${reasons}).`,
    retryAfterMs === null ? {} : { retryAfterMs },
  )
}

async function walkCandidates(kernel: Kernel, ctx: RequestState, candidates: readonly Candidate[]): Promise<Result> {
  const failures: GatewayErrorShape[] = []
  let deadTarget: Candidate['target'] | null = null
  let sent = 0
  for (const candidate of candidates) {
    if (candidate.target === deadTarget) continue
    for (let fresh = false; ; fresh = true) {
      if (sent >= Math.min(candidates.length + 1, MAX_ATTEMPTS)) throw finalError(failures, ctx.dialect)
      const attempt: Attempt = { candidate, startedAt: kernel.clock.now() }
      const outcome = await tryOnce(kernel, ctx, candidate, attempt)
      if ('result' in outcome) return outcome.result
      const { error } = outcome
      const action = walkAction(error)
      if (action === 'skip') {
        Object.assign(attempt, { action: 'skipped', skipped: { reason: error.skip } })
        failures.push(error)
        break
      }
      sent++
      if (action === 'return' || ctx.stopped !== null)
        throw failures.length > 0 && error.upstream === null ? error : finalError([error], ctx.dialect)
      failures.push(error)
      if (action === 'retry_fresh_socket' && !fresh) {
        attempt.action = action
        continue
      }
      attempt.action = action === 'next_target' ? 'next_target' : 'next_account'
      if (action === 'next_target') deadTarget = candidate.target
      break
    }
  }
  throw finalError(failures, ctx.dialect)
}

/** A bug below is not the fault of the plugins around it: they see a GatewayError. */
async function sendGuarded(kernel: Kernel, ctx: RequestState, candidate: Candidate): Promise<Result> {
  try {
    return await sendAttempt(kernel, ctx, candidate)
  } catch (thrown) {
    throw ownError(kernel, ctx, thrown)
  }
}

function ownError(kernel: Kernel, ctx: RequestState, thrown: unknown): GatewayError {
  if (!GatewayError.is(thrown)) {
    kernel.log.error('attempt.failed', {
      requestId: ctx.id,
      error: thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown),
    })
  }
  return GatewayError.from(thrown)
}

async function tryOnce(
  kernel: Kernel,
  ctx: RequestState,
  candidate: Candidate,
  attempt: Attempt,
): Promise<{ result: Result } | { error: GatewayErrorShape }> {
  const { attempt: wrapped } = ctx.generation.hooks
  const startedAt = kernel.clock.monotonic()
  ctx.candidate = candidate
  ctx.attempts.push(attempt)
  const send = () => sendGuarded(kernel, ctx, candidate)
  try {
    const result = wrapped === null ? await send() : await wrapped(ctx, candidate, send)
    attempt.status = 200
    attempt.action = 'returned'
    return { result }
  } catch (thrown) {
    const error = GatewayError.from(thrown)
    attempt.status = error.upstream?.status || error.status
    attempt.error = error
    return { error: ctx.stopped ?? error }
  } finally {
    attempt.latencyMs = kernel.clock.monotonic() - startedAt
  }
}

// From a plan to an answer: targets × connections, one after the other, until one commits. Keeps no state between
// requests; cooldowns, breakers and strategies are plugins on `candidates` and `attempt`.
import { finalError, walkAction } from '../errors/classify.ts'
import { GatewayError } from '../errors/gateway-error.ts'
import { restingText } from '../errors/resting.ts'
import type { ConnectionService } from '../services.ts'
import type { Attempt, Candidate, Plan } from '../types/context.ts'
import type { GatewayErrorShape } from '../types/error.ts'
import type { Result } from '../types/result.ts'
import { type AttemptCounts, CandidateAttempts, MAX_ATTEMPTS } from './candidate-attempts.ts'
import type { RequestState } from './context.ts'
import type { Runtime } from './runtime.ts'

/** @throws GatewayError: the caller's final error after the whole walk. */
export function execute(runtime: Runtime, ctx: RequestState): Promise<Result> {
  const { hooks } = ctx.generation
  const candidates = expand(ctx, ctx.plan as Plan)
  if (hooks.candidates === null) return answerFrom(runtime, ctx, candidates)
  const choosing = hooks.candidates(ctx, candidates)
  return choosing instanceof Promise
    ? choosing.then((chosen) => answerFrom(runtime, ctx, chosen))
    : answerFrom(runtime, ctx, choosing)
}

function answerFrom(runtime: Runtime, ctx: RequestState, candidates: readonly Candidate[]): Promise<Result> {
  const { hooks } = ctx.generation
  if (candidates.length === 0) throw noCandidate(ctx)
  const walk = () => walkCandidates(runtime, ctx, candidates)
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

/** Waits of accounts that were skipped until a known time, ms. */
function waitsOf(ctx: RequestState): number[] {
  return ctx.attempts.flatMap(({ skipped }) => (skipped?.until === undefined ? [] : [Math.max(0, skipped.until - ctx.startedAt)]))
}

async function walkCandidates(runtime: Runtime, ctx: RequestState, candidates: readonly Candidate[]): Promise<Result> {
  const failures: GatewayErrorShape[] = []
  const walk: AttemptCounts = { sent: 0, retries: 0 }
  let deadTarget: Candidate['target'] | null = null
  /** The call that failed last, until it is known where the walk went from there. */
  let left: Attempt | null = null
  for (const candidate of candidates) {
    if (candidate.target === deadTarget) continue
    if (left !== null) left.action = stepTo(left, candidate)
    for (let fresh = false; ; fresh = true) {
      // Retries that plugins make on one account count only against the larger limit.
      if (walk.sent > candidates.length || walk.sent + walk.retries >= MAX_ATTEMPTS) throw finalError(failures, ctx.dialect)
      const tries = new CandidateAttempts(runtime, ctx, candidate, walk)
      const outcome = await tries.run()
      if ('result' in outcome) return outcome.result
      const { error } = outcome
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

/** Candidates that are passed over on the way do not count: this is asked again for the one behind them. */
function stepTo({ candidate: { target: from } }: Attempt, { target: to }: Candidate): 'next_target' | 'next_account' {
  return from.provider === to.provider && from.model === to.model ? 'next_account' : 'next_target'
}

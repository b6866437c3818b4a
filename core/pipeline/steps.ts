// Makes the bills of a request's upstream calls: one step for each call that was charged.
import { isConversation } from '../calls/conversation.ts'
import { estimateUsage, isReported, noUsage } from '../models/token-estimate.ts'
import { accountOf } from '../records/request-record.ts'
import type { PriceService } from '../services.ts'
import type { Usage } from '../types/request/answer.ts'
import type { Candidate, Step } from '../types/request/context.ts'
import type { RequestState } from './context.ts'
import type { Runtime } from './runtime.ts'
import { answerFacts } from './whole-answer.ts'

/** Returns the bill of this request's own upstream call; null when no upstream answered: nothing is billed. */
export function ownStep(runtime: Runtime, ctx: RequestState, usage: Usage, status: number): Step | null {
  const { candidate } = ctx
  if (candidate === null || ctx.facts === null || ctx.operation === 'count_tokens') return null
  return stepOf(runtime, ctx, candidate, usage, status)
}

/** Returns the bill of one call of the candidate, as the next of the request's steps. */
function stepOf(runtime: Runtime, ctx: RequestState, candidate: Candidate, usage: Usage, status: number): Step {
  const { connection, target } = candidate
  const prices = ctx.generation.service('prices') as PriceService | undefined
  const { shared } = target
  const { orgId } = ctx.principal
  const price = prices?.price({ connection, model: target.model, operation: ctx.operation, usage, orgId, shared }) ?? null
  const startedAt = ctx.attempts.at(-1)?.startedAt ?? ctx.startedAt
  const step: Step = {
    index: ctx.steps.length,
    provider: connection.provider,
    connectionId: accountOf(candidate),
    model: target.model,
    usage,
    costNano: price?.costNano ?? null,
    chargeNano: price?.chargeNano ?? null,
    priceRef: price?.ref ?? null,
    status,
    source: ctx.source,
    startedAt,
    latencyMs: Math.max(0, runtime.clock.now() - startedAt),
  }
  if (shared !== undefined) step.shared = true
  return step
}

/**
 * Books a call whose answer does not reach the caller: the walk goes on, or the request fails. Another answer does not undo what the vendor
 * charged.
 */
export function bookDiscarded(runtime: Runtime, ctx: RequestState, candidate: Candidate, usage: Usage, status: number): void {
  ctx.steps.push(stepOf(runtime, ctx, candidate, usage, status))
}

/** Books the last answer before the request asks an upstream again. The caller does not get it, but the vendor charged it. */
export function discardLastAnswer(runtime: Runtime, ctx: RequestState): void {
  const { lastAnswer, candidate } = ctx
  if (lastAnswer === null || candidate === null) return
  readFacts(ctx)
  cancelLastAnswer(ctx)
  ctx.lastAnswer = null
  if (ctx.facts === null || ctx.operation === 'count_tokens') return
  bookDiscarded(runtime, ctx, candidate, finalUsage(ctx, !ctx.facts.terminal), 200)
  ctx.facts = null
}

/** Ends the upstream call of a stream that the caller will not get. */
export function cancelLastAnswer({ lastAnswer }: RequestState): void {
  if (lastAnswer?.kind === 'stream') lastAnswer.source.cancel()
  else if (lastAnswer?.kind === 'answer') lastAnswer.reply.stream?.source.cancel()
}

/** Reads the facts of an upstream answer that was not sent to the caller. */
export function readFacts(ctx: RequestState): void {
  const { lastAnswer } = ctx
  if (lastAnswer === null || ctx.facts !== null) return
  if (lastAnswer.kind === 'full') ctx.facts = answerFacts(lastAnswer.response)
  else if (lastAnswer.kind === 'stream') ctx.facts = lastAnswer.source.facts
}

/**
 * Returns the usage that the upstream reported. It is estimated when the upstream reported none and content was delivered. An explicit
 * zero stays zero.
 */
export function finalUsage(ctx: RequestState, cutShort: boolean): Usage {
  const { facts } = ctx
  const reported = facts?.usage ?? null
  if (ctx.cached !== false || facts === null) return noUsage()
  // An operation's codec knows what its call used.
  if (!isConversation(ctx)) return facts.usage ?? noUsage()
  if (isReported(reported)) {
    // A cut stream may have reported its prompt tokens but not yet its output tokens.
    if (!cutShort || reported.outputTotal * 4 >= facts.contentBytes) return reported
    const outputTotal = Math.max(reported.outputTotal, Math.ceil(facts.contentBytes / 4))
    return { ...reported, outputTotal, total: reported.inputTotal + outputTotal, estimated: true }
  }
  return estimateUsage(requestOrNull(ctx), facts.contentBytes)
}

function requestOrNull(ctx: RequestState) {
  if (ctx.operation !== 'chat' || ctx.decode === null) return null
  try {
    return ctx.request
  } catch {
    return null
  }
}

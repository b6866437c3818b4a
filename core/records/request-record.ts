// A request as records tell it, whichever of them: who answered, what that used, what it came to. Logs, live events, webhooks and
// metrics say the same of a request as its usage rows do.
import type { Outcome, RequestContext } from '../types/context.ts'

export interface Answerer {
  readonly provider: string
  /** null: a cache gave the answer again. */
  readonly connectionId: string | null
  readonly model: string
}

/** null: no upstream was asked. */
export function answererOf(ctx: RequestContext, outcome: Outcome): Answerer | null {
  const { steps, cachedCall, error } = outcome
  // A panel or a chain was answered by others than the request's own candidate; it failed where it was asked last.
  const candidate = ctx.candidate ?? (error === undefined ? null : lastAsked(ctx))
  if (candidate !== null)
    return { provider: candidate.connection.provider, connectionId: candidate.connection.id, model: candidate.target.model }
  if (cachedCall !== undefined) return { provider: cachedCall.provider, connectionId: null, model: cachedCall.model }
  return steps[steps.length - 1] ?? null
}

export interface UsedTokens {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly reasoning: number
}

/** Usage of all calls of a request; for a cached answer, the usage of the original call. */
export function usedTokens({ steps, usage, cachedCall }: Outcome): UsedTokens {
  const sum = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
  const calls = steps.length > 0 ? steps : [cachedCall ?? { usage }]
  for (const { usage: one } of calls) {
    sum.input += one.inputTotal
    sum.output += one.outputTotal
    sum.cacheRead += one.cacheRead
    sum.cacheWrite += one.cacheWrite
    sum.reasoning += one.reasoning ?? 0
  }
  return sum
}

/** Nano-USD; null: no price is known. Where nothing was bought that is 0, and known. */
export function spentNano({ steps, costNano, chargeNano }: Outcome): Pick<Outcome, 'costNano' | 'chargeNano'> {
  const unknown = steps.length === 0 ? 0 : null
  return { costNano: costNano ?? unknown, chargeNano: chargeNano ?? unknown }
}

function lastAsked({ attempts }: RequestContext): RequestContext['candidate'] {
  return attempts.findLast(({ skipped }) => skipped === undefined)?.candidate ?? null
}

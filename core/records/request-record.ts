// Computes provider, token usage and cost of a finished request. Logs, live events, webhooks and metrics use it, so that they agree with
// the usage rows.
import type { Candidate, Outcome, RequestContext } from '../types/request/context.ts'

export interface Answerer {
  readonly provider: string
  /** null: the answer came from a cache. */
  readonly connectionId: string | null
  readonly model: string
}

/** Returns null when no upstream was called. */
export function answererOf(ctx: RequestContext, outcome: Outcome): Answerer | null {
  const { steps, cachedCall, error } = outcome
  // For a panel or a chain the upstream is not the request's own candidate. When it failed, the last called one is recorded.
  const candidate = ctx.candidate ?? (error === undefined ? null : lastAsked(ctx))
  if (candidate !== null)
    return { provider: candidate.connection.provider, connectionId: accountOf(candidate), model: candidate.target.model }
  if (cachedCall !== undefined) return { provider: cachedCall.provider, connectionId: null, model: cachedCall.model }
  return steps[steps.length - 1] ?? null
}

/** Returns the number of upstream calls: a candidate that was passed over had none. */
export function callsOf(attempts: RequestContext['attempts']): number {
  let calls = 0
  for (const { action } of attempts) if (action !== 'skipped') calls++
  return calls
}

/** Returns the account that records of a call name: the connection's id, or the name under which it is shared. */
export function accountOf({ target, connection }: Candidate): string {
  return target.shared?.account ?? connection.id
}

/** Returns whether the connection belongs to another organization than the caller's. */
export function isForeign(candidate: Candidate | null): boolean {
  return candidate !== null && accountOf(candidate) !== candidate.connection.id
}

/** Returns whether shared connections answered, or were to answer. */
export function isShared({ plan }: Pick<RequestContext, 'plan'>, outcome?: Pick<Outcome, 'steps'>): boolean {
  if (plan?.targets[0]?.shared !== undefined) return true
  if (outcome !== undefined) for (const { shared } of outcome.steps) if (shared === true) return true
  return false
}

export interface UsedTokens {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly reasoning: number
}

/** Returns the usage of all calls of a request; for a cached answer, the usage of the original call. */
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

/** Returns nano-USD; null: no price is known. A request without upstream calls cost 0. */
export function spentNano({ steps, costNano, chargeNano }: Outcome): Pick<Outcome, 'costNano' | 'chargeNano'> {
  const unknown = steps.length === 0 ? 0 : null
  return { costNano: costNano ?? unknown, chargeNano: chargeNano ?? unknown }
}

function lastAsked({ attempts }: RequestContext): RequestContext['candidate'] {
  return attempts.findLast(({ skipped }) => skipped === undefined)?.candidate ?? null
}

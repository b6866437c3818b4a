// The bill line of one upstream call of a request, with its price.
import type { PriceService } from '../services.ts'
import type { Usage } from '../types/answer.ts'
import type { Outcome, Step } from '../types/context.ts'
import type { RequestState } from './context.ts'
import type { Runtime } from './runtime.ts'

/** null when no upstream answered: nothing is billed. */
export function ownStep(runtime: Runtime, ctx: RequestState, usage: Usage, status: number): Step | null {
  const { candidate } = ctx
  if (candidate === null || ctx.facts === null || ctx.operation !== 'chat') return null
  const { connection, target } = candidate
  const prices = ctx.generation.service('prices') as PriceService | undefined
  const price = prices?.price({ connection, model: target.model, operation: ctx.operation, usage }) ?? null
  const startedAt = ctx.attempts.at(-1)?.startedAt ?? ctx.startedAt
  return {
    index: ctx.steps.length,
    provider: connection.provider,
    connectionId: connection.id,
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
}

/** Sum of the steps with a known price; null when no step has one. */
export function summed(steps: readonly Step[]): Pick<Outcome, 'costNano' | 'chargeNano'> {
  let costNano: number | null = null
  let chargeNano: number | null = null
  for (const step of steps) {
    if (step.costNano !== null) costNano = (costNano ?? 0) + step.costNano
    if (step.chargeNano !== null) chargeNano = (chargeNano ?? 0) + step.chargeNano
  }
  return { costNano, chargeNano }
}

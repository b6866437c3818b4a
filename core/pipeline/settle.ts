// Ends every exchange: outcome → leases → settle → afterCommit → settled, each once.

import { deepFreeze } from '../collections/deep-freeze.ts'
import { parseInTurns } from '../json/wire-body.ts'
import { isReported } from '../models/token-estimate.ts'
import { errorText } from '../text/error-text.ts'
import { LARGE_REQUEST } from '../timing/yield-queue.ts'
import type { GatewayErrorShape } from '../types/error.ts'
import type { Outcome, Step } from '../types/request/context.ts'
import type { RequestState } from './context.ts'
import type { Runtime } from './runtime.ts'
import { cancelLastAnswer, finalUsage, ownStep, readFacts } from './steps.ts'
import { RequestUnit } from './unit.ts'

export interface Ending {
  /** The status that was sent to the caller. */
  status: number
  error: GatewayErrorShape | null
  /** Monotonic ms. */
  firstByteAt: number | null
}

/** Returns the sum of the steps with a known price; null when no step has one. */
function summed(steps: readonly Step[]): Pick<Outcome, 'costNano' | 'chargeNano'> {
  let costNano: number | null = null
  let chargeNano: number | null = null
  for (const step of steps) {
    if (step.costNano !== null) costNano = (costNano ?? 0) + step.costNano
    if (step.chargeNano !== null) chargeNano = (chargeNano ?? 0) + step.chargeNano
  }
  return { costNano, chargeNano }
}

/** Parses a large request in several turns when settle() will estimate its tokens. Never rejects. null: there is nothing to wait for. */
export function beforeEstimate(runtime: Runtime, ctx: RequestState): Promise<void> | null {
  if (ctx.bodyBytes <= LARGE_REQUEST || ctx.body === null || ctx.decoded || ctx.operation !== 'chat') return null
  if (ctx.cached !== false || ctx.facts === null || isReported(ctx.facts.usage ?? null)) return null
  return parseInTurns(ctx.body, runtime.turns).catch(() => {})
}

/** Settles the exchange. A stream that failed after its start is 502; one that the client left is 499. The tokens so far count. */
export function settle(runtime: Runtime, ctx: RequestState, ending: Ending): Outcome {
  const aborted = ctx.stopped?.status === 499
  const broken = ending.error !== null && ending.status === 200
  const cutShort = broken || aborted
  readFacts(ctx)
  if (ending.error !== null) cancelLastAnswer(ctx)
  const usage = finalUsage(ctx, cutShort)
  const step = ownStep(runtime, ctx, usage, cutShort ? (aborted ? 499 : 502) : ending.status)
  const steps = step === null ? ctx.steps : [...ctx.steps, step]
  // A spread before further members would call into V8's runtime for each of them.
  const { costNano, chargeNano } = summed(steps)
  const outcome: Outcome = {
    status: aborted ? 499 : broken ? 502 : ending.status,
    aborted,
    cached: ctx.cached,
    usage,
    steps,
    costNano,
    chargeNano,
    latencyMs: runtime.clock.monotonic() - ctx.startedMonotonic,
    firstByteMs: ending.firstByteAt === null ? null : ending.firstByteAt - ctx.startedMonotonic,
  }
  if (ending.error !== null) outcome.error = ending.error
  if (ctx.cachedCall !== null) outcome.cachedCall = ctx.cachedCall
  if (runtime.options.freeze) deepFreeze(outcome)
  const { hooks } = ctx
  ctx.settleLeases(outcome, (error) => failed(runtime, ctx, 'lease', error))
  if (hooks.settle !== null) {
    const unit = new RequestUnit(runtime.commits)
    try {
      hooks.settle(ctx, outcome, unit)
    } catch (error) {
      failed(runtime, ctx, 'settle', error)
    }
    unit
      .commit(true, (where, error) => failed(runtime, ctx, where === 'commit' ? 'settle' : where, error))
      ?.catch((error: unknown) => failed(runtime, ctx, 'settle', error))
  }
  if (hooks.settled !== null) void hooks.settled(ctx, outcome)
  return outcome
}

function failed(runtime: Runtime, ctx: RequestState, where: string, error: unknown): void {
  runtime.log.error('settle.failed', { requestId: ctx.id, where, error: errorText(error) })
}

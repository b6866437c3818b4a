// Counts each call of each request, in memory.
import type { Attempt, Outcome, RequestContext } from '../../core/types/request/context.ts'
import { ObservedSums, type Place } from './observed.ts'
import { Sampler } from './sampler.ts'

/** Failed calls in a row that make an outage. */
const OUTAGE = 5
const MAX_STREAKS = 10_000

export class Observer {
  readonly sums = new ObservedSums()
  readonly #sampler: Sampler
  readonly #streaks = new Map<string, number>()

  constructor(samplesPerSecond: number) {
    this.#sampler = new Sampler(samplesPerSecond)
  }

  /** For chat requests of callers. Answers of a cache count nothing: they cost nothing. */
  settled(ctx: RequestContext<'chat'>, outcome: Outcome, now: number): void {
    if (outcome.cached !== false) return
    const { orgId } = ctx.principal
    let served: Place | null = null
    for (const attempt of ctx.attempts) {
      if (attempt.action === 'skipped' || attempt.role !== undefined) continue
      const place = placeOf(ctx, attempt)
      this.#count(orgId, now, place, hasFailed(attempt))
      served = place
    }
    if (served === null && outcome.status >= 500) {
      const nowhere = { virtualModel: ctx.virtualModel ?? '', provider: '', model: '', wireFormat: '' }
      this.sums.at(orgId, now, nowhere).calls++
    }
    const body = ctx.rawBody
    if (served === null || outcome.status >= 400 || body === null) return
    const weight = this.#sampler.weight(body, now)
    if (weight === 0) return
    const looked = this.#sampler.look(`${orgId ?? 0} ${served.provider}/${served.model}`, body, now)
    if (looked === null) return
    const cost = outcome.costNano ?? 0
    const sum = this.sums.at(orgId, now, served)
    sum.looked_at += weight
    sum.cost_nano += weight * cost
    sum.prompt_chars += weight * looked.promptChars
    sum.tool_chars += weight * looked.toolChars
    sum.prefix_chars += weight * looked.prefixChars
    // The exact cache answers whole answers only.
    if (looked.repeated && !ctx.stream) {
      sum.repeats += weight
      sum.repeat_cost_nano += weight * cost
    } else if (looked.nearlyRepeated) {
      sum.near_repeats += weight
      sum.near_cost_nano += weight * cost
    }
  }

  #count(orgId: number | null, now: number, place: Place, failed: boolean): void {
    const sum = this.sums.at(orgId, now, place)
    sum.calls++
    if (!failed && this.#streaks.size === 0) return
    const id = `${orgId ?? 0} ${place.virtualModel} ${place.provider}/${place.model}`
    if (!failed) {
      this.#streaks.delete(id)
      return
    }
    sum.failures++
    const streak = (this.#streaks.get(id) ?? 0) + 1
    if (streak === OUTAGE) sum.outages++
    if (this.#streaks.size < MAX_STREAKS || this.#streaks.has(id)) this.#streaks.set(id, streak)
  }
}

function placeOf(ctx: RequestContext, { candidate, wireFormat }: Attempt): Place {
  const { connection, target } = candidate
  return {
    virtualModel: ctx.virtualModel ?? '',
    provider: connection.provider,
    model: target.model,
    wireFormat: wireFormat ?? '',
  }
}

/** The upstream's fault: no answer, an error of its own, a refusal for load, or a refused credential. A caller's mistake is not one. */
function hasFailed({ error }: Attempt): boolean {
  const upstream = error?.upstream ?? null
  if (upstream === null) return false
  const { kind, status } = upstream
  return kind !== 'status' || status === 0 || status >= 500 || status === 429 || status === 401 || status === 403
}

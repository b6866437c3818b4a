// What a request can cost at most, before it is sent (CONTRACTS 7.4.2, RELIABILITY 3.1 `r`): exact integers, rounded up once.
// What has no price costs nothing here, as it does in the books.
import type { CanonicalRequest, Frozen } from '../../core/types/canonical.ts'
import type { RequestContext } from '../../core/types/context.ts'
import type { Services } from '../../core/types/plugin.ts'
import { areSeveral, type Call, callsOf, type Recipes } from './calls.ts'
import { type PromptSize, promptSize } from './prompt-size.ts'

export interface Estimate {
  /** Nano-USD. */
  readonly nano: number
  /** The caller said how long the answer may be. */
  readonly explicit: boolean
}

type Facts = ReturnType<Services['modelFacts']['facts']>
export type FactsOf = (provider: string, model: string) => Facts | undefined

/** Output tokens where nobody says a bound (DECISIONS 3). */
const DEFAULT_OUTPUT = 4096
const TEXT_ONLY: PromptSize = { tokens: 0, hasImage: false, hasAudio: false, longCache: false }

export function estimator(factsOf: FactsOf, recipes: Recipes): (ctx: RequestContext) => Estimate {
  return (ctx) => {
    const targets = ctx.plan?.targets ?? []
    // Most of what is not priced is found out without reading the request.
    if (!targets.some(({ provider, model }) => factsOf(provider, model)?.price) && !areSeveral(ctx))
      return { nano: 0, explicit: false }
    if (ctx.operation !== 'chat') {
      const prompt = { ...TEXT_ONLY, tokens: Math.ceil(ctx.bodyBytes / 2) }
      const costs = targets.map(({ provider, model }) =>
        costOf({ provider, model, input: prompt.tokens, output: 0 }, prompt, undefined, factsOf),
      )
      return { nano: bounded(highest(costs)), explicit: true }
    }
    const request = ctx.request as Frozen<CanonicalRequest>
    const prompt = promptSize(request, ctx.bodyBytes)
    const outputOf = (provider: string, model: string, cap: number | null): number =>
      outputTokens(request, factsOf(provider, model)?.maxOutputTokens, cap)
    const { calls, all } = callsOf(ctx, prompt.tokens, outputOf, recipes)
    const costs = calls.map((call) => costOf(call, prompt, request, factsOf))
    const nano = all ? costs.reduce((sum, cost) => sum + cost, 0n) : highest(costs)
    return { nano: bounded(nano), explicit: request.maxTokens !== undefined }
  }
}

/** Of one choice. @param cap what the virtual model says over the caller; null = nothing. */
function outputTokens(
  { maxTokens, reasoning }: Frozen<CanonicalRequest>,
  ceiling: number | undefined,
  cap: number | null,
): number {
  const thinking = whole(reasoning?.budgetTokens ?? 0)
  const said = cap ?? maxTokens
  if (said !== undefined) return Math.max(whole(said), thinking)
  const answer = Math.min(ceiling ?? DEFAULT_OUTPUT, DEFAULT_OUTPUT)
  return Math.min(answer + thinking, Math.max(ceiling ?? Number.POSITIVE_INFINITY, answer))
}

function costOf(
  { provider, model, input, output }: Call,
  prompt: PromptSize,
  request: Frozen<CanonicalRequest> | undefined,
  factsOf: FactsOf,
): bigint {
  const price = factsOf(provider, model)?.price
  if (price === undefined) return 0n
  const served = request?.serviceTier === 'priority' ? price.services?.priority : undefined
  const lists = served === undefined ? [price] : [price, served]
  const rates = lists.flatMap((list) => [list, ...(list.tiers ?? []).filter(({ above }) => above < input)])
  const modalities = request?.modalities
  let [perInput, perOutput] = [0, 0]
  for (const rate of rates) {
    perInput = Math.max(perInput, rate.input ?? 0, rate.cacheWrite ?? 0)
    if (prompt.longCache) perInput = Math.max(perInput, rate.cacheWrite1h ?? 0)
    if (prompt.hasAudio) perInput = Math.max(perInput, rate.inputAudio ?? 0)
    if (prompt.hasImage) perInput = Math.max(perInput, rate.inputImage ?? 0)
    perOutput = Math.max(perOutput, rate.output ?? 0, rate.reasoning ?? 0)
    if (modalities?.includes('audio')) perOutput = Math.max(perOutput, rate.outputAudio ?? 0)
    if (modalities?.includes('image')) perOutput = Math.max(perOutput, rate.outputImage ?? 0)
  }
  const micro = BigInt(whole(input)) * BigInt(whole(perInput)) + BigInt(whole(output)) * BigInt(whole(perOutput))
  return (micro + 999_999n) / 1_000_000n
}

/** Callers send any number. */
function whole(value: number): number {
  if (!(value > 0)) return 0
  return Math.min(Math.ceil(value), Number.MAX_SAFE_INTEGER)
}

function highest(costs: readonly bigint[]): bigint {
  return costs.reduce((most, cost) => (cost > most ? cost : most), 0n)
}

/** Above every limit (`MAX_LIMIT_NANO`): what is out of range is refused, whatever it is exactly. */
function bounded(nano: bigint): number {
  return nano > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(nano)
}

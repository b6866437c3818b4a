// Computes an upper limit of a request's cost before it is sent: exact integers, rounded up once. A call without a price costs nothing,
// as in the ledger.
import { isConversation } from '../../../core/calls/conversation.ts'
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { encodeUtf8 } from '../../../core/text/bytes.ts'
import type { Services } from '../../../core/types/plugin/plugin.ts'
import type { CanonicalRequest, Frozen } from '../../../core/types/request/canonical.ts'
import type { RequestContext } from '../../../core/types/request/context.ts'
import type { TokenEstimate } from '../service.ts'
import { areSeveral, type Call, type CompiledModels, callsOf, type OutputOf, payerOf, type Upstream } from './calls.ts'
import { estimateOperation } from './operation.ts'
import { type PromptSize, promptSize } from './prompt-size.ts'
import type { Estimate, EstimateRules } from './rules.ts'
import { type ServerUse, serverUse, toolsOf } from './server-tools.ts'
import { unknownPrompt } from './unknown-prompt.ts'

type Facts = ReturnType<Services['modelFacts']['facts']>
/** @param orgId owner of the connections that serve the model */
export type FactsOf = (provider: string, model: string, orgId: number | null) => Facts | undefined

/** Output tokens when neither request nor model sets a limit. */
const DEFAULT_OUTPUT = 4096
/** The vendor accepts no smaller limit, so it is raised on the way. */
const LEAST_OF_RESPONSES = 16
/** Context window of an unknown model, tokens. No current model has a larger one. */
const DEFAULT_WINDOW = 2_097_152
/** Names that upstreams may read as an output limit, besides the one of the caller's dialect. */
const OTHER_BOUNDS = ['max_tokens', 'max_completion_tokens', 'max_output_tokens', 'max_new_tokens', 'maxOutputTokens'] as const

export function estimator(
  factsOf: FactsOf,
  compiledModels: CompiledModels,
  rules: EstimateRules,
): (ctx: RequestContext) => Estimate {
  return (ctx) => {
    const targets = ctx.plan?.targets ?? []
    if (!isConversation(ctx)) return estimateOperation(ctx, rules)
    // Most requests without a price are found without reading the request.
    if (!targets.some((target) => factsOf(target.provider, target.model, payerOf(ctx, target))?.price) && !areSeveral(ctx))
      return { nano: 0, leastNano: 0, explicit: false }
    const { calls, all, asked, explicit } = askedOf(ctx, factsOf, compiledModels, rules)
    const total = (of: readonly Call[]): number => {
      const costs = of.map((call) => costOf(call, asked, factsOf))
      return bounded(all ? costs.reduce((sum, cost) => sum + cost, 0n) : highest(costs))
    }
    const nano = total(calls)
    if (explicit) return { nano, leastNano: nano, explicit }
    const isPlain = !asked.unknown && asked.use.uses === 0
    const leastNano = isPlain ? 0 : total(calls.map((call) => ({ ...call, output: 0 })))
    return { nano, leastNano, explicit }
  }
}

/** Returns an upper limit of the tokens that the request can use: prompts and answers of all its calls. */
export function tokenEstimator(
  factsOf: FactsOf,
  compiledModels: CompiledModels,
  rules: EstimateRules,
): (ctx: RequestContext) => TokenEstimate {
  return (ctx) => {
    if (!isConversation(ctx)) {
      const tokens = Math.ceil(ctx.bodyBytes / 2) + DEFAULT_OUTPUT
      return { tokens, promptTokens: tokens, explicit: true }
    }
    const { calls, all, asked, explicit } = askedOf(ctx, factsOf, compiledModels, rules)
    const prompts = calls.map((call) =>
      inputTokens(call, asked, factsOf(call.provider, call.model, call.orgId)?.contextWindow ?? DEFAULT_WINDOW),
    )
    const totals = calls.map(({ output }, index) => (prompts[index] as number) + output)
    const total = (of: readonly number[]) => whole(all ? of.reduce((sum, one) => sum + one, 0) : Math.max(0, ...of))
    return { tokens: total(totals), promptTokens: total(prompts), explicit }
  }
}

/** Returns an upper limit of the cost of one call that the gateway itself makes, nano-USD; 0 without a known price. */
export function ownCallEstimator(factsOf: FactsOf): Services['estimates']['ownCall'] {
  return (orgId, { provider, model }, request) => {
    const prompt = promptSize(request, encodeUtf8(JSON.stringify(request)).length)
    const output = outputTokens(request, request.maxTokens, factsOf(provider, model, orgId)?.maxOutputTokens, null)
    const call = { provider, model, orgId, input: prompt.tokens, output }
    return bounded(costOf(call, { prompt, request, use: NO_TOOLS }, factsOf))
  }
}

const NO_TOOLS: ServerUse = { uses: 0, tokens: 0, searches: 0 }

/** The calls that a conversation can cause, and their limits. */
interface AskedCalls {
  readonly calls: readonly Call[]
  readonly all: boolean
  readonly asked: Required<Asked>
  /** True when the caller limited the answer. */
  readonly explicit: boolean
}

/** @throws GatewayError 400 for a prompt of unknown size, where the rules refuse it. */
function askedOf(
  ctx: RequestContext<'chat' | 'count_tokens'>,
  factsOf: FactsOf,
  compiledModels: CompiledModels,
  rules: EstimateRules,
): AskedCalls {
  const targets = ctx.plan?.targets ?? []
  const request = ctx.request
  const prompt = promptSize(request, ctx.bodyBytes + ctx.addedBytes)
  const unknown = unknownPrompt(request)
  if (unknown !== null && rules.unknownPrompt === 'refuse') throw refused(unknown)
  const offered = toolsOf(request)
  const isOwn = (target: Upstream) => rules.dialectsOf(ctx, request, target).every((dialect) => dialect === request.source)
  const capped = offered.length > 0 && !areSeveral(ctx) && targets.every(isOwn)
  const use = serverUse(offered, request, rules.serverTools, capped)
  const asked = { prompt, request, unknown: unknown !== null, use }
  const said = largestBound(request)
  const isRaised = (target: Upstream) =>
    request.source !== 'responses' && rules.dialectsOf(ctx, request, target).includes('responses')
  const outputOf: OutputOf = (target, cap) => {
    const facts = factsOf(target.provider, target.model, payerOf(ctx, target))
    const output = outputTokens(request, said, facts?.maxOutputTokens, cap)
    return output < LEAST_OF_RESPONSES && isRaised(target) ? LEAST_OF_RESPONSES : output
  }
  return { ...callsOf(ctx, prompt.tokens, outputOf, compiledModels), asked, explicit: said !== undefined }
}

function refused(member: string): GatewayError {
  return GatewayError.invalid(
    member,
    `\`${member}\` names a prompt, or a part of one, that is not in the request, and a budget applies: its cost cannot be estimated before it is sent. Include it in the request, or ask your gateway administrator to set \`budgets.unknownPrompt\` to \`reserve\`.`,
    'unknown_prompt',
  )
}

/** An upstream may use any of these limits, so the largest one applies. */
function largestBound({ maxTokens, source, ext }: Frozen<CanonicalRequest>): number | undefined {
  let most = maxTokens
  for (const name of OTHER_BOUNDS) {
    const value = ext[source]?.[name]
    if (most !== undefined && typeof value === 'number' && value > most) most = value
  }
  return most
}

/** Output tokens of one choice. @param cap limit of the virtual model, which overrides the caller's; null = none. */
function outputTokens(
  { reasoning }: Frozen<CanonicalRequest>,
  bound: number | undefined,
  ceiling: number | undefined,
  cap: number | null,
): number {
  const thinking = whole(reasoning?.budgetTokens ?? 0)
  // When the caller also set the limit in another spelling, an upstream may use either.
  const said = cap === null || bound === undefined ? (cap ?? bound) : Math.max(cap, bound)
  if (said !== undefined) return Math.max(whole(said), thinking)
  const answer = Math.min(ceiling ?? DEFAULT_OUTPUT, DEFAULT_OUTPUT)
  return Math.min(answer + thinking, Math.max(ceiling ?? Number.POSITIVE_INFINITY, answer))
}

/** The limits of each call. */
interface Asked {
  readonly prompt: PromptSize
  readonly use: ServerUse
  readonly request?: Frozen<CanonicalRequest>
  /** True: the prompt may be as long as the model accepts. */
  readonly unknown?: boolean
}

/** After each use of a tool at the vendor the model reads the whole prompt again, with the results of earlier uses. */
function inputTokens({ input, output }: Call, { prompt, use, unknown }: Asked, window: number): number {
  // A document that does not fit is refused by the vendor, or cut.
  const pages = unknown ? window : Math.min(input + prompt.pageTokens, window)
  const first = Math.max(input, pages)
  if (use.uses === 0) return first
  return first + use.uses * Math.min(first + use.tokens + output, Math.max(first, window))
}

function costOf(call: Call, asked: Asked, factsOf: FactsOf): bigint {
  const { prompt, request, use } = asked
  const facts = factsOf(call.provider, call.model, call.orgId)
  const price = facts?.price
  if (price === undefined) return 0n
  const input = inputTokens(call, asked, facts?.contextWindow ?? DEFAULT_WINDOW)
  const served = request?.serviceTier === 'priority' ? price.services?.priority : undefined
  const lists = served === undefined ? [price] : [price, served]
  const rates = lists.flatMap((list) => [list, ...(list.tiers ?? []).filter(({ above }) => above < input)])
  const modalities = request?.modalities
  let [perInput, perOutput] = [0, 0]
  for (const rate of rates) {
    perInput = Math.max(perInput, rate.input ?? 0, rate.cacheRead ?? 0, rate.cacheWrite ?? 0)
    if (prompt.longCache) perInput = Math.max(perInput, rate.cacheWrite1h ?? 0)
    if (prompt.hasAudio) perInput = Math.max(perInput, rate.inputAudio ?? 0)
    if (prompt.hasImage) perInput = Math.max(perInput, rate.inputImage ?? 0)
    perOutput = Math.max(perOutput, rate.output ?? 0, rate.reasoning ?? 0)
    if (modalities?.includes('audio')) perOutput = Math.max(perOutput, rate.outputAudio ?? 0)
    if (modalities?.includes('image')) perOutput = Math.max(perOutput, rate.outputImage ?? 0)
  }
  const micro =
    BigInt(whole(input)) * BigInt(whole(perInput)) +
    BigInt(whole(call.output)) * BigInt(whole(perOutput)) +
    BigInt(whole(use.searches)) * BigInt(whole(price.webSearch ?? 0))
  return (micro + 999_999n) / 1_000_000n
}

/** Callers may send any number. */
function whole(value: number): number {
  if (!(value > 0)) return 0
  return Math.min(Math.ceil(value), Number.MAX_SAFE_INTEGER)
}

function highest(costs: readonly bigint[]): bigint {
  return costs.reduce((most, cost) => (cost > most ? cost : most), 0n)
}

/** A value out of range becomes larger than every limit (`MAX_LIMIT_NANO`), so it is refused; its exact size does not matter. */
function bounded(nano: bigint): number {
  return nano > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(nano)
}

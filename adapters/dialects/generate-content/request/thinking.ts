// Encodes reasoning options as thinkingConfig in the form that the model supports: a level, a budget or neither. Values are clamped
// instead of refused; level and budget are never sent together.
import type { CanonicalRequest, Effort, Frozen, JsonObject, ReasoningOptions } from '../../../../core/types/request/canonical.ts'
import type { CodecContext } from '../../../../core/types/request/dialect.ts'
import { clampEffort, effortOfBudget } from '../../shared/effort.ts'

const LEVEL: Readonly<Record<Effort, string>> = {
  none: 'MINIMAL',
  minimal: 'MINIMAL',
  low: 'LOW',
  medium: 'MEDIUM',
  high: 'HIGH',
  xhigh: 'HIGH',
  max: 'HIGH',
}
const LEVEL_EFFORTS: readonly Effort[] = ['minimal', 'low', 'medium', 'high']
const BUDGET: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 512,
  low: 1024,
  medium: 8192,
  high: 24_576,
  xhigh: 32_768,
  max: 32_768,
}
/** The minimum for a model that cannot stop thinking, and the maximum with and without the efforts above `high`. */
const LEAST_BUDGET = 128
const SMALL_CEILING = 24_576
const LARGE_CEILING = 32_768

export function thinkingConfig(request: Frozen<CanonicalRequest>, codec: CodecContext): JsonObject | undefined {
  const reasoning = request.reasoning
  if (reasoning === undefined) return undefined
  const out: JsonObject = {}
  const include = includeThoughts(reasoning, request)
  if (include !== undefined) out.includeThoughts = include
  const control = codec.caps.thinkingControl ?? (request.source === 'generate_content' ? undefined : 'none')
  if (control === 'none') {
    if (wish(reasoning) !== undefined && wish(reasoning) !== 'none') codec.warn('dropped_reasoning')
    return undefined
  }
  if (control === undefined) Object.assign(out, asSent(reasoning))
  else if (control === 'level') addLevel(out, reasoning, codec)
  else addBudget(out, reasoning, request.source === 'generate_content' ? undefined : request.maxTokens, codec)
  return Object.keys(out).length === 0 ? undefined : out
}

function addLevel(out: JsonObject, reasoning: Frozen<ReasoningOptions>, codec: CodecContext): void {
  const effort = wish(reasoning)
  if (effort === undefined) return
  const clamped = clampEffort(effort, codec.caps.efforts ?? LEVEL_EFFORTS)
  if (clamped !== effort) codec.warn('reasoning_clamped')
  out.thinkingLevel = LEVEL[clamped] as string
}

/** `cap`: set when the caller does not know that thoughts count against it. A quarter of it is reserved for the answer. */
function addBudget(out: JsonObject, reasoning: Frozen<ReasoningOptions>, cap: number | undefined, codec: CodecContext): void {
  const budget = reasoning.mode === 'dynamic' && reasoning.effort === undefined ? -1 : budgetOf(reasoning)
  if (budget === undefined) return
  if (budget < 0) {
    out.thinkingBudget = -1
    return
  }
  const { efforts } = codec.caps
  const least = efforts === undefined || efforts.includes('none') ? 0 : LEAST_BUDGET
  const most = efforts === undefined || efforts.includes('xhigh') ? LARGE_CEILING : SMALL_CEILING
  const shared = cap === undefined ? most : Math.min(most, Math.trunc((cap * 3) / 4))
  const clamped = Math.max(Math.min(Math.trunc(budget), shared), least)
  if (clamped !== budget) codec.warn('reasoning_clamped')
  out.thinkingBudget = clamped
}

function budgetOf(reasoning: Frozen<ReasoningOptions>): number | undefined {
  if (reasoning.mode === 'disabled') return 0
  if (reasoning.budgetTokens !== undefined) return reasoning.budgetTokens
  return reasoning.effort === undefined ? undefined : BUDGET[reasoning.effort]
}

function wish(reasoning: Frozen<ReasoningOptions>): Effort | undefined {
  if (reasoning.mode === 'disabled') return 'none'
  if (reasoning.effort !== undefined) return reasoning.effort
  return reasoning.budgetTokens === undefined ? undefined : effortOfBudget(reasoning.budgetTokens)
}

/** For an unknown model and a caller of this dialect: sends the caller's values, but never both. */
function asSent(reasoning: Frozen<ReasoningOptions>): JsonObject {
  if (reasoning.budgetTokens !== undefined) return { thinkingBudget: reasoning.budgetTokens }
  if (reasoning.mode === 'disabled') return { thinkingBudget: 0 }
  if (reasoning.mode === 'dynamic') return { thinkingBudget: -1 }
  return reasoning.effort === undefined ? {} : { thinkingLevel: LEVEL[reasoning.effort] as string }
}

/** Thoughts are requested when the caller can show them. */
function includeThoughts(reasoning: Frozen<ReasoningOptions>, request: Frozen<CanonicalRequest>): boolean | undefined {
  if (reasoning.includeThoughts !== undefined) return reasoning.includeThoughts
  if (request.source === 'generate_content' || reasoning.summary === 'omitted' || wish(reasoning) === 'none') return undefined
  if (request.source === 'responses') return reasoning.summary === undefined ? undefined : true
  return true
}

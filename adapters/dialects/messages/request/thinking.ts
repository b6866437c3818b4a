// Encodes reasoning options as thinking and output_config.effort in the form that the model supports: a budget, adaptive effort, or
// neither. Values are clamped with a warning, never refused.
import type { CanonicalRequest, Effort, Frozen, JsonObject, ReasoningOptions } from '../../../../core/types/request/canonical.ts'
import type { CodecContext, ModelCaps } from '../../../../core/types/request/dialect.ts'
import { clampEffort, effortOfBudget } from '../../shared/effort.ts'
import { EFFORT_BUDGETS, LEAST_BUDGET } from '../../shared/thinking-budget.ts'
import { isThinking } from './encode-blocks.ts'
import type { WireMessage } from './encode-turns.ts'

export interface ThinkingPlan {
  thinking?: JsonObject
  effort?: Effort
  /** Replaces the turn's limit when that was the gateway's own and thinking would use all of it. */
  maxTokens?: number
}

export interface Turn {
  maxTokens: number
  /** True when the caller set the limit: it is not raised, and its own budget is not reduced. */
  capped: boolean
  /** True when the choice requires a tool call. */
  forced: boolean
  messages: readonly WireMessage[]
}

export function planThinking(request: Frozen<CanonicalRequest>, turn: Turn, codec: CodecContext): ThinkingPlan {
  const { reasoning } = request
  if (reasoning === undefined) return {}
  const own = request.source === 'messages'
  const wish = wishOf(reasoning, own)
  const effort = own ? ownEffort(reasoning, codec) : {}
  if (wish === 'unsaid') return effort
  const { thinking: modes } = codec.caps
  if (modes !== undefined && !modes.enabled && !modes.adaptive && !modes.betweenTools) {
    if (wish === 'on') codec.warn('dropped_reasoning')
    return {}
  }
  if (wish === 'off') return withoutThinking(reasoning, own, effort, codec)
  const style = styleOf(reasoning, modes)
  if (style === 'between_tools') return { ...effort, thinking: { type: style } }
  if (style === 'adaptive') return adaptive(request, reasoning, own, codec)
  return { ...effort, ...enabled(request, reasoning, own, turn, codec) }
}

export function isOn(plan: ThinkingPlan): boolean {
  return plan.thinking !== undefined && plan.thinking.type !== 'disabled'
}

const BUDGET: Readonly<Record<Effort, number>> = { ...EFFORT_BUDGETS, max: Number.POSITIVE_INFINITY }
/** With a smaller limit, a budget would leave no room for an answer. */
const LEAST_MAX_TOKENS = 2048
/** Reserved for the answer when the caller set no limit: `high` fills the default one. */
const ANSWER = 8000
const EFFORTS: readonly Effort[] = ['low', 'medium', 'high', 'xhigh', 'max']

type Wish = 'on' | 'off' | 'unsaid'

/** A caller of this dialect sets effort and thinking separately; for other callers effort means thinking. */
function wishOf(reasoning: Frozen<ReasoningOptions>, own: boolean): Wish {
  const { mode, effort, budgetTokens, includeThoughts } = reasoning
  if (mode === 'disabled' || effort === 'none' || budgetTokens === 0) return 'off'
  if (mode !== undefined) return 'on'
  if (own) return 'unsaid'
  return effort !== undefined || budgetTokens !== undefined || includeThoughts === true ? 'on' : 'unsaid'
}

function ownEffort({ effort }: Frozen<ReasoningOptions>, codec: CodecContext): ThinkingPlan {
  if (effort === undefined || effort === 'none') return {}
  if (codec.caps.efforts?.length !== 0) return { effort: supported(effort, codec) }
  codec.warn('dropped_reasoning')
  return {}
}

function withoutThinking(
  reasoning: Frozen<ReasoningOptions>,
  own: boolean,
  { effort }: ThinkingPlan,
  codec: CodecContext,
): ThinkingPlan {
  const { thinking: modes } = codec.caps
  if (modes?.disabled === false) {
    codec.warn('reasoning_clamped')
    return { effort: supported('low', codec) }
  }
  const explicit = modes?.disabled === true || (own && reasoning.mode === 'disabled')
  const thinking = explicit ? { thinking: { type: 'disabled' } } : {}
  // Newer models refuse more than `high` without thinking.
  if (effort !== 'xhigh' && effort !== 'max') return { ...thinking, ...(effort === undefined ? {} : { effort }) }
  codec.warn('reasoning_clamped')
  return { ...thinking, effort: 'high' }
}

function styleOf(reasoning: Frozen<ReasoningOptions>, modes: ModelCaps['thinking']): 'enabled' | 'adaptive' | 'between_tools' {
  const { mode, budgetTokens } = reasoning
  if (mode === 'between_tools' && (modes === undefined || modes.betweenTools)) return mode
  if (modes === undefined) return mode === 'adaptive' ? mode : 'enabled'
  if (!modes.adaptive) return 'enabled'
  if (!modes.enabled) return 'adaptive'
  return mode === 'enabled' || (mode !== 'adaptive' && budgetTokens !== undefined) ? 'enabled' : 'adaptive'
}

function adaptive(
  request: Frozen<CanonicalRequest>,
  reasoning: Frozen<ReasoningOptions>,
  own: boolean,
  codec: CodecContext,
): ThinkingPlan {
  const { budgetTokens } = reasoning
  const wanted = reasoning.effort ?? (budgetTokens === undefined || budgetTokens < 0 ? undefined : effortOfBudget(budgetTokens))
  const display = own
    ? ownDisplay(reasoning)
    : codec.caps.thinking?.enabled !== true && showsReasoning(request)
      ? 'summarized'
      : undefined
  return {
    thinking: { type: 'adaptive', ...(display === undefined ? {} : { display }) },
    ...(wanted === undefined ? {} : { effort: supported(wanted, codec) }),
  }
}

function enabled(
  request: Frozen<CanonicalRequest>,
  reasoning: Frozen<ReasoningOptions>,
  own: boolean,
  turn: Turn,
  codec: CodecContext,
): ThinkingPlan {
  if (turn.forced || !mayThink(turn.messages)) {
    codec.warn('dropped_reasoning')
    return {}
  }
  const counting = codec.operation === 'count_tokens'
  const { budgetTokens = -1 } = reasoning
  const asNative = own && budgetTokens >= LEAST_BUDGET && budgetTokens < turn.maxTokens
  if (!counting && !asNative && turn.maxTokens < LEAST_MAX_TOKENS) {
    codec.warn('reasoning_clamped')
    return {}
  }
  const wanted = budgetTokens > 0 ? budgetTokens : BUDGET[reasoning.effort ?? 'medium']
  const ceiling = turn.capped ? turn.maxTokens : (codec.caps.maxOutput ?? turn.maxTokens)
  // A quarter is reserved for the answer. A caller of this dialect that set its own limit and budget gets them unchanged.
  const quarter = asNative ? 1 : Math.ceil(ceiling / 4)
  const answer = turn.capped ? quarter : Math.min(ANSWER, Math.trunc(ceiling / 2))
  const most = counting ? Math.max(wanted, LEAST_BUDGET) : Math.min(turn.maxTokens - 1, ceiling - Math.max(quarter, answer))
  const budget = Math.trunc(Math.min(Math.max(wanted, LEAST_BUDGET), Number.isFinite(most) ? most : BUDGET.xhigh))
  if (budget !== wanted && Number.isFinite(wanted)) codec.warn('reasoning_clamped')
  const display = own && request.reasoning?.summary === 'omitted' ? 'omitted' : undefined
  return {
    thinking: { type: 'enabled', budget_tokens: budget, ...(display === undefined ? {} : { display }) },
    ...(turn.capped ? {} : { maxTokens: Math.max(turn.maxTokens, budget + answer, Math.ceil((budget * 4) / 3)) }),
  }
}

/** When thinking is shown by default, `omitted` must be requested; when it is hidden by default, `summarized`. */
function ownDisplay(reasoning: Frozen<ReasoningOptions>): string | undefined {
  if (reasoning.summary === 'omitted') return 'omitted'
  return reasoning.summary !== undefined || reasoning.mode === 'enabled' ? 'summarized' : undefined
}

function showsReasoning({ source, reasoning }: Frozen<CanonicalRequest>): boolean {
  if (source === 'generate_content') return reasoning?.includeThoughts === true
  if (source === 'responses') return reasoning?.summary !== undefined && reasoning.summary !== 'omitted'
  return true
}

/** With budgets, an open tool turn must begin with signed thinking, and a prefill is not allowed. */
function mayThink(messages: readonly WireMessage[]): boolean {
  const last = messages.at(-1)
  if (last?.role === 'assistant') return false
  if (last?.role !== 'user' || !last.content.some((block) => block.type === 'tool_result')) return true
  const first = messages.at(-2)?.content[0]
  return first === undefined || isThinking(first)
}

function supported(wish: Effort, codec: CodecContext): Effort {
  const { efforts } = codec.caps
  const clamped = clampEffort(wish, efforts === undefined || efforts.length === 0 ? EFFORTS : efforts)
  if (clamped !== wish && wish !== 'minimal') codec.warn('reasoning_clamped')
  return clamped
}

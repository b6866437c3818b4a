// Encodes reasoning options as additional fields of the model: Claude's thinking, or the effort of models that take one.
import type { CanonicalRequest, Effort, Frozen, JsonObject } from '../../../../core/types/request/canonical.ts'
import type { CodecContext } from '../../../../core/types/request/dialect.ts'
import { clampEffort, effortOfBudget } from '../../shared/effort.ts'
import { EFFORT_BUDGETS, LEAST_BUDGET } from '../../shared/thinking-budget.ts'
import type { WireMessage } from './turns.ts'

export interface ThinkingPlan {
  readonly fields: JsonObject
  readonly on: boolean
}

const NONE: ThinkingPlan = { fields: {}, on: false }
const BUDGET: Readonly<Record<Effort, number>> = { ...EFFORT_BUDGETS, max: 32_000 }
const EFFORTS: readonly Effort[] = ['low', 'medium', 'high', 'xhigh', 'max']

export function planThinking(
  { reasoning }: Frozen<CanonicalRequest>,
  maxTokens: number,
  forced: boolean,
  messages: readonly WireMessage[],
  codec: CodecContext,
): ThinkingPlan {
  if (reasoning === undefined) return NONE
  const { mode, effort, budgetTokens, includeThoughts } = reasoning
  if (mode === 'disabled' || effort === 'none' || budgetTokens === 0) return NONE
  if (mode === undefined && effort === undefined && budgetTokens === undefined && includeThoughts !== true) return NONE
  const wish = effort ?? (budgetTokens === undefined || budgetTokens < 0 ? 'medium' : effortOfBudget(budgetTokens))
  const { thinking, family } = codec.caps
  if (family !== 'claude') return byEffort(wish, codec)
  if (thinking !== undefined && !thinking.enabled && !thinking.adaptive) return dropped(codec)
  if (thinking?.adaptive && (!thinking.enabled || budgetTokens === undefined)) {
    const efforts = codec.caps.efforts?.length ? codec.caps.efforts : EFFORTS
    return { fields: { thinking: { type: 'adaptive' }, output_config: { effort: clampEffort(wish, efforts) } }, on: true }
  }
  const budget = Math.min(Math.max(budgetTokens ?? BUDGET[wish], LEAST_BUDGET), Math.trunc((maxTokens * 3) / 4))
  if (forced || budget < LEAST_BUDGET || !mayThink(messages)) return dropped(codec)
  if (budgetTokens !== undefined && budget !== budgetTokens) codec.warn('reasoning_clamped')
  return { fields: { thinking: { type: 'enabled', budget_tokens: budget } }, on: true }
}

function byEffort(wish: Effort, codec: CodecContext): ThinkingPlan {
  if (!/gpt-oss/.test(codec.model)) return dropped(codec)
  return { fields: { reasoning_effort: clampEffort(wish, ['low', 'medium', 'high']) }, on: false }
}

function dropped(codec: CodecContext): ThinkingPlan {
  codec.warn('dropped_reasoning')
  return NONE
}

/** With a budget, an open tool turn must begin with signed thinking, and a prefill is not allowed. */
function mayThink(messages: readonly WireMessage[]): boolean {
  const last = messages.at(-1)
  if (last?.role === 'assistant') return false
  if (!last?.content.some((block) => 'toolResult' in block)) return true
  const first = messages.at(-2)?.content[0]
  return first === undefined || 'reasoningContent' in first
}

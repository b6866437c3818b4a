// Reasoning effort and thinking budgets. Clamp, never refuse.
import type { Effort } from '../../../core/types/canonical.ts'

const ORDER: readonly Effort[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

/** The effort a token budget stands for. */
export function effortOfBudget(tokens: number): Effort {
  if (tokens <= 0) return 'none'
  if (tokens <= 1024) return 'minimal'
  if (tokens <= 4096) return 'low'
  if (tokens <= 12_000) return 'medium'
  if (tokens <= 28_000) return 'high'
  return 'xhigh'
}

/** The nearest effort the model has: the wish itself, else the next lower, else the lowest above it. */
export function clampEffort(wish: Effort, supported: readonly Effort[] | undefined): Effort {
  if (supported === undefined || supported.length === 0 || supported.includes(wish)) return wish
  const at = ORDER.indexOf(wish)
  for (let i = at; i >= 0; i--) if (supported.includes(ORDER[i] as Effort)) return ORDER[i] as Effort
  for (let i = at; i < ORDER.length; i++) if (supported.includes(ORDER[i] as Effort)) return ORDER[i] as Effort
  return wish
}

// Converts reasoning effort and thinking budgets. Values are clamped, never refused.
import type { Effort } from '../../../core/types/request/canonical.ts'

const ORDER: readonly Effort[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

/** Returns the effort that corresponds to a token budget. */
export function effortOfBudget(tokens: number): Effort {
  if (tokens <= 0) return 'none'
  if (tokens <= 1024) return 'minimal'
  if (tokens <= 4096) return 'low'
  if (tokens <= 12_000) return 'medium'
  if (tokens <= 28_000) return 'high'
  return 'xhigh'
}

/** Returns the nearest supported effort: the requested one, otherwise the next lower one, otherwise the lowest above it. */
export function clampEffort(wish: Effort, supported: readonly Effort[] | undefined): Effort {
  if (supported === undefined || supported.length === 0 || supported.includes(wish)) return wish
  const at = ORDER.indexOf(wish)
  for (let i = at; i >= 0; i--) if (supported.includes(ORDER[i] as Effort)) return ORDER[i] as Effort
  for (let i = at; i < ORDER.length; i++) if (supported.includes(ORDER[i] as Effort)) return ORDER[i] as Effort
  return wish
}

// Defines the columns of a report, in order.
import type { UsageGroup, UsageSum } from '../ledger.ts'

export interface Column {
  readonly name: string
  readonly kind: 'text' | 'count' | 'usd'
  /** Returns the value of a column; money in nano-USD. */
  readonly value: (sum: UsageSum) => string | number | null
}

const FIGURES: readonly Column[] = [
  { name: 'requests', kind: 'count', value: (sum) => sum.requests },
  { name: 'errors', kind: 'count', value: (sum) => sum.errors },
  { name: 'prompt_tokens', kind: 'count', value: (sum) => sum.tokens.input },
  { name: 'completion_tokens', kind: 'count', value: (sum) => sum.tokens.output },
  { name: 'cache_read_tokens', kind: 'count', value: (sum) => sum.tokens.cacheRead },
  { name: 'cache_write_tokens', kind: 'count', value: (sum) => sum.tokens.cacheWrite },
  { name: 'reasoning_tokens', kind: 'count', value: (sum) => sum.tokens.reasoning },
  { name: 'total_tokens', kind: 'count', value: (sum) => sum.tokens.input + sum.tokens.output },
  { name: 'cost_usd', kind: 'usd', value: (sum) => sum.costNano },
  { name: 'charge_usd', kind: 'usd', value: (sum) => sum.chargeNano },
  { name: 'usd_saved', kind: 'usd', value: (sum) => sum.savedNano },
  { name: 'media_units', kind: 'count', value: (sum) => sum.mediaUnits },
  // After the documented columns, so that readers by position still work.
  { name: 'estimated_tokens', kind: 'count', value: (sum) => sum.estimated.tokens },
  { name: 'estimated_cost_usd', kind: 'usd', value: (sum) => sum.estimated.costNano },
  { name: 'estimated_charge_usd', kind: 'usd', value: (sum) => sum.estimated.chargeNano },
  { name: 'interrupted_requests', kind: 'count', value: (sum) => sum.interrupted },
]

export function columnsOf(by: readonly UsageGroup[]): readonly Column[] {
  const groups = by.map((name, index): Column => ({ name, kind: 'text', value: (sum) => sum.group[index] ?? null }))
  return [...groups, ...FIGURES]
}

/** Returns for example `12.000000001`: every nano, without an exponent. */
export function usdText(nano: number): string {
  const digits = String(Math.abs(nano)).padStart(10, '0')
  const fraction = digits.slice(-9).replace(/0+$/, '')
  return `${nano < 0 ? '-' : ''}${digits.slice(0, -9)}${fraction === '' ? '' : `.${fraction}`}`
}

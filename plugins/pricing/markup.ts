// The price that a tenant pays: the cost, or the cost with a markup where the gateway's own organization served another one.
import type { Billable } from '../../core/services.ts'

/** Decimals of a percentage that count. */
const SCALE = 10_000
const WHOLE = BigInt(100 * SCALE)

export interface MarkupRules {
  /** Percent. */
  readonly pct: number
  /** Percent by organization id; it overrides `pct`. */
  readonly byOrg: Readonly<Record<string, number>>
}

/** Returns nano-USD: `costNano` × (1 + pct / 100), rounded up once. @param pct 0 and more; four decimals count. */
export function withMarkup(costNano: number, pct: number): number {
  const added = Math.round(pct * SCALE)
  // Exact and without big integers: the most common case is no markup at all.
  if (added === 0 || costNano === 0) return costNano
  const charge = (BigInt(costNano) * (WHOLE + BigInt(added)) + WHOLE - 1n) / WHOLE
  return charge > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(charge)
}

/** Returns nano-USD. @param owner the organization that the connection belongs to. */
export function chargeOf(
  costNano: number,
  owner: number | null,
  { orgId = null, shared }: Pick<Billable, 'orgId' | 'shared'>,
  rules: MarkupRules,
): number {
  if (shared?.free === true) return 0
  if (owner !== null || orgId === null) return costNano
  return withMarkup(costNano, Object.hasOwn(rules.byOrg, orgId) ? (rules.byOrg[orgId] as number) : rules.pct)
}

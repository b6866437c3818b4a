// Estimates a call's cost and orders targets by it. An unknown price never counts as zero.

interface Prices {
  readonly input?: number
  readonly output?: number
  readonly tiers?: readonly { readonly above: number; readonly input?: number; readonly output?: number }[]
}

export interface CostFacts {
  readonly maxOutputTokens?: number
  /** Nano-USD per 1M tokens. */
  readonly price?: Prices
}

const OUTPUT_GUESS = 1024

/** Returns nano-USD; discounts for cached prompts are ignored. null: unknown. */
export function estimatedCost(facts: CostFacts, inputTokens: number, maxTokens: number | null): number | null {
  const { price, maxOutputTokens = OUTPUT_GUESS } = facts
  if (price === undefined) return null
  const tier = price.tiers?.findLast(({ above }) => inputTokens > above) ?? price
  if (tier.input === undefined || tier.output === undefined) return null
  const outputTokens = maxTokens ?? Math.min(OUTPUT_GUESS, maxOutputTokens)
  return (inputTokens * tier.input + outputTokens * tier.output) / 1e6
}

/** Returns input and output price together; null: unknown. */
export function listedPrice({ price }: CostFacts): number | null {
  return price?.input === undefined || price.output === undefined ? null : price.input + price.output
}

/** Sorts ascending, unknown ones last; equal ones by quality, those without one last, and then in the listed order. */
export function ascending<T>(
  list: readonly T[],
  amountOf: (one: T) => number | null,
  qualityOf: (one: T) => number | null = () => null,
): T[] {
  return list
    .map((one) => ({ one, amount: amountOf(one) ?? Number.POSITIVE_INFINITY }))
    .sort((a, b) => (a.amount === b.amount ? byQuality(qualityOf(a.one), qualityOf(b.one)) : a.amount - b.amount))
    .map(({ one }) => one)
}

/** Compares two qualities for a sort: the better one first, null last. */
export function byQuality(a: number | null, b: number | null): number {
  return a === b ? 0 : (b ?? -1) - (a ?? -1)
}

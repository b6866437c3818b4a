// Token counts come from an upstream and may be wrong. An impossible count is treated as missing, so that it is estimated instead of
// booked.

/** A hundred times the largest context window there is. Sums of what is above would not stay exact for long. */
const MOST = 1_000_000_000

/** A whole number; a part of a token is billed as one. */
export function tokenCount(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 && value <= MOST ? Math.ceil(value) : undefined
}

/** As `tokenCount` gives it. */
export function isTokenCount(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= MOST
}

// Token counts come from an upstream and may be wrong. An impossible count is treated as missing, so that it is estimated instead of
// booked.

/** A hundred times the largest existing context window. Sums of larger numbers would soon lose precision. */
const MOST = 1_000_000_000

/** Returns a whole number; a fraction of a token is billed as one token. */
export function tokenCount(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 && value <= MOST ? Math.ceil(value) : undefined
}

/** Returns whether `tokenCount` would accept the value unchanged. */
export function isTokenCount(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= MOST
}

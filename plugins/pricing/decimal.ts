// Converts decimals of rate cards to integers: digits are shifted, never multiplied as floating point.

const DECIMAL = /^([+-]?)(\d{0,40})(?:\.(\d{0,40}))?(?:[eE]([+-]?\d{1,3}))?$/
/** Far above any price; a larger number is not a price. */
const MAX_SHIFT = 60

/** Returns `value × 10^shift`, rounded half up; null: not a decimal number, or too large for a price. */
export function shifted(value: number | string, shift: number): bigint | null {
  const [, sign, whole = '', fraction = '', exponent = '0'] = DECIMAL.exec(String(value).trim()) ?? []
  if (sign === undefined || whole + fraction === '') return null
  const digits = BigInt(whole + fraction)
  const by = Number(exponent) - fraction.length + shift
  if (by > MAX_SHIFT) return digits === 0n ? 0n : null
  const found = by >= 0 ? digits * 10n ** BigInt(by) : rounded(digits, 10n ** BigInt(-by))
  return sign === '-' ? -found : found
}

function rounded(digits: bigint, divisor: bigint): bigint {
  return (digits * 2n + divisor) / (divisor * 2n)
}

/** Returns whether a price changed by more than `pct` percent; exactly `pct` is not more. */
export function movedBeyond(before: number, after: number, pct: number): boolean {
  const scale = 9
  const limit = shifted(pct, scale) ?? 0n
  const moved = BigInt(Math.abs(after - before)) * 100n * 10n ** BigInt(scale)
  return moved > limit * BigInt(before)
}

/** Returns a percentage with four decimals, for people. */
export function percentMoved(before: number, after: number): number {
  return Number((BigInt(Math.abs(after - before)) * 1_000_000n) / BigInt(before)) / 10_000
}

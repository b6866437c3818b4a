// Computes the cost of billed units other than tokens: images, characters, pages, queries.
import type { MediaUnits } from '../../core/types/request/answer.ts'
import type { MediaPrices } from './service.ts'

const PER = 1_000_000n

/** Returns nano-USD, rounded up once; null when no unit of the call has a price. */
export function mediaCost(prices: MediaPrices, units: MediaUnits): number | null {
  const { perImage, perCharacter, perSecond, perPage, perQuery } = prices
  const billed: readonly (readonly [count: number | undefined, price: number | undefined])[] = [
    [units.images, perImage],
    [units.characters, perCharacter],
    // The seconds of speech are estimated: a price for its characters is exact.
    [perCharacter === undefined || units.characters === undefined ? units.seconds : undefined, perSecond],
    [units.pages, perPage],
    [units.queries, perQuery],
  ]
  let sum = 0n
  let priced = false
  for (const [count, price] of billed) {
    if (count === undefined || price === undefined) continue
    priced = true
    sum += BigInt(whole(count)) * BigInt(whole(price))
  }
  if (!priced) return null
  const nano = (sum + PER - 1n) / PER
  return nano > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(nano)
}

/** Counts come from an upstream and may be any number. */
function whole(count: number): number {
  return count > 0 && count <= Number.MAX_SAFE_INTEGER ? Math.ceil(count) : 0
}

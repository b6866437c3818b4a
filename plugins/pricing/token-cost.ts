// Computes the exact token cost of one call, rounded up once. It runs for every request, so it uses numbers while these are exact: up to
// 2^53 nano-USD for 1M tokens.

import type { ModelPrice, ServiceTier, TieredPrices, TokenPrices } from '../../core/types/ports/prices.ts'
import type { Usage } from '../../core/types/request/answer.ts'
import type { PriceList } from './cards/price-names.ts'
import type { MediaPrices, MediaWish } from './service.ts'

const PER = 1_000_000

/** Returns nano-USD. Totals of `usage` are inclusive; a kind without its own price has the price of the kind that contains it. */
export function tokenCost(price: ModelPrice, usage: Usage): number {
  const prices = pricesFor(price, usage)
  const input = prices.input ?? 0
  const output = prices.output ?? 0
  const cacheWritePrice = prices.cacheWrite ?? input

  const inputTotal = whole(usage.inputTotal)
  const cacheRead = Math.min(whole(usage.cacheRead), inputTotal)
  const cacheWrite = Math.min(whole(usage.cacheWrite), inputTotal - cacheRead)
  const longWrite = Math.min(whole(usage.cacheWrite1h), cacheWrite)
  const fresh = inputTotal - cacheRead - cacheWrite
  const audioIn = prices.inputAudio === undefined ? 0 : Math.min(whole(usage.inputAudio), fresh)
  const imageIn = prices.inputImage === undefined ? 0 : Math.min(whole(usage.inputImage), fresh - audioIn)

  const outputTotal = whole(usage.outputTotal)
  const reasoning = prices.reasoning === undefined ? 0 : Math.min(whole(usage.reasoning), outputTotal)
  const audioOut = prices.outputAudio === undefined ? 0 : Math.min(whole(usage.outputAudio), outputTotal - reasoning)
  const searches = price.webSearch === undefined ? 0 : searchesOf(usage)

  const sum =
    (fresh - audioIn - imageIn) * input +
    cacheRead * (prices.cacheRead ?? input) +
    (cacheWrite - longWrite) * cacheWritePrice +
    (outputTotal - reasoning - audioOut) * output +
    (longWrite === 0 ? 0 : longWrite * (prices.cacheWrite1h ?? cacheWritePrice)) +
    (audioIn === 0 ? 0 : audioIn * (prices.inputAudio ?? 0)) +
    (imageIn === 0 ? 0 : imageIn * (prices.inputImage ?? 0)) +
    (reasoning === 0 ? 0 : reasoning * (prices.reasoning ?? 0)) +
    (audioOut === 0 ? 0 : audioOut * (prices.outputAudio ?? 0)) +
    (searches === 0 ? 0 : searches * (price.webSearch ?? 0))
  if (sum <= Number.MAX_SAFE_INTEGER) return roundedUp(sum)
  return exactCost([
    [fresh - audioIn - imageIn, input],
    [cacheRead, prices.cacheRead ?? input],
    [cacheWrite - longWrite, cacheWritePrice],
    [longWrite, prices.cacheWrite1h ?? cacheWritePrice],
    [audioIn, prices.inputAudio ?? 0],
    [imageIn, prices.inputImage ?? 0],
    [outputTotal - reasoning - audioOut, output],
    [reasoning, prices.reasoning ?? 0],
    [audioOut, prices.outputAudio ?? 0],
    [searches, price.webSearch ?? 0],
  ])
}

/** Tiers apply to the whole call, by the tokens of its prompt. */
function pricesFor(price: ModelPrice, usage: Usage): TokenPrices {
  const served = price.services === undefined ? undefined : servedPrices(price.services, usage)
  if (served === undefined && price.tiers === undefined) return price
  const prompt = usage.inputTotal
  const tier = price.tiers?.findLast(({ above }) => prompt > above)
  if (tier === undefined && served === undefined) return price
  const servedTier = served?.tiers?.findLast(({ above }) => prompt > above)
  return { ...price, ...tier, ...served, ...servedTier }
}

/** Returns the prices of the service tier, when the usage names it. */
function servedPrices(services: NonNullable<ModelPrice['services']>, { raw }: Usage): TieredPrices | undefined {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return undefined
  const name = raw.service_tier
  return typeof name === 'string' && Object.hasOwn(services, name) ? services[name as ServiceTier] : undefined
}

function searchesOf({ serverTools }: Usage): number {
  let searches = 0
  for (const name in serverTools) if (name.includes('web_search')) searches += whole(serverTools[name])
  return searches
}

/** Counters come from an upstream and may be any number. */
function whole(count: number | undefined): number {
  return count !== undefined && count > 0 && count <= Number.MAX_SAFE_INTEGER ? Math.ceil(count) : 0
}

/** Rounds an integer quotient up; a floating-point quotient would lose the last nano. */
function roundedUp(sum: number): number {
  const rest = sum % PER
  return (sum - rest) / PER + (rest > 0 ? 1 : 0)
}

function exactCost(products: readonly (readonly [number, number])[]): number {
  let sum = 0n
  for (const [tokens, price] of products) sum += BigInt(tokens) * BigInt(price)
  const nano = (sum + BigInt(PER - 1)) / BigInt(PER)
  return nano > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(nano)
}

// Media prices of a model. The first match wins: by quality and size, by size, by quality, per image, by pixels.
const SIZE = /^(\d{1,5})\s*(?:x|-x-)\s*(\d{1,5})$/
const USUAL_SIZE = '1024x1024'
const USUAL_QUALITIES = ['standard', 'medium', 'auto']

export function mediaPrices(list: PriceList, wish: MediaWish = {}): MediaPrices {
  const perImage = imagePrice(list, wish)
  return {
    ...(perImage === undefined ? {} : { perImage }),
    ...only(list, 'per_second', 'perSecond'),
    ...only(list, 'per_character', 'perCharacter'),
    ...only(list, 'per_query', 'perQuery'),
    ...only(list, 'per_page', 'perPage'),
  }
}

function only(list: PriceList, name: string, as: keyof MediaPrices): MediaPrices {
  const nano = list[name]
  return nano === undefined ? {} : { [as]: nano }
}

function imagePrice(list: PriceList, wish: MediaWish): number | undefined {
  const [, width, height] = SIZE.exec((wish.size ?? USUAL_SIZE).toLowerCase()) ?? SIZE.exec(USUAL_SIZE) ?? []
  const size = `${width}x${height}`
  const quality = wish.quality?.toLowerCase()
  const qualities = quality === undefined ? USUAL_QUALITIES : [quality]
  const variants = [
    ...(quality === undefined ? [] : [`${quality}/${size}`]),
    size,
    ...qualities.map((one) => `${one}/${size}`),
    ...qualities,
  ]
  for (const variant of variants) if (list[`per_image:${variant}`] !== undefined) return list[`per_image:${variant}`]
  if (list.per_image !== undefined) return list.per_image
  const pixel = list[`per_pixel:${size}`] ?? list.per_pixel
  const nano = pixel === undefined ? undefined : pixel * Number(width) * Number(height)
  return nano !== undefined && Number.isSafeInteger(nano) ? nano : undefined
}

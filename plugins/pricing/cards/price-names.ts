// Names of prices. A model's prices are flat, in nano-USD per 1M units: `input`, `input_above_200000`, `input_batch`, `per_image`,
// `per_image:hd/1024x1024`. So each is compared, merged and stored by itself.
import type { ModelPrice, ServiceTier, TieredPrices, TokenPrices } from '../../../core/types/ports/prices.ts'
import { shifted } from '../decimal.ts'

/** Nano-USD per 1M units, by name. */
export type PriceList = Readonly<Record<string, number>>

export const TOKEN_KINDS = {
  input: 'input',
  output: 'output',
  cache_read: 'cacheRead',
  cache_write: 'cacheWrite',
  cache_write_1h: 'cacheWrite1h',
  reasoning: 'reasoning',
  input_audio: 'inputAudio',
  output_audio: 'outputAudio',
  input_image: 'inputImage',
  output_image: 'outputImage',
} as const satisfies Record<string, keyof TokenPrices>
type TokenKind = keyof typeof TOKEN_KINDS

const SERVICE_TIERS = ['batch', 'priority', 'flex'] as const satisfies readonly ServiceTier[]

/** Returns USD for 1M tokens, or for one unit of any other kind. */
export function usdOf(name: string, nano: number): number {
  return isUnit(name) ? nano / 1e15 : nano / 1e9
}

export function isUnit(name: string): boolean {
  return name.startsWith('per_')
}

/** 10,000 USD for 1M tokens: a higher price is an error of the source. Prices of other units are limited by the integer range: 9 USD. */
const MAX_TOKEN_PRICE = 10_000n * 1_000_000_000n
const MAX_UNIT_PRICE = BigInt(Number.MAX_SAFE_INTEGER)

/**
 * Returns a source's price, `value × 10^shift` nano-USD per 1M units. null: unknown, which is also the meaning of zero; `refused`: an
 * impossible price.
 */
export function sourcePrice(name: string, value: unknown, shift: number): number | null | 'refused' {
  if (typeof value !== 'number' && typeof value !== 'string') return null
  const nano = shifted(value, shift)
  if (nano === null) return typeof value === 'number' ? 'refused' : null
  if (nano === 0n) return null
  return nano < 0n || nano > (isUnit(name) ? MAX_UNIT_PRICE : MAX_TOKEN_PRICE) ? 'refused' : Number(nano)
}

/** Returns true when an override of the price `given` also removes this one: its tier, service or size. */
export function isVariantOf(name: string, given: string): boolean {
  if (name === given || name.startsWith(`${given}_above_`) || name.startsWith(`${given}:`)) return true
  return (
    SERVICE_TIERS.some((service) => name === `${given}_${service}`) || (given === 'per_image' && name.startsWith('per_pixel'))
  )
}

const TOKEN_NAME = /^([a-z]+(?:_[a-z]+)?(?:_1h)?)(?:_above_(\d{1,9}))?$/

interface TokenName {
  kind: TokenKind
  above: number | null
  service: ServiceTier | null
}

function tokenName(name: string): TokenName | null {
  const service = SERVICE_TIERS.find((tier) => name.endsWith(`_${tier}`)) ?? null
  const bare = service === null ? name : name.slice(0, -service.length - 1)
  const [, kind, above] = TOKEN_NAME.exec(bare) ?? []
  if (kind === undefined || !Object.hasOwn(TOKEN_KINDS, kind)) return null
  return { kind: kind as TokenKind, above: above === undefined ? null : Number(above), service }
}

/** Returns token prices in the form for calculations; null when there are none. */
export function modelPrice(list: PriceList): ModelPrice | null {
  const price: ModelPrice = {}
  const services: Partial<Record<ServiceTier, TieredPrices>> = {}
  for (const [name, nano] of Object.entries(list)) {
    if (name === 'per_web_search') price.webSearch = nano
    const token = tokenName(name)
    if (token === null) continue
    const prices = token.service === null ? price : (services[token.service] ?? {})
    if (token.service !== null) services[token.service] = prices
    setPrice(prices, token, nano)
  }
  if (Object.keys(services).length > 0) price.services = services
  return Object.keys(price).length === 0 ? null : price
}

function setPrice(prices: TieredPrices, { kind, above }: TokenName, nano: number): void {
  if (above === null) {
    prices[TOKEN_KINDS[kind]] = nano
    return
  }
  const others = (prices.tiers ?? []).filter((tier) => tier.above !== above)
  const tier = { ...prices.tiers?.find((one) => one.above === above), above, [TOKEN_KINDS[kind]]: nano }
  prices.tiers = [...others, tier].sort((a, b) => a.above - b.above)
}

/** The inverse, for a price that is not from a card. */
export function priceList(price: ModelPrice): PriceList {
  const list: Record<string, number> = {}
  const add = (prices: TokenPrices, suffix: string) => {
    for (const [name, kind] of Object.entries(TOKEN_KINDS)) {
      const nano = prices[kind]
      if (nano !== undefined) list[`${name}${suffix}`] = nano
    }
  }
  add(price, '')
  for (const tier of price.tiers ?? []) add(tier, `_above_${tier.above}`)
  if (price.webSearch !== undefined) list.per_web_search = price.webSearch
  return list
}

// The built-in rate card: @pydantic/genai-prices (MIT), a community collection of vendors' prices with context windows. It makes no
// network calls.
import type { ModelPrice, TokenPrices } from '../../core/types/ports/prices.ts'

export interface RateCardEntry {
  contextWindow: number | null
  price: ModelPrice | null
}

export interface RateCard {
  /** Returns ids of the provider's models that are not retired; an empty list when the card's ids differ from the API's. */
  models(provider: string): readonly string[]
  /** @param at epoch ms: prices have a first day, some an hour. */
  entry(provider: string, model: string, at: number): RateCardEntry | null
}

/** Our provider id → the card's id, and whether the card spells models as the provider's API does. */
const PROVIDERS: ReadonlyMap<string, { id: string; lists: boolean }> = new Map(
  Object.entries({
    anthropic: { id: 'anthropic', lists: true },
    azure: { id: 'azure', lists: false },
    bedrock: { id: 'aws', lists: false },
    cerebras: { id: 'cerebras', lists: true },
    cloudflare: { id: 'cloudflare', lists: true },
    cohere: { id: 'cohere', lists: false },
    deepseek: { id: 'deepseek', lists: true },
    fireworks: { id: 'fireworks', lists: false },
    google: { id: 'google', lists: true },
    groq: { id: 'groq', lists: true },
    minimax: { id: 'minimax', lists: true },
    mistral: { id: 'mistral', lists: true },
    moonshot: { id: 'moonshotai', lists: true },
    novita: { id: 'novita', lists: false },
    openai: { id: 'openai', lists: true },
    openrouter: { id: 'openrouter', lists: true },
    perplexity: { id: 'perplexity', lists: true },
    together: { id: 'together', lists: false },
    vertex: { id: 'google', lists: false },
    xai: { id: 'x-ai', lists: true },
    zai: { id: 'zai', lists: true },
  }),
)

const KINDS: Readonly<Record<string, keyof TokenPrices>> = {
  input_mtok: 'input',
  output_mtok: 'output',
  cache_read_mtok: 'cacheRead',
  cache_write_mtok: 'cacheWrite',
  cache_write_1h_mtok: 'cacheWrite1h',
  output_reasoning_mtok: 'reasoning',
  input_audio_mtok: 'inputAudio',
  output_audio_mtok: 'outputAudio',
  input_image_mtok: 'inputImage',
  output_image_mtok: 'outputImage',
}

type CardPrice = number | { base: number; tiers: readonly { start: number; price: number }[] } | undefined

/** Half a megabyte of data, read when a gateway uses this plugin, not when the module is imported. */
export async function rateCard(): Promise<RateCard> {
  const { calcPrice, findProvider } = await import('@pydantic/genai-prices')
  return {
    models(provider) {
      const known = PROVIDERS.get(provider)
      if (!known?.lists) return []
      const models = findProvider({ providerId: known.id })?.models ?? []
      return models.filter(({ deprecated }) => !deprecated).map(({ id }) => id)
    },
    entry(provider, model, at) {
      const known = PROVIDERS.get(provider)
      const found = known && calcPrice({}, model, { providerId: known.id, timestamp: new Date(at) })
      if (!found) return null
      return { contextWindow: found.model.context_window ?? null, price: priceOf(found.model_price) }
    },
  }
}

function priceOf(card: Readonly<Record<string, CardPrice>>): ModelPrice | null {
  const at = (above: number): TokenPrices => {
    const prices: TokenPrices = {}
    for (const [name, kind] of Object.entries(KINDS)) {
      const usd = priceAbove(card[name], above)
      // A card uses zero for an unknown price.
      if (usd > 0) prices[kind] = Math.round(usd * 1e9)
    }
    return prices
  }
  const base = at(0)
  if (Object.keys(base).length === 0) return null
  const starts = Object.values(card).flatMap((price) => (typeof price === 'object' ? price.tiers.map(({ start }) => start) : []))
  const tiers = [...new Set(starts)].sort((a, b) => a - b).map((above) => ({ above, ...at(above) }))
  return tiers.length === 0 ? base : { ...base, tiers }
}

function priceAbove(price: CardPrice, above: number): number {
  if (typeof price !== 'object') return price ?? 0
  return price.tiers.findLast(({ start }) => above > 0 && start <= above)?.price ?? price.base
}

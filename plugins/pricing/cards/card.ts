// A rate card of one source: models by our provider ids.
import type { CAPABILITIES, MODES } from '../../../core/models/model-words.ts'
import { sourcePrice } from './price-names.ts'

export type CardMode = (typeof MODES)[number]
export type CardCapability = (typeof CAPABILITIES)[number]

export interface CardModel {
  /** In the source's spelling, without the provider. */
  id: string
  /** Nano-USD per 1M units, by name. */
  prices: Record<string, number>
  contextWindow?: number
  maxOutputTokens?: number
  mode?: CardMode
  capabilities?: Partial<Record<CardCapability, boolean>>
}

/** By provider id and lower-case model id. */
export type Card = ReadonlyMap<string, ReadonlyMap<string, CardModel>>

export interface ParsedCard {
  readonly card: Card
  /** Number of models with a price. */
  readonly priced: number
  /** Number of impossible prices: negative, or far too high. */
  readonly refused: number
}

const MAX_MODELS = 50_000
const MAX_ID = 256

export class CardBuilder {
  readonly #card = new Map<string, Map<string, CardModel>>()
  #models = 0
  #refused = 0

  /** Returns the model, created on first use; null for an invalid id. @throws Error for a card that is too large. */
  model(provider: string, id: string): CardModel | null {
    if (provider === '' || id === '' || provider.length > 64 || id.length > MAX_ID) return null
    const models = this.#card.get(provider) ?? new Map<string, CardModel>()
    this.#card.set(provider, models)
    const known = models.get(id.toLowerCase())
    if (known !== undefined) return known
    if (++this.#models > MAX_MODELS) throw new Error(`The rate card has more than ${MAX_MODELS} models.`)
    const made: CardModel = { id, prices: {} }
    models.set(id.toLowerCase(), made)
    return made
  }

  /** Adds the price `value × 10^shift`, in nano-USD per 1M units. */
  price(model: CardModel, name: string, value: unknown, shift: number): void {
    const nano = sourcePrice(name, value, shift)
    if (nano === 'refused') this.#refused++
    else if (nano !== null) model.prices[name] = nano
  }

  done(): ParsedCard {
    const all = [...this.#card.values()].flatMap((models) => [...models.values()])
    const priced = all.filter(({ prices }) => Object.keys(prices).length > 0).length
    return { card: this.#card, priced, refused: this.#refused }
  }
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function tokenCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : undefined
}

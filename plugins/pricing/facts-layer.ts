// Adds model facts from rate cards: their prices override all others, other facts only fill gaps.
import type { ModelPrice } from '../../core/types/ports/prices.ts'
import type { CardCapability, CardMode } from './cards/card.ts'
import type { PriceOrigin } from './price-service.ts'
import type { Resolver } from './resolver.ts'

interface Facts {
  contextWindow?: number
  maxOutputTokens?: number
  mode?: CardMode
  capabilities: Readonly<Partial<Record<CardCapability, boolean>>>
  price?: ModelPrice
}

/** The part of the service `modelFacts` that this file uses. */
interface FactsBelow {
  compiledIn(
    provider: string,
    model: string,
  ): { contextWindow?: number; maxOutputTokens?: number; mode?: unknown; capabilities: object }
}

export function factsLayer(
  resolver: Resolver,
  below: FactsBelow,
  origins: WeakMap<ModelPrice, PriceOrigin>,
): (provider: string, model: string, orgId: number | null) => Facts | null {
  return (provider, model, orgId) => {
    const { price, source, ref, borrowed, match } = resolver.resolve(orgId, provider, model)
    // Built-in facts are there already.
    const own = price !== undefined && source !== 'builtin' && ref !== null
    if (own) origins.set(price, { ref, borrowed })
    // Facts of another provider's model do not apply to this one.
    if (match === null || match.borrowed) return own ? { price, capabilities: {} } : null
    const known = below.compiledIn(provider, model)
    const { contextWindow, maxOutputTokens, mode, capabilities } = match.entry
    return {
      ...(known.contextWindow === undefined && contextWindow !== undefined ? { contextWindow } : {}),
      ...(known.maxOutputTokens === undefined && maxOutputTokens !== undefined ? { maxOutputTokens } : {}),
      ...(known.mode === undefined && mode !== undefined ? { mode } : {}),
      ...(own ? { price } : {}),
      capabilities: { ...capabilities, ...known.capabilities },
    }
  }
}

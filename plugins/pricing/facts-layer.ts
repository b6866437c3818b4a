// What cards say of models, where lists and routing look for it: prices over all others, the rest only where nobody knows better.

import type { ModelPrice } from '../../core/types/prices.ts'
import type { CardCapability, CardMode } from './card.ts'
import type { PriceOrigin } from './price-service.ts'
import type { Resolver } from './resolver.ts'

interface Facts {
  contextWindow?: number
  maxOutputTokens?: number
  mode?: CardMode
  capabilities: Readonly<Partial<Record<CardCapability, boolean>>>
  price?: ModelPrice
}

/** What is needed of the service `modelFacts`. */
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
): (provider: string, model: string) => Facts | null {
  return (provider, model) => {
    const { price, source, ref, borrowed, match } = resolver.resolve(null, provider, model)
    // Those compiled in are there already.
    const own = price !== undefined && source !== 'builtin' && ref !== null
    if (own) origins.set(price, { ref, borrowed })
    // What another provider's model can says nothing of this one.
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

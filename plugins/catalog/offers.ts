// Lists the models of each connection: its provider's known models that `allowed_models` permits, and those that it names itself.
import { globMatch } from '../../core/text/glob.ts'
import type { Connection } from '../../core/types/ports/provider.ts'
import { alsoListed, isUnlisted } from './facts/by-provider.ts'
import type { RateCard } from './rate-card.ts'

export interface Offer {
  readonly model: string
  readonly allowed: boolean
  /** `live`: its provider lists the model. `connection`: it names the model itself. */
  readonly source: 'live' | 'catalog' | 'connection'
}

export interface Offers {
  /**
   * Includes models that are not allowed: a form shows them disabled. @param live the provider's own list, in place of the known models.
   */
  of(connection: Connection, live?: readonly string[]): readonly Offer[]
  /** Returns whether the connection serves the model. */
  serves(connection: Connection, model: string): boolean
}

export function offersOf(card: RateCard): Offers {
  const byProvider = new Map<string, readonly string[]>()
  const ofProvider = (provider: string): readonly string[] => {
    const found =
      byProvider.get(provider) ??
      [...new Set([...card.models(provider), ...alsoListed(provider)])].filter((model) => !isUnlisted(provider, model)).sort()
    byProvider.set(provider, found)
    return found
  }
  const serves = ({ allowedModels }: Connection, model: string): boolean =>
    allowedModels.length === 0 || allowedModels.some((glob) => globMatch(glob, model))
  return {
    serves,
    of(connection, live) {
      const { provider, allowedModels, defaultModel } = connection
      const allowed = (model: string) => serves(connection, model)
      const named = [...allowedModels.filter((glob) => !/[*?]/.test(glob)), ...(defaultModel === null ? [] : [defaultModel])]
      const known = live ?? ofProvider(provider)
      const source = live === undefined ? 'catalog' : 'live'
      return [
        ...known.map((model): Offer => ({ model, allowed: allowed(model), source })),
        ...[...new Set(named)]
          .filter((model) => !known.includes(model))
          .map((model): Offer => ({ model, allowed: allowed(model), source: 'connection' })),
      ]
    },
  }
}

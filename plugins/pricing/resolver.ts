// Finds the price of a model and its source: overrides take precedence over the card, and the card over built-in prices.
import type { Clock } from '../../core/types/ports/ports.ts'
import type { ModelPrice } from '../../core/types/ports/prices.ts'
import type { CardLookup, CardMatch } from './cards/lookup.ts'
import { isUnit, isVariantOf, modelPrice, type PriceList, priceList } from './cards/price-names.ts'
import type { Override, OverrideIndex } from './overrides.ts'
import type { ResolvedPrice } from './service.ts'
import type { Stored } from './store.ts'

export interface Resolved extends ResolvedPrice {
  readonly list: PriceList
  readonly match: CardMatch | null
  /** The card's price belongs to another provider, and no override exists. */
  readonly borrowed: boolean
}

export interface Resolver {
  resolve(orgId: number | null, provider: string, model: string): Resolved
  /** True: an organization has its own prices. */
  has(orgId: number | null): boolean
  forget(): void
}

export interface ResolverParts {
  readonly clock: Clock
  stored(): Stored
  lookup(): CardLookup
  /** null: the operator's own. */
  overrides(orgId: number | null): OverrideIndex
  /** The built-in price. */
  builtin(provider: string, model: string): ModelPrice | undefined
  /** Returns true for a model on this machine: the price of a vendor's model with the same name does not apply. */
  local(provider: string): boolean
}

/** Built-in prices may depend on the hour. */
const REMEMBERED_MS = 300_000
/** A limit, because model ids also come from callers. */
const MAX_REMEMBERED = 5000

export function resolver(parts: ResolverParts): Resolver {
  const remembered = new Map<string, Resolved>()
  let until = 0
  const find = (orgId: number | null, provider: string, model: string): Override | null =>
    (orgId === null ? null : parts.overrides(orgId).find(provider, model)) ?? parts.overrides(null).find(provider, model)

  function made(orgId: number | null, provider: string, model: string): Resolved {
    const nearest = parts.lookup()(provider, model, !parts.local(provider))
    const own = nearest?.borrowed === false && hasTokens(nearest.entry.prices)
    const builtin = own ? undefined : parts.builtin(provider, model)
    // The provider's own built-in price is better than another provider's price for a model with the same name.
    const match = builtin !== undefined && nearest?.borrowed === true ? null : nearest
    const carded = match?.entry.prices ?? {}
    const below = builtin === undefined ? carded : { ...priceList(builtin), ...carded }
    const found = find(orgId, provider, model)
    const list = found === null ? below : overridden(below, found.prices)
    const source = sourceOf(found, carded, builtin, match)
    const state = source === 'primary' || source === 'fallback' ? parts.stored().sources.get(source) : undefined
    const stale = state === undefined ? [] : Object.values(match?.entry.stale ?? {})
    return {
      provider,
      model,
      source,
      ref: source === 'none' ? null : state === undefined ? source : `${source}:${state.runId}`,
      version: state?.ref ?? null,
      matchedKey: matchedKey(source, found, match, `${provider}/${model}`),
      fetchedAt: state?.fetchedAt ?? null,
      staleSince: stale.length === 0 ? null : Math.min(...stale),
      price: found === null && builtin !== undefined ? builtin : (modelPrice(list) ?? undefined),
      list,
      match,
      borrowed: found === null && match?.borrowed === true,
    }
  }

  return {
    forget: () => remembered.clear(),
    has: (orgId) => parts.overrides(orgId).any,
    resolve(orgId, provider, model) {
      const now = parts.clock.monotonic()
      if (now >= until || remembered.size >= MAX_REMEMBERED) {
        remembered.clear()
        until = now + REMEMBERED_MS
      }
      const key = `${orgId ?? 0} ${provider}/${model}`
      let resolved = remembered.get(key)
      if (resolved === undefined) {
        resolved = made(orgId, provider, model)
        remembered.set(key, resolved)
      }
      return resolved
    },
  }
}

function hasTokens(list: PriceList): boolean {
  return Object.keys(list).some((name) => !isUnit(name))
}

function sourceOf(
  found: Override | null,
  carded: PriceList,
  builtin: ModelPrice | undefined,
  match: CardMatch | null,
): ResolvedPrice['source'] {
  if (found !== null) return 'override'
  if (builtin !== undefined) return 'builtin'
  return match === null || Object.keys(carded).length === 0 ? 'none' : match.entry.source
}

/** An overridden price also replaces the card's tiers and sizes. */
function overridden(list: PriceList, prices: PriceList): PriceList {
  const given = Object.keys(prices)
  const kept = Object.entries(list).filter(([name]) => !given.some((one) => isVariantOf(name, one)))
  return { ...Object.fromEntries(kept), ...prices }
}

function matchedKey(
  source: ResolvedPrice['source'],
  override: Override | null,
  match: CardMatch | null,
  asked: string,
): string | null {
  if (override !== null) return override.pattern
  if (source === 'none') return null
  return source === 'builtin' || match === null ? asked : `${match.provider}/${match.entry.id}`
}

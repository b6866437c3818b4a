// Prices each upstream call from memory.
import type { Billable, PriceService, StepPrice } from '../../core/services.ts'
import type { ModelPrice } from '../../core/types/prices.ts'
import type { ConnectionOwners } from './connection-owner.ts'
import type { Resolver } from './resolver.ts'
import { tokenCost } from './token-cost.ts'

export interface PriceParts {
  readonly resolver: Resolver
  readonly owners: ConnectionOwners
  /** As lists show it: with what every plugin knows. */
  listed(provider: string, model: string): ModelPrice | undefined
  /** Origin of each synced price; a price without one is built-in or foreign. */
  readonly origins: WeakMap<ModelPrice, PriceOrigin>
}

export interface PriceOrigin {
  readonly ref: string
  readonly borrowed: boolean
}

const BUILTIN: PriceOrigin = { ref: 'builtin', borrowed: false }
const FREE: StepPrice = Object.freeze({ costNano: 0, chargeNano: 0, ref: BUILTIN.ref })

export function priceService({ resolver, owners, listed, origins }: PriceParts): PriceService {
  return {
    price({ connection, model, usage }: Billable): StepPrice | null {
      const { provider } = connection
      const orgId = owners.orgOf(connection)
      const own = orgId !== null && resolver.has(orgId) ? resolver.resolve(orgId, provider, model) : null
      const price = own?.source === 'override' ? own.price : listed(provider, model)
      if (price === undefined || !isPriced(price)) return owners.isLocal(connection) ? FREE : null
      const { ref, borrowed } =
        own?.source === 'override' ? { ref: 'override', borrowed: false } : (origins.get(price) ?? BUILTIN)
      // A model on a loopback address is free, even if its name matches a priced public model.
      if (borrowed && owners.isLocal(connection)) return FREE
      const costNano = tokenCost(price, usage)
      return { costNano, chargeNano: chargeOf(costNano), ref }
    },
  }
}

function isPriced({ input, output }: ModelPrice): boolean {
  return input !== undefined || output !== undefined
}

/** The tenant's price; without tenants, the cost. */
function chargeOf(costNano: number): number {
  return costNano
}

// Prices each upstream call from memory.
import type { Billable, PriceService, StepPrice } from '../../core/services.ts'
import type { ModelPrice } from '../../core/types/ports/prices.ts'
import type { Connection } from '../../core/types/ports/provider.ts'
import type { MediaUnits } from '../../core/types/request/answer.ts'
import { chargeOf, type MarkupRules } from './markup.ts'
import { mediaCost } from './media-cost.ts'
import type { Resolver } from './resolver.ts'
import { spokenUsage } from './spoken-usage.ts'
import { isLoopback } from './sync/sync.ts'
import { mediaPrices, tokenCost } from './token-cost.ts'

/** The part of the service `accounts` that this file uses. Its list stays the same object until a change. */
interface AccountList {
  list(): readonly { connection: Connection; orgId: number | null }[]
}

interface ConnectionOwners {
  orgOf(connection: Connection): number | null
  isLocal(connection: Connection): boolean
  /** True: a connection of the provider leads to this machine, or the provider always does. */
  isLocalProvider(provider: string): boolean
}

/** @param baseOf returns the provider's own address; null: it has none. */
export function connectionOwners(accounts: AccountList, baseOf: (provider: string) => string | null): ConnectionOwners {
  let asOf: unknown = null
  let orgs = new Map<string, number | null>()
  let local = new Set<string>()
  const known = new WeakMap<Connection, boolean>()
  const isLocal = (connection: Connection): boolean => {
    let found = known.get(connection)
    if (found === undefined) {
      found = leadsHere(connection.baseUrl ?? baseOf(connection.provider))
      known.set(connection, found)
    }
    return found
  }
  const follow = () => {
    const list = accounts.list()
    if (list === asOf) return
    asOf = list
    orgs = new Map(list.map(({ connection, orgId }) => [connection.id, orgId]))
    local = new Set(list.filter(({ connection }) => isLocal(connection)).map(({ connection }) => connection.provider))
  }
  return {
    isLocal,
    orgOf(connection) {
      follow()
      return orgs.get(connection.id) ?? null
    },
    isLocalProvider(provider) {
      follow()
      return local.has(provider) || leadsHere(baseOf(provider))
    },
  }
}

function leadsHere(address: string | null): boolean {
  return address !== null && URL.canParse(address) && isLoopback(new URL(address).hostname)
}

export interface PriceParts {
  readonly resolver: Resolver
  readonly owners: ConnectionOwners
  /** Returns the price that lists show, with facts of every plugin. @param orgId owner of the connection */
  listed(provider: string, model: string, orgId: number | null): ModelPrice | undefined
  /** The origin of each synced price; other prices are built in or foreign. */
  readonly origins: WeakMap<ModelPrice, PriceOrigin>
  /** Read for every call. */
  markup(): MarkupRules
}

export interface PriceOrigin {
  readonly ref: string
  readonly borrowed: boolean
}

const BUILTIN: PriceOrigin = { ref: 'builtin', borrowed: false }
const FREE: StepPrice = Object.freeze({ costNano: 0, chargeNano: 0, ref: BUILTIN.ref })

export function priceService({ resolver, owners, listed, origins, markup }: PriceParts): PriceService {
  function unitPrice(orgId: number | null, call: Billable, units: MediaUnits) {
    const { model, connection } = call
    const { provider } = connection
    const { list, ref, borrowed } = resolver.resolve(orgId, provider, model)
    const costNano = mediaCost(mediaPrices(list, units), units)
    if (costNano === null) return null
    return { price: { costNano, chargeNano: chargeOf(costNano, orgId, call, markup()), ref: ref ?? BUILTIN.ref }, borrowed }
  }

  return {
    sharedCharge: (costNano, orgId, shared) => chargeOf(costNano, null, { orgId, shared }, markup()),
    price(call: Billable): StepPrice | null {
      const { connection, model, operation, usage } = call
      const { provider } = connection
      const orgId = owners.orgOf(connection)
      // Transcriptions and translations are recorded and not billed.
      if (operation === 'transcription') return FREE
      const byUnits = usage.units === undefined ? null : unitPrice(orgId, call, usage.units)
      // An image model may have prices for tokens, too: the price of the unit is the one that applies.
      if (byUnits !== null) return owners.isLocal(connection) && byUnits.borrowed ? FREE : byUnits.price
      const price = listed(provider, model, orgId)
      if (price === undefined || !isPriced(price)) return owners.isLocal(connection) ? FREE : null
      const { ref, borrowed } = origins.get(price) ?? BUILTIN
      // A model on a loopback address is free, even if its name matches a priced public model.
      if (borrowed && owners.isLocal(connection)) return FREE
      const costNano = tokenCost(price, spokenUsage(usage))
      return { costNano, chargeNano: chargeOf(costNano, orgId, call, markup()), ref }
    },
  }
}

function isPriced({ input, output }: ModelPrice): boolean {
  return input !== undefined || output !== undefined
}

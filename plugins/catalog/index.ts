// The model catalogue: facts about models, and lists of the models that can be called.
import { definePlugin } from '../../core/plugins/define.ts'
import type { Connection } from '../../core/types/ports/provider.ts'
import { catalogRoutes } from './api.ts'
import { modelRoutes } from './data-routes.ts'
import { entriesOf } from './entries.ts'
import { modelFacts } from './model-facts.ts'
import { offeredModels } from './offered.ts'
import { type Offers, offersOf } from './offers.ts'
import { rateCard } from './rate-card.ts'
import type { ModelFactsService, VirtualSource } from './service.ts'

/** Provides the services `modelFacts` and `modelCatalogue`. */
export const catalog = definePlugin({
  name: 'catalog',
  requires: ['accounts', 'configuration'],
  async setup(gateway) {
    const accounts = gateway.use('accounts')
    const card = await rateCard()
    const facts = modelFacts(card, gateway.use('configuration'), gateway.clock)
    const offers = offersOf(card)
    const virtual = new Set<VirtualSource>()
    gateway.provide('modelFacts', facts)
    gateway.provide('modelCatalogue', {
      virtual(source) {
        virtual.add(source)
        return () => void virtual.delete(source)
      },
      offered: offeredModels(accounts, offers),
    })
    const sources = { accounts, offers, facts, virtual }
    const entries = entriesOf(sources)
    modelRoutes(gateway, entries)
    catalogRoutes(gateway, entries, sources)
    return accounts.extend({ testModel: (connection) => cheapest(connection, offers, facts) })
  },
})

/** Returns the cheapest model of a connection, because a test request should cost almost nothing. */
function cheapest(connection: Connection, offers: Offers, facts: ModelFactsService): string | null {
  const priced = offers.of(connection).flatMap(({ model, allowed }) => {
    const { mode, price } = facts.facts(connection.provider, model)
    return allowed && mode === 'chat' && price?.output ? [{ model, cost: (price.input ?? 0) + price.output }] : []
  })
  return priced.sort((a, b) => a.cost - b.cost)[0]?.model ?? null
}

export default catalog

// Prices: fetches public rate cards periodically, applies overrides, and prices each call.
import { z } from 'zod'
import { definePlugin } from '../../core/plugins/define.ts'
import type { ModelPrice } from '../../core/types/ports/prices.ts'
import { overrideRoutes } from './api/overrides.ts'
import { resolveRoute } from './api/resolve.ts'
import { syncRoutes } from './api/sync.ts'
import { driftFacts } from './attention.ts'
import { cardLookup } from './cards/lookup.ts'
import { factsLayer } from './facts-layer.ts'
import type { MarkupRules } from './markup.ts'
import { migrations } from './migrations.ts'
import { allOverrides, overrideIndex } from './overrides.ts'
import { portableOverrides } from './portable.ts'
import { connectionOwners, type PriceOrigin, priceService } from './price-service.ts'
import { type Resolver, resolver } from './resolver.ts'
import { storedView } from './store.ts'
import { showFreshness, startSyncing } from './sync/schedule.ts'
import { sourceUrl, syncer } from './sync/sync.ts'
import { mediaPrices } from './token-cost.ts'

const PRIMARY_URL = 'https://raw.githubusercontent.com/BerriAI/litellm/{ref}/model_prices_and_context_window.json'

const percent = z.number().min(0).max(10_000)

/** Provides the services `prices`, `rateCard` and `pricingStatus`. */
export const pricing = definePlugin({
  name: 'pricing',
  requires: ['accounts', 'configuration', 'modelFacts', 'outbound', 'directCalls'],
  config: z.strictObject({
    enabled: z.boolean().default(true),
    /** `{ref}` is replaced by the version reference. */
    url: z.string().default(PRIMARY_URL),
    fallbackUrl: z.string().default('https://models.dev/api.json'),
    ref: z.string().default('v1.89.4'),
    intervalSecs: z.int().min(1).max(2_000_000).default(21_600),
    fetchTimeoutSecs: z.int().min(1).max(3600).default(90),
    driftPct: z.number().min(0).default(25),
    outboundProxy: z.string().nullable().default(null).meta({ env: 'OUTBOUND_PROXY' }),
  }),
  settings: {
    /** Percent that an organization pays above the cost of calls that the gateway's own connections served. */
    'billing.markup_pct': percent.default(0),
    /** Percent by organization id; it overrides `billing.markup_pct`. */
    'billing.markup_pct_by_org': z
      .record(z.string().regex(/^[1-9]\d{0,15}$/, 'organization ids'), percent)
      .default({})
      .meta({ role: 'system' }),
  },
  variables: {
    PRICING_SYNC_ENABLED: { option: 'enabled', about: 'Sync public rate cards at start and on an interval.' },
    PRICING_SYNC_URL: {
      option: 'url',
      type: 'url',
      about: 'Primary rate card (USD per token); https, or http to a private host. `{ref}` becomes the version reference.',
    },
    PRICING_FALLBACK_URL: { option: 'fallbackUrl', type: 'url', about: 'Fallback rate card (USD per 1M tokens).' },
    PRICING_SYNC_INTERVAL_SECS: { option: 'intervalSecs', about: 'Interval of the price sync, s.' },
    PRICING_SYNC_FETCH_TIMEOUT_SECS: { option: 'fetchTimeoutSecs', about: 'Time limit of one fetch, s.' },
    PRICING_SYNC_REF: { option: 'ref', about: 'Version reference of the primary snapshot: a release tag.' },
    PRICING_SYNC_DRIFT_PCT: { option: 'driftPct', about: 'Price change that is flagged for review, percent.' },
  },
  migrations,
  async setup(gateway, options) {
    const configuration = gateway.use('configuration')
    const modelFacts = gateway.use('modelFacts')
    const outbound = gateway.use('outbound')
    const urls = {
      primary: sourceUrl('GATEWAY_PRICING_SYNC_URL', options.url, options.ref, outbound),
      fallback: sourceUrl('GATEWAY_PRICING_FALLBACK_URL', options.fallbackUrl, options.ref, outbound),
    }

    const view = await storedView(gateway)
    const overrideView = await gateway.view('overrides', allOverrides)
    const owners = connectionOwners(gateway.use('accounts'), (id) =>
      configuration.known(id) ? configuration.provider(id).baseUrl : null,
    )
    const indexOf = (orgId: number | null) => overrideIndex(overrideView.current.get(orgId ?? 0) ?? [], configuration.providerId)
    let lookup = cardLookup(view.current.book)
    let indexes = new Map<number | null, ReturnType<typeof indexOf>>()
    const found: Resolver = resolver({
      clock: gateway.clock,
      stored: () => view.current,
      lookup: () => lookup,
      overrides(orgId) {
        const index = indexes.get(orgId) ?? indexOf(orgId)
        indexes.set(orgId, index)
        return index
      },
      builtin: (provider, model) => modelFacts.compiledIn(provider, model).price,
      local: owners.isLocalProvider,
    })
    const renew = () => {
      found.forget()
      modelFacts.refresh()
    }
    let book = view.current.book
    view.watch((stored) => {
      if (stored.book !== book) lookup = cardLookup(stored.book)
      book = stored.book
      renew()
    })
    overrideView.watch(() => {
      indexes = new Map()
      renew()
    })

    const origins = new WeakMap<ModelPrice, PriceOrigin>()
    const takeBack = modelFacts.layer(factsLayer(found, modelFacts, origins), found.has)
    const listed = (provider: string, model: string, orgId: number | null) => modelFacts.facts(provider, model, orgId).price
    let markup = markupNow()
    gateway.settings.watch('billing.markup_pct', () => {
      markup = markupNow()
    })
    gateway.settings.watch('billing.markup_pct_by_org', () => {
      markup = markupNow()
    })
    gateway.provide('prices', priceService({ resolver: found, owners, listed, origins, markup: () => markup }))
    gateway.provide('rateCard', {
      resolve: (provider, model, orgId = null) => found.resolve(orgId, provider, model),
      media(provider, model, wish, orgId = null) {
        const { list, source, ref } = found.resolve(orgId, provider, model)
        return { ...mediaPrices(list, wish), source, ref }
      },
    })
    gateway.provide('pricingStatus', showFreshness(gateway, view))

    function markupNow(): MarkupRules {
      return { pct: gateway.settings.get('billing.markup_pct'), byOrg: gateway.settings.get('billing.markup_pct_by_org') }
    }

    const stopSyncing = options.enabled
      ? startSyncing(
          gateway,
          options.intervalSecs * 1000,
          syncer(gateway, view, {
            urls,
            ref: options.ref,
            intervalMs: options.intervalSecs * 1000,
            timeoutMs: options.fetchTimeoutSecs * 1000,
            driftPct: options.driftPct,
            proxyUrl: options.outboundProxy,
          }),
        )
      : null
    resolveRoute(gateway, view, found)
    overrideRoutes(gateway, overrideView)
    gateway.portable(portableOverrides(gateway, overrideView))
    syncRoutes(gateway, view, stopSyncing?.now ?? null)
    const silence = gateway.use('attention').contribute('pricing', driftFacts(gateway.db))
    return async () => {
      silence()
      takeBack()
      await stopSyncing?.stop()
    }
  },
})

export default pricing

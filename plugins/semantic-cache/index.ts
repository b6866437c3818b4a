// The semantic cache: a question that is similar to an answered one gets the stored answer. Off until it is enabled and an external
// embedding model is configured.
import { z } from 'zod'
import { systemRandom } from '../../core/ids/system-random.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import type { RequestContext } from '../../core/types/request/context.ts'
import { answering, type Pending } from './answering.ts'
import { semanticCacheRoutes } from './api.ts'
import { type EmbedModel, embedder, embedModelOf } from './embedder.ts'
import { routesOf } from './routes.ts'
import type { EmbeddingService } from './service.ts'

const DEFAULT_TTL_MS = 3_600_000
const DEFAULT_THRESHOLD = 0.95
const SWEEP_MS = 60_000

const share = z.number().min(0).max(1)

export const semanticCache = definePlugin({
  name: 'semantic-cache',
  requires: ['exact-cache', 'connections'],
  config: z.strictObject({
    /** null: one hour; 0 = off. */
    ttlMs: z.int().min(0).nullable().default(null),
    /** `provider/model`. */
    embedModel: z.string().nullable().default(null),
    /** Fraction of the hits that are answered by the model and compared. */
    revalidateRate: share.default(0.05),
    /** A route with a lower precision gets a higher threshold. */
    precisionFloor: share.default(0.9),
    /** Names that are not external models. */
    routes: z.unknown().default(null).meta({ env: 'ROUTES' }),
    freePool: z.string().nullable().default('gateway/free').meta({ env: 'FREE_POOL_VM' }),
    /** Draws the samples, in [0, 1). */
    random: z.custom<() => number>((value) => typeof value === 'function', 'must be a function').default(() => systemRandom),
  }),
  settings: {
    'semantic_cache.enabled': z.boolean().default(false).meta({ scope: 'organization' }),
    'semantic_cache.threshold': share.default(DEFAULT_THRESHOLD).meta({ scope: 'organization' }),
  },
  variables: {
    SEMANTIC_CACHE_ENABLED: { setting: 'semantic_cache.enabled', lenient: true, about: 'Switch the semantic cache on.' },
    SEMANTIC_CACHE_TTL_MS: { option: 'ttlMs', lenient: true, about: 'Lifetime of an answer in the semantic cache, ms.' },
    SEMANTIC_CACHE_THRESHOLD: {
      setting: 'semantic_cache.threshold',
      lenient: true,
      about: 'Least cosine similarity of a hit.',
    },
    SEMANTIC_CACHE_EMBED_MODEL: { option: 'embedModel', lenient: true, about: 'External `provider/model` that embeds prompts.' },
    SEMANTIC_CACHE_REVALIDATE_RATE: {
      option: 'revalidateRate',
      lenient: true,
      about: 'Share of hits that the model answers again, to measure precision.',
    },
    SEMANTIC_CACHE_PRECISION_FLOOR: {
      option: 'precisionFloor',
      lenient: true,
      about: 'Least precision of a route. Below it the route’s similarity threshold rises.',
    },
  },
  setup(gateway, config) {
    const { clock, log, settings, vault } = gateway
    const connections = gateway.use('connections')
    const caches = gateway.use('exactCache')
    const policy = gateway.use('cachePolicy')
    const virtualModels = gateway.optional('virtualModels')
    const vectors = gateway.use('vectors')
    const ttlMs = config.ttlMs ?? DEFAULT_TTL_MS
    const results = gateway.metrics.tally('semantic_cache_lookups_total', 'Look-ups in the semantic cache.', ['result'])
    const series = { hit: results.series('hit'), sampled: results.series('sampled'), miss: results.series('miss') }

    const known = { internalNames: namesIn(config.routes, config.freePool), knowsProvider: connections.knows }
    const judged = () => embedModelOf(config.embedModel, known)
    const modelFor = (orgId: number | null): EmbedModel | null => {
      const model = judged()
      return 'reason' in model || virtualModels()?.named(orgId, model.name) != null ? null : model
    }

    const set = settings.compiled((get) => ({
      enabled: get('semantic_cache.enabled') && ttlMs > 0,
      threshold: get('semantic_cache.threshold'),
    }))
    const isOn = ({ principal }: RequestContext): boolean => set(principal.orgId).enabled
    const routes = routesOf(
      (orgId) => set(orgId).threshold,
      config.precisionFloor,
      () => clock.now(),
    )
    const refuse = () => {
      const model = judged()
      if (set(null).enabled && 'reason' in model)
        log.error('semantic_cache.off', { reason: model.reason, hint: 'Set GATEWAY_SEMANTIC_CACHE_EMBED_MODEL.' })
    }
    settings.watch('semantic_cache.enabled', (_wanted, orgId) => {
      routes.reset(orgId ?? undefined)
      if (orgId === null) refuse()
    })
    settings.watch('semantic_cache.threshold', (_threshold, orgId) => routes.reset(orgId ?? undefined))
    gateway.hook('ready', refuse)

    const accountState = gateway.optional('accountState')
    const embed = embedder({
      clock,
      log,
      connections,
      calls: gateway.use('directCalls'),
      resting: (connection, model) => (accountState()?.blocked(connection, model) ?? null) !== null,
      slot: async (connection, source) => (await accountState()?.slot(connection, source)) ?? (() => {}),
    })
    const embeddings: EmbeddingService = {
      model: modelFor,
      async embed(orgId, source, texts) {
        const by = modelFor(orgId)
        return by === null ? { vectors: null, costNano: 0 } : embed({ orgId, source, by, texts })
      },
    }
    gateway.provide('embeddings', embeddings)

    const work = new Set<Promise<void>>()
    const pending = gateway.slot<Pending>()
    const cache = answering({
      clock,
      log,
      vault,
      vectors,
      routes,
      pending,
      ttlMs,
      modelFor,
      random: config.random,
      revalidateRate: config.revalidateRate,
      embed: async ({ principal: { orgId } }, by, texts) =>
        (await embed({ orgId, source: 'cache_embedding', by, texts })).vectors,
      policyOf: (ctx) => JSON.stringify([policy.of(ctx), caches.directives(ctx).seed ?? null]),
      maxAgeOf: caches.maxAge,
      // A request for several answers is not served from the cache.
      bypassed: (ctx) => caches.bypassed(ctx) || (caches.directives(ctx).bucketSize ?? 1) > 1,
      noStore: (ctx) => caches.directives(ctx).noStore === true,
      counted: (result) => series[result].add(1),
      behind(promise) {
        work.add(promise)
        void promise.finally(() => work.delete(promise))
      },
    })
    gateway.hook('answer', cache.answer, {
      after: 'exact-cache',
      operation: 'chat',
      when: (ctx) => ctx.ingress !== null && isOn(ctx),
    })
    const when = (ctx: RequestContext) => isOn(ctx) && pending.get(ctx) !== undefined
    gateway.hook('stream', cache.watch, { order: 'post', onError: 'open', when })
    gateway.hook('response', cache.see, { order: 'post', onError: 'open', operation: 'chat', when })
    gateway.every('sweep', SWEEP_MS, () => vectors.sweep())
    semanticCacheRoutes(gateway, routes)
    return async () => {
      await Promise.all(work)
    }
  },
})

/** Returns the names in GATEWAY_ROUTES and the free pool; invalid entries have no name. */
function namesIn(routes: unknown, freePool: string | null): ReadonlySet<string> {
  const named = Array.isArray(routes) ? routes.map((route) => (route as { name?: unknown } | null)?.name) : []
  return new Set([...named, freePool].filter((name) => typeof name === 'string'))
}

export default semanticCache

// The exact cache: a chat or embeddings request without streaming that was answered within the window gets the same bytes again, and equal requests wait while the
// first one is being answered. It is off until GATEWAY_DEDUP_TTL_MS, the setting or a plugin sets the window.
import { z } from 'zod'
import { systemRandom } from '../../core/ids/system-random.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import type { RequestContext } from '../../core/types/request/context.ts'
import { answering } from './answering.ts'
import { directiveReader, MAX_TTL_MS } from './cache-directives.ts'
import { cachePolicy } from './key.ts'
import { memoryStore } from './memory-store.ts'
import type { CacheDirectives, CacheLookup } from './service.ts'
import { sharedStore } from './shared-store.ts'
import { flights } from './singleflight.ts'
import { workerFlights } from './worker-flights.ts'

const SWEEP_MS = 60_000
/** Dialects whose conversations are cached. */
const DIALECTS: ReadonlySet<string> = new Set(['chat', 'messages', 'responses'])

/** Provides the services `exactCache` and `cachePolicy`. */
export const exactCache = definePlugin({
  name: 'exact-cache',
  config: z.strictObject({
    /** Draws one of a bucket's answers, in [0, 1). */
    random: z.custom<() => number>((value) => typeof value === 'function', 'must be a function').default(() => systemRandom),
  }),
  settings: {
    /** 0 = off. */
    'exact_cache.ttl_ms': z.int().min(0).max(MAX_TTL_MS).default(0).meta({ scope: 'organization' }),
  },
  variables: {
    DEDUP_TTL_MS: {
      setting: 'exact_cache.ttl_ms',
      about: 'Time in which identical requests without streaming share an answer, ms.',
    },
  },
  setup(gateway, { random }) {
    const { clock, log, settings, vault, metrics } = gateway
    const memory = memoryStore()
    const shares = gateway.use('status').checks.some(({ name }) => name === 'shared_store')
    const siblings = gateway.optional('siblings')()
    const policy = cachePolicy()
    const directives = directiveReader(gateway.slot<CacheDirectives>())
    const lookups = gateway.slot<CacheLookup>()
    const results = metrics.tally('exact_cache_lookups_total', 'Look-ups in the exact cache.', ['result'])
    const series = { hit: results.series('hit'), followed: results.series('followed'), miss: results.series('miss') }

    const ttlMsOf = settings.compiled((get) => get('exact_cache.ttl_ms'))
    settings.watch('exact_cache.ttl_ms', (wanted, orgId) => {
      if (wanted === 0 && orgId === null) memory.clear()
    })
    const ttlOf = (ctx: RequestContext): number => {
      const wanted = directives.of(ctx).ttlMs
      if (wanted !== undefined) return Math.min(wanted, MAX_TTL_MS)
      const ttlMs = ttlMsOf(ctx.principal.orgId)
      return ttlMs === 0 ? 0 : Math.min(ttlMs, directives.maxAgeOf(ctx))
    }

    gateway.provide('cachePolicy', policy)
    gateway.provide('exactCache', {
      request: directives.add,
      directives: directives.of,
      bypassed: directives.bypassed,
      maxAge: directives.maxAgeOf,
      lookup: (ctx) => lookups.get(ctx) ?? null,
    })
    gateway.hook(
      'answer',
      answering({
        clock,
        log,
        memory,
        flights: flights(),
        workers: siblings === undefined ? null : workerFlights(siblings, clock),
        directives,
        policy,
        lookups,
        ttlOf,
        random,
        shared: shares ? sharedStore(gateway) : null,
        mac: (data) => vault.mac('key', data),
        counted: (result) => series[result].add(1),
      }),
      {
        when: (ctx) =>
          (ctx.operation === 'embeddings' || (ctx.operation === 'chat' && DIALECTS.has(ctx.dialect))) &&
          !ctx.stream &&
          ttlOf(ctx) > 0 &&
          ctx.ingress !== null,
      },
    )
    gateway.every('sweep', SWEEP_MS, async () => memory.sweep(clock.now()))
    return () => memory.clear()
  },
})

export default exactCache

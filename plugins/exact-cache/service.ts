// The answer caches for other plugins: directives of one request, additions to every key, and the lookup's result. The saved cost is in
// `ctx.cachedCall` and `outcome.cachedCall` (core/types/context.ts).
import type { RequestContext } from '../../core/types/context.ts'

/** Cache directives of one request. An absent member keeps the configured value. */
export interface CacheDirectives {
  /** Lifetime of its answer and greatest age of one it takes, ms; also where the exact cache is off. At most 365 days. */
  readonly ttlMs?: number
  /** Greatest age of an answer it takes and lifetime of its own, ms, where that is less than what is configured. */
  readonly maxAgeMs?: number
  /** A name space of its own. */
  readonly seed?: string
  /** So many different answers are kept before one of them is drawn, 1 to 20; default 1. */
  readonly bucketSize?: number
  /** Top-level members of the body that are left out of the key of the exact cache. */
  readonly ignoreKeys?: readonly string[]
  /** Neither cache is asked nor filled. */
  readonly bypass?: boolean
  /** Neither cache is filled: the answer carries what must not be kept. */
  readonly noStore?: boolean
}

/** Result of the exact cache for a request. */
export interface CacheLookup {
  readonly hit: boolean
  /** Index among the answers under one key; on a miss, the index of the answer to store. */
  readonly bucketIndex: number
}

/** Provided as `exactCache`. */
export interface ExactCacheService {
  /**
   * Call it in `ingress`, `access` or `request`, before the caches run. Later directives override earlier ones member by member; `bypass`
   * and `noStore` stay set.
   */
  request(ctx: RequestContext, directives: CacheDirectives): void
  directives(ctx: RequestContext): CacheDirectives
  /** True when the request, its headers or its directives exclude it from both caches. */
  bypassed(ctx: RequestContext): boolean
  /** Maximum age of an answer in ms, by directives or headers; Infinity: any age. */
  maxAge(ctx: RequestContext): number
  /** null: the exact cache had no part in it. */
  lookup(ctx: RequestContext): CacheLookup | null
}

/** A version, or what gives it for a request. null counts as absent. */
export type PolicyVersion = string | number | null | ((ctx: RequestContext) => string | number | null)

/** Provided as `cachePolicy`: what changes answers without being in the request. With another version nothing old is found. */
export interface CachePolicyService {
  /**
   * In `setup` behind this plugin, or in `ready`. A function is asked with each key that is made, so it reads what it has.
   * The same name again replaces it.
   */
  version(name: string, value: PolicyVersion): void
  /** All of them as one text. */
  of(ctx: RequestContext): string
}

declare module '../../core/types/plugin.ts' {
  interface Services {
    exactCache: ExactCacheService
    cachePolicy: CachePolicyService
  }
}

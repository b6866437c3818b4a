// Types of the answer caches for other plugins: directives for one request, additions to every key, and the lookup's result. The saved
// cost is in `ctx.cachedCall` and `outcome.cachedCall` (core/types/request/context.ts).
import type { RequestContext } from '../../core/types/request/context.ts'

/** Cache directives of one request. An absent member keeps the configured value. */
export interface CacheDirectives {
  /** Lifetime of its answer and maximum accepted age, ms, also when the exact cache is off. At most 365 days. */
  readonly ttlMs?: number
  /** Maximum accepted age and lifetime of its own answer, ms, when lower than configured. */
  readonly maxAgeMs?: number
  /** A separate name space. */
  readonly seed?: string
  /** Number of different answers to store before one of them is drawn, 1 to 20; default 1. */
  readonly bucketSize?: number
  /** Top-level members of the body that the exact cache's key ignores. */
  readonly ignoreKeys?: readonly string[]
  /** True: neither cache is read or written. */
  readonly bypass?: boolean
  /** True: neither cache is written, because the answer must not be stored. */
  readonly noStore?: boolean
}

/** Result of the exact cache for a request. */
export interface CacheLookup {
  readonly hit: boolean
  /** Index among the answers under one key; on a miss, the index of the answer to store. */
  readonly bucketIndex: number
}

/** The service `exactCache`. */
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
  /** Returns null when the exact cache was not used. */
  lookup(ctx: RequestContext): CacheLookup | null
}

/** A version, or a function that returns it for a request. null counts as absent. */
export type PolicyVersion = string | number | null | ((ctx: RequestContext) => string | number | null)

/**
 * The service `cachePolicy`: versions of configuration that changes answers and is not part of the request. After a version change no old
 * answer is found.
 */
export interface CachePolicyService {
  /**
   * Call it in `setup` of a plugin after this one, or in `ready`. A function runs for each key, so it must read from memory. A second
   * call with the same name replaces the first.
   */
  version(name: string, value: PolicyVersion): void
  /** Returns all versions as one text. */
  of(ctx: RequestContext): string
}

declare module '../../core/types/plugin/plugin.ts' {
  interface Services {
    exactCache: ExactCacheService
    cachePolicy: CachePolicyService
  }
}

// Merges the cache directives of a request from headers and from plugins.
import type { RequestContext, Slot } from '../../core/types/request/context.ts'
import type { CacheDirectives } from './service.ts'

export const MAX_TTL_MS = 365 * 86_400_000
const MAX_BUCKET = 20

const NONE: CacheDirectives = {}

export interface DirectiveReader {
  of(ctx: RequestContext): CacheDirectives
  add(ctx: RequestContext, directives: CacheDirectives): void
  bucketSizeOf(ctx: RequestContext): number
  /** Returns ms; Infinity: any age is accepted. */
  maxAgeOf(ctx: RequestContext): number
  bypassed(ctx: RequestContext): boolean
}

export function directiveReader(slot: Slot<CacheDirectives>): DirectiveReader {
  const of = (ctx: RequestContext): CacheDirectives => slot.get(ctx) ?? NONE
  return {
    of,
    add(ctx, directives) {
      const before = of(ctx)
      slot.set(ctx, {
        ...before,
        ...directives,
        bypass: (before.bypass ?? false) || (directives.bypass ?? false),
        noStore: (before.noStore ?? false) || (directives.noStore ?? false),
      })
    },
    bucketSizeOf: (ctx) => Math.min(Math.max(Math.trunc(of(ctx).bucketSize ?? 1), 1), MAX_BUCKET),
    maxAgeOf(ctx) {
      const { ttlMs, maxAgeMs } = of(ctx)
      return ttlMs ?? maxAgeMs ?? maxAgeIn(ctx.headers.get('cache-control')) ?? Number.POSITIVE_INFINITY
    },
    bypassed: (ctx) => of(ctx).bypass === true || saysNo(ctx),
  }
}

/** `Cache-Control: no-cache`, `no-store` or `max-age=0`, `X-Gateway-Cache-Control: no-cache`. */
function saysNo({ headers }: RequestContext): boolean {
  return BYPASS.test(headers.get('cache-control') ?? '') || BYPASS.test(headers.get('x-gateway-cache-control') ?? '')
}

/** `Cache-Control: max-age` in a request is the maximum accepted age (RFC 9111), ms. */
function maxAgeIn(control: string | null): number | null {
  const seconds = control === null ? null : MAX_AGE.exec(control)
  return seconds === null ? null : Number(seconds[1]) * 1000
}

const BYPASS = /(?:^|[\s,])(?:no-(?:cache|store)|max-age=0{1,12})(?:$|[\s,=])/i
const MAX_AGE = /(?:^|[\s,])max-age=(\d{1,12})(?:$|[\s,])/i

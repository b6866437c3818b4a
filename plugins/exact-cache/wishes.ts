// What a request wants of the caches: by header, and by what plugins asked for it.
import type { RequestContext, Slot } from '../../core/types/context.ts'
import type { CacheWishes } from './service.ts'

export const MAX_TTL_MS = 365 * 86_400_000
const MAX_BUCKET = 20

const NONE: CacheWishes = {}

export interface Wishes {
  of(ctx: RequestContext): CacheWishes
  add(ctx: RequestContext, wishes: CacheWishes): void
  bucketSizeOf(ctx: RequestContext): number
  bypassed(ctx: RequestContext): boolean
}

export function wishesIn(slot: Slot<CacheWishes>): Wishes {
  const of = (ctx: RequestContext): CacheWishes => slot.get(ctx) ?? NONE
  return {
    of,
    add(ctx, wishes) {
      const before = of(ctx)
      slot.set(ctx, {
        ...before,
        ...wishes,
        bypass: (before.bypass ?? false) || (wishes.bypass ?? false),
        noStore: (before.noStore ?? false) || (wishes.noStore ?? false),
      })
    },
    bucketSizeOf: (ctx) => Math.min(Math.max(Math.trunc(of(ctx).bucketSize ?? 1), 1), MAX_BUCKET),
    bypassed: (ctx) => of(ctx).bypass === true || saysNo(ctx),
  }
}

/** `Cache-Control: no-cache` or `no-store`, `X-Gateway-Cache-Control: no-cache`. */
function saysNo({ headers }: RequestContext): boolean {
  return BYPASS.test(headers.get('cache-control') ?? '') || BYPASS.test(headers.get('x-gateway-cache-control') ?? '')
}

const BYPASS = /(?:^|[\s,])no-(?:cache|store)(?:$|[\s,=])/i

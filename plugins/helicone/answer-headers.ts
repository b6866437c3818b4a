// Headers for callers that sent any of Helicone's: the request's id, and what the cache did.
import type { RequestContext } from '../../core/types/context.ts'
import type { Services } from '../../core/types/plugin.ts'

export function answerHeaders(ctx: RequestContext, caches: () => Services['exactCache'] | undefined): void {
  ctx.responseHeaders.set('helicone-id', ctx.id)
  ctx.tap(({ status }) => {
    const lookup = caches()?.lookup(ctx) ?? null
    if (status !== 200 || (lookup === null && ctx.cached === false)) return
    ctx.responseHeaders.set('helicone-cache', ctx.cached === false ? 'MISS' : 'HIT')
    if (lookup !== null) ctx.responseHeaders.set('helicone-cache-bucket-idx', String(lookup.bucketIndex))
  })
}

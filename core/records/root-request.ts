import type { RequestContext } from '../types/request/context.ts'

/** Returns the request that settles for this one: itself, or the one that made this internal call. */
export function rootOf(ctx: RequestContext): RequestContext {
  let root = ctx
  while (root.parent !== null) root = root.parent
  return root
}

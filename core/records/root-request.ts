import type { RequestContext } from '../types/context.ts'

/** The request that settles for this one: itself, or the one it was made inside of. */
export function rootOf(ctx: RequestContext): RequestContext {
  let root = ctx
  while (root.parent !== null) root = root.parent
  return root
}

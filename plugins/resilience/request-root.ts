import type { RequestContext } from '../../core/types/context.ts'

/** The request that settles for this one: itself, or the one it is a step of. */
export function rootOf(ctx: RequestContext): RequestContext {
  let root = ctx
  while (root.parent !== null) root = root.parent
  return root
}

/** An operator's own look at a connection goes through whatever its state is. */
export function isTest(ctx: RequestContext): boolean {
  return ctx.ingress === null && ctx.source === 'test'
}

import type { RequestContext } from '../../core/types/context.ts'

/** An operator's own look at a connection goes through whatever its state is. */
export function isTest(ctx: RequestContext): boolean {
  return ctx.ingress === null && ctx.source === 'test'
}

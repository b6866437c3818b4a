// The name that a lock of a model is kept under.
import { isConversation } from '../../../core/calls/conversation.ts'
import type { RequestContext } from '../../../core/types/request/context.ts'

/** A model that refuses one operation may serve another: only conversations share a lock. */
export function lockName(ctx: RequestContext, model: string): string {
  return isConversation(ctx) ? model : `${ctx.operation}:${model}`
}

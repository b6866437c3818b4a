// Tells conversations from the operations that have a canonical form of their own.
import type { RequestContext } from '../types/request/context.ts'

/** Returns true when `ctx.request` has messages: a chat request, or one whose tokens are counted. */
export function isConversation(ctx: RequestContext): ctx is RequestContext & RequestContext<'chat' | 'count_tokens'> {
  return ctx.operation === 'chat' || ctx.operation === 'count_tokens'
}

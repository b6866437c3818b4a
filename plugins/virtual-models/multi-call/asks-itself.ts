import { isConversation } from '../../../core/calls/conversation.ts'
import type { RequestContext } from '../../../core/types/request/context.ts'
import type { CompiledModel } from '../planning/compiled-model.ts'
import { offersTools } from './conversation.ts'

export function asksItself(ctx: RequestContext, { ordering, config }: CompiledModel, survivors: readonly unknown[]): boolean {
  if (!isConversation(ctx) || ctx.operation !== 'chat') return true
  if (ordering !== 'fusion') return ordering !== 'pipeline'
  // A panel cannot call tools. With a single member there is no panel: its answer would be returned unchanged.
  return offersTools(ctx.request) ? config.judge === null : survivors.length < 2
}

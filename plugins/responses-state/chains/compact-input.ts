// POST /v1/responses/compact with `previous_response_id`: the stored conversation stands before the request's own items.
import type { PluginGateway } from '../../../core/types/plugin/plugin.ts'
import type { Parts } from '../parts.ts'
import { mentions, type Resolving } from './resolving.ts'

export function addCompactInput(
  gateway: Pick<PluginGateway, 'hook'>,
  { ids, items }: Pick<Parts, 'ids' | 'items'>,
  { upTo }: Pick<Resolving, 'upTo'>,
): void {
  gateway.hook(
    'request',
    async (ctx) => {
      const id = ctx.request.extra.previous_response_id
      if (typeof id !== 'string' || !ids.isOurs(id)) return
      const { messages, bytes } = await upTo(ctx, id)
      ctx.addedBytes += bytes
      const edited = ctx.edit()
      edited.input = [...items.write(messages), ...edited.input]
      delete edited.extra.previous_response_id
    },
    { order: 'pre', operation: 'compact', when: mentions },
  )
}

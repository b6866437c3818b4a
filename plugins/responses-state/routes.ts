// Reads and deletes stored responses. Ids that are unknown, expired, deleted or of another caller look alike.
import { z } from 'zod'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { encodeUtf8 } from '../../core/text/bytes.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { JsonObject } from '../../core/types/request/canonical.ts'
import type { RequestContext } from '../../core/types/request/context.ts'
import type { Result } from '../../core/types/request/result.ts'
import { replayed } from './answers/replay.ts'
import { followed } from './background/following.ts'
import type { Runs } from './background/runs.ts'
import { inputPage } from './input-items.ts'
import type { Parts } from './parts.ts'
import { noResponse } from './refusals.ts'
import { json } from './reply.ts'

type Caller = Pick<RequestContext, 'principal' | 'ingress'>

const ITEMS = '/input_items'
const CANCEL = '/cancel'
/** Other words after /v1/responses/ are routes, or mistakes. */
const ONE = /^resp_[\w-]{1,128}$/
const COMMON = { operation: 'responses', models: 'none', scope: 'rate' } as const

const responseObject = z.looseObject({
  id: z.string(),
  object: z.literal('response'),
  status: z.string(),
  output: z.array(z.looseObject({})),
})

export function addRoutes(
  gateway: Pick<PluginGateway, 'data' | 'clock'>,
  parts: Parts,
  running: Pick<Runs, 'stop' | 'news'>,
): void {
  const { ids, items, store, runs, events, readers, answerOf } = parts

  gateway.data({
    ...COMMON,
    method: 'GET',
    path: '/v1/responses/*',
    template: '/v1/responses/{id}',
    accepts: (rest) => ONE.test(rest),
    summary:
      'Returns a stored response. With `stream=true` it is sent as events, after the event number `starting_after` if that is given.',
    response: responseObject,
    async handler(ctx) {
      const id = lastOf(ctx)
      const query = new URLSearchParams(ctx.ingress?.query ?? '')
      const stream = flagIn(query)
      const after = sequenceIn(query, stream)
      const token = tokenOf(id)
      const answer = await current(ctx, id)
      if (!stream) return json(answer)
      const { orgId } = ctx.principal
      if (answer.background === true)
        return followed({ clock: gateway.clock, runs: running, events, orgId, token }, after, () => answerOf(readers(ctx), token))
      const frames = replayed(answer)
      // The last event has the whole response: a reader gets it also when its number counts the events of the first stream.
      return sent('text/event-stream; charset=utf-8', frames.slice(Math.min(after + 1, frames.length - 1)).join(''))
    },
  })

  gateway.data({
    ...COMMON,
    method: 'GET',
    path: '/v1/responses/resp_*',
    template: '/v1/responses/{id}/input_items',
    accepts: (rest) => rest.endsWith(ITEMS) && ONE.test(`resp_${rest.slice(0, -ITEMS.length)}`),
    summary: 'Lists the input items of a stored response.',
    response: z.object({
      object: z.literal('list'),
      data: z.array(z.looseObject({})),
      first_id: z.string().nullable(),
      last_id: z.string().nullable(),
      has_more: z.boolean(),
    }),
    async handler(ctx) {
      const id = ctx.ingress?.path.split('/').at(-2) ?? ''
      const token = tokenOf(id)
      const found = await store.response(readers(ctx), token)
      if (found === null) throw noResponse(id)
      return json({ ...inputPage(items.write(found.turn.messages), ids, token, ctx.ingress?.query ?? '') })
    },
  })

  gateway.data({
    ...COMMON,
    method: 'DELETE',
    path: '/v1/responses/*',
    template: '/v1/responses/{id}',
    accepts: (rest) => ONE.test(rest),
    summary: 'Deletes a stored response. Responses that continue it cannot be continued any more.',
    response: z.object({ id: z.string(), object: z.literal('response'), deleted: z.literal(true) }),
    async handler(ctx) {
      const id = lastOf(ctx)
      const token = tokenOf(id)
      const scope = readers(ctx)
      const isRun = await runs.remove(scope, token)
      if (isRun) {
        running.stop(token)
        await events.remove(token)
      }
      const isTurn = await store.remove(scope, token)
      if (!isRun && !isTurn) throw noResponse(id)
      return json({ id, object: 'response', deleted: true })
    },
  })

  gateway.data({
    ...COMMON,
    method: 'POST',
    path: '/v1/responses/resp_*',
    template: '/v1/responses/{id}/cancel',
    accepts: (rest) => rest.endsWith(CANCEL) && ONE.test(`resp_${rest.slice(0, -CANCEL.length)}`),
    summary: 'Cancels a response that runs in the background. One that has ended is returned as it is.',
    response: responseObject,
    async handler(ctx) {
      const id = ctx.ingress?.path.split('/').at(-2) ?? ''
      const token = tokenOf(id)
      const before = await current(ctx, id)
      if (before.background !== true)
        throw GatewayError.invalid(null, 'Only a response that was created with `background: true` can be cancelled.')
      await runs.cancel(readers(ctx), token)
      running.stop(token)
      return json(await current(ctx, id))
    },
  })

  async function current(ctx: Caller, id: string): Promise<JsonObject> {
    const answer = await answerOf(readers(ctx), tokenOf(id))
    if (answer === null) throw noResponse(id)
    return answer
  }

  /** @throws GatewayError 404 for a forged id, without a query. */
  function tokenOf(id: string): string {
    const place = ids.read(id)
    if (place?.kind !== 'resp') throw noResponse(id)
    return place.token
  }
}

function lastOf({ ingress }: Caller): string {
  return ingress?.path.split('/').at(-1) ?? ''
}

/** @throws GatewayError 400 */
function flagIn(query: URLSearchParams): boolean {
  const text = query.get('stream') ?? 'false'
  if (text !== 'true' && text !== 'false') throw GatewayError.invalid('stream', '`stream` must be `true` or `false`.')
  return text === 'true'
}

/** Returns -1 for the first event. @throws GatewayError 400 */
function sequenceIn(query: URLSearchParams, stream: boolean): number {
  const text = query.get('starting_after')
  if (text === null) return -1
  if (!stream) throw GatewayError.invalid('starting_after', '`starting_after` needs `stream=true`.')
  if (!/^\d{1,9}$/.test(text)) throw GatewayError.invalid('starting_after', '`starting_after` must be the number of an event.')
  return Number(text)
}

function sent(type: string, text: string): Result {
  return { kind: 'raw', status: 200, headers: ['content-type', type], body: encodeUtf8(text) }
}

// `background: true`: the answer is created after the request has been answered. Its id can be read, followed and cancelled at once.
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { wireBody } from '../../../core/json/wire-body.ts'
import { concatBytes, decodeUtf8 } from '../../../core/text/bytes.ts'
import type { PluginGateway } from '../../../core/types/plugin/plugin.ts'
import type { RequestContext } from '../../../core/types/request/context.ts'
import type { Result } from '../../../core/types/request/result.ts'
import { isResponses } from '../chains/resolving.ts'
import type { Parts } from '../parts.ts'
import { json } from '../reply.ts'
import { followed } from './following.ts'
import type { Runs } from './runs.ts'

const WORK_EVERY_MS = 1000

export function addBackground(
  gateway: PluginGateway,
  { ids, items, runs: store, events, ttlMs, readers, answerOf }: Parts,
  runs: Runs,
): void {
  const { clock } = gateway
  gateway.every('runs', WORK_EVERY_MS, () => runs.work())
  gateway.hook(
    'answer',
    async (ctx): Promise<Result> => {
      if (ctx.member('store') === false)
        throw GatewayError.invalid('store', '`background` needs a stored response: leave `store` out, or set it to `true`.')
      const token = ids.token()
      const id = ids.response(token)
      const now = clock.now()
      const { request, principal } = ctx as RequestContext<'chat'>
      const pending = items.pending(request, id, ctx.requestedModel, now)
      const previous = ctx.member('previous_response_id') ?? null
      const head = { ...pending, background: true, store: true, previous_response_id: previous as string | null }
      const { orgId, keyId } = principal
      await store.create({ token, orgId, keyId, request: streamed(ctx), head, createdAt: now, expiresAt: now + ttlMs })
      // The run is the gateway's own work: it does not belong to this request.
      void gateway.detached(runs.work)()
      if (!ctx.stream) return json(head)
      const read = async () => (await store.find(readers(ctx), token)) && (await answerOf(readers(ctx), token))
      return followed({ clock, runs, events, orgId, token }, -1, read)
    },
    { order: 'pre', when: (ctx) => isResponses(ctx) && ctx.operation === 'chat' && ctx.member('background') === true },
  )
}

/** The request of the run. Spliced, so that all other members stay as they were sent. */
function streamed({ rawBody }: RequestContext): string {
  const body = wireBody(rawBody as Uint8Array)
  body.remove('background')
  body.set('stream', true)
  return decodeUtf8(concatBytes(body.toBytes()))
}

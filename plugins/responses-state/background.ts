// `background: true`: the answer is created after the request has been answered. Its id can be read, followed and cancelled at once.
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { wireBody } from '../../core/json/wire-body.ts'
import { concatBytes, decodeUtf8 } from '../../core/text/bytes.ts'
import type { JsonObject } from '../../core/types/canonical.ts'
import type { RequestContext } from '../../core/types/context.ts'
import type { PluginGateway } from '../../core/types/plugin.ts'
import type { ByteSource, Clock } from '../../core/types/ports.ts'
import type { Result } from '../../core/types/result.ts'
import type { Parts } from './parts.ts'
import { frameOf, replayedRest } from './replay.ts'
import { json } from './reply.ts'
import { isResponses } from './resolving.ts'
import type { Runs } from './runs.ts'

const WORK_EVERY_MS = 1000

export function addBackground(
  gateway: PluginGateway,
  { ids, items, runs: store, ttlMs, readers, answerOf }: Parts,
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
      await store.create({ token, orgId, keyId, request: withoutBackground(ctx), head, createdAt: now, expiresAt: now + ttlMs })
      // The run is the gateway's own work: it does not belong to this request.
      void gateway.detached(runs.work)()
      if (!ctx.stream) return json(head)
      return followed(clock, -1, async () => (await store.find(readers(ctx), token)) && (await answerOf(readers(ctx), token)))
    },
    { order: 'pre', when: (ctx) => isResponses(ctx) && ctx.operation === 'chat' && ctx.member('background') === true },
  )
}

/** Splices, so that all other members stay as they were sent. */
function withoutBackground({ rawBody }: RequestContext): string {
  const body = wireBody(rawBody as Uint8Array)
  body.remove('background')
  body.remove('stream')
  return decodeUtf8(concatBytes(body.toBytes()))
}

const POLL_MS = 250
const PING_MS = 15_000

/**
 * Returns a stream of the run's events until it has ended. `after`: events up to this number are left out. `read` returns the response as it
 * is now.
 */
export function followed(clock: Clock, after: number, read: () => Promise<JsonObject | null | undefined>): Result {
  let isCancelled = false
  const body: ByteSource = {
    async pump(sink) {
      let sequence = 0
      let hasStarted = false
      let quietSince = clock.monotonic()
      const put = (frames: readonly string[], isLast = false): void => {
        const text = frames.filter((_, index) => sequence + index > after || (isLast && index === frames.length - 1)).join('')
        sequence += frames.length
        quietSince = clock.monotonic()
        if (text !== '') sink.write(text)
      }
      for (let response = await read(); !isCancelled; response = await read()) {
        if (response === null || response === undefined) return
        const { status } = response
        if (sequence === 0) {
          const queued = { ...response, status: 'queued', output: [], usage: null, completed_at: null, error: null }
          put(['response.created', 'response.queued'].map((type, at) => frameOf(type, at, { response: queued })))
        }
        if (!hasStarted && status !== 'queued') {
          hasStarted = true
          const started = { ...response, status: 'in_progress', output: [], usage: null, completed_at: null, error: null }
          put([frameOf('response.in_progress', sequence, { response: started })])
        }
        if (status !== 'queued' && status !== 'in_progress') return put(replayedRest(response, sequence), true)
        if (clock.monotonic() - quietSince >= PING_MS) {
          quietSince = clock.monotonic()
          sink.write(': ping\n\n')
        }
        await sink.drained()
        await clock.sleep(POLL_MS)
      }
    },
    cancel() {
      isCancelled = true
    },
  }
  return { kind: 'raw', status: 200, headers: [], body }
}

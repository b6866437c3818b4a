// Keeps a reference to the answer of each request while it runs. After the answer was sent, a draw decides which requests become samples;
// the others are forgotten at once. Samples are read, sealed and written later, behind a bounded queue.
import { BatchWriter } from '../../core/db/batch-writer.ts'
import { collector } from '../../core/stream/collect.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { CanonicalResponse } from '../../core/types/request/answer.ts'
import type { Frozen } from '../../core/types/request/canonical.ts'
import type { Outcome, RequestContext, Slot, Step } from '../../core/types/request/context.ts'
import type { StreamEvent } from '../../core/types/request/stream.ts'
import type { Challengers } from './challenger.ts'
import { answerOf, MAX_CHARS, replayOf } from './sample.ts'
import { placeOf, type SampleStore } from './store.ts'

/** State of one request: how its answer is read, or that it must not be sampled. */
export type Captured = { readonly response: () => Frozen<CanonicalResponse> } | 'omitted'

export interface CaptureSources {
  readonly gateway: PluginGateway
  readonly slot: Slot<Captured>
  readonly store: SampleStore
  readonly challengers: Challengers
  readonly ttlMs: number
  /** Whether samples are taken of this request, were it drawn. */
  takes(ctx: RequestContext): boolean
  /** Draws after the answer. */
  drawn(): boolean
}

interface Drawn {
  readonly ctx: RequestContext<'chat'>
  readonly step: Step
  readonly response: () => Frozen<CanonicalResponse>
}

/** Samples in memory, and their bytes. More are not taken. */
const MAX_QUEUED = 100
const MAX_QUEUED_BYTES = 8 << 20
/** Samples that wait for their replay. More are not taken. */
const MAX_WAITING = 1000
/** In these strategies several models answer together. */
const COMBINING: ReadonlySet<string> = new Set(['fusion', 'pipeline'])
/** A request with this header is not sampled, unless it says so. */
const HEADER = 'x-gateway-shadow'
const SAMPLED: ReadonlySet<string> = new Set(['', 'on', 'true', '1'])

export function captureSamples({ gateway, slot, store, challengers, ttlMs, takes, drawn }: CaptureSources): () => Promise<void> {
  const { clock, log, vault } = gateway
  const writer = new BatchWriter<Drawn>({
    name: 'shadow samples',
    clock,
    log,
    detached: gateway.detached,
    maxQueuedRows: MAX_QUEUED,
    maxQueuedBytes: MAX_QUEUED_BYTES,
    async write(all) {
      let room = MAX_WAITING - (await store.waiting())
      for (const one of all) {
        if (room <= 0) return
        // Requests get their turn in between.
        await new Promise<void>((resolve) => setImmediate(resolve))
        if (await written(one)) room--
      }
    },
  })
  const when = (ctx: RequestContext): boolean =>
    ctx.ingress !== null && takes(ctx) && slot.get(ctx) !== 'omitted' && !isOmitted(ctx)

  gateway.hook(
    'call',
    (ctx, next) =>
      next().then((result) => {
        // An answer of one piece is decoded on first use, which is after the draw.
        if (result.kind === 'full') slot.set(ctx, { response: () => result.response as Frozen<CanonicalResponse> })
        return result
      }),
    { operation: 'chat', order: 'pre', onError: 'open', when },
  )
  gateway.hook(
    'stream',
    (ctx) => {
      let whole: ReturnType<typeof collector> | null = collector()
      let chars = 0
      slot.set(ctx, {
        response() {
          if (whole === null) throw new Error('The answer is too long for a sample.')
          return whole.response()
        },
      })
      return {
        passive: true,
        event(event: StreamEvent) {
          if (whole === null) return
          if (event.e === 'part_stop') chars += 'text' in event.full ? event.full.text.length : 0
          if (chars > MAX_CHARS) whole = null
          else whole.event(event)
        },
      }
    },
    { order: 'post', onError: 'open', when },
  )
  gateway.hook(
    'settled',
    (ctx, outcome) => {
      const captured = slot.get(ctx)
      if (captured === undefined || captured === 'omitted') return
      slot.set(ctx, 'omitted')
      const step = stepOf(ctx, outcome)
      if (step === null || ctx.notes?.guardrails !== undefined || !drawn()) return
      const held = { ctx: ctx as RequestContext<'chat'>, step, response: captured.response }
      writer.push(held, 2 * ctx.bodyBytes + 4 * outcome.usage.outputTotal)
    },
    { onError: 'open' },
  )

  async function written({ ctx, step, response }: Drawn): Promise<boolean> {
    try {
      const challenger = challengers.of(ctx, step)
      const answer = challenger === null ? null : answerOf(response())
      const request = challenger === null || answer === null ? null : replayOf(ctx.request, challenger.maxOutputTokens)
      if (challenger === null || request === null) return false
      const text = JSON.stringify({ request, answer })
      if (text.length > MAX_CHARS) return false
      const { orgId, keyId } = ctx.principal
      const { provider, model, connectionId } = challenger.target
      await store.insert({
        orgId,
        keyId,
        userId: ctx.userId,
        requestId: ctx.id,
        at: ctx.startedAt,
        virtualModel: ctx.virtualModel,
        servedModel: `${step.provider}/${step.model}`,
        servedCostNano: step.costNano ?? 0,
        challenger: `${provider}/${model}`,
        challengerConnection: connectionId,
        sealed: await vault.seal(text, placeOf(ctx.id, orgId)),
        expiresAt: clock.now() + ttlMs,
      })
      return true
    } catch (error) {
      log.warn('shadow.not_sampled', { request: ctx.id, error: error instanceof Error ? error.name : 'unknown' })
      return false
    }
  }

  return () => writer.close()
}

/** The one call that answered; null: there was none, or several answered together. */
function stepOf({ plan }: RequestContext, { status, aborted, cached, error, steps }: Outcome): Step | null {
  if (status < 200 || status > 299 || aborted || cached !== false || error !== undefined) return null
  const [step] = steps
  return steps.length !== 1 || step === undefined || COMBINING.has(plan?.strategy ?? '') ? null : step
}

function isOmitted({ headers }: RequestContext): boolean {
  const said = headers.get(HEADER)?.trim().toLowerCase() ?? 'on'
  return !SAMPLED.has(said)
}

// Serves one request with the cache: it gets a cached answer, waits for an equal request, or calls upstream and stores its answer.
import { isConversation } from '../../core/calls/conversation.ts'
import { callOf } from '../../core/records/cached-call.ts'
import type { Clock, Logger } from '../../core/types/ports/ports.ts'
import type { RequestContext, Slot } from '../../core/types/request/context.ts'
import type { Result } from '../../core/types/request/result.ts'
import type { DirectiveReader } from './cache-directives.ts'
import { isComplete } from './complete-answer.ts'
import { isFresh, type KeptAnswer } from './kept-answer.ts'
import { bodyForm, changedForm, editedForm, keyOf } from './key.ts'
import type { MemoryStore } from './memory-store.ts'
import type { CacheLookup, CachePolicyService } from './service.ts'
import type { SharedStore } from './shared-store.ts'
import { type Flights, followed, type Landing } from './singleflight.ts'
import type { EndTurn, WorkerFlights } from './worker-flights.ts'

export interface AnsweringSources {
  readonly clock: Clock
  readonly log: Logger
  readonly memory: MemoryStore
  /** null: no store is shared between replicas. */
  readonly shared: SharedStore | null
  readonly flights: Flights
  /** null: no other worker serves this address. */
  readonly workers: WorkerFlights | null
  readonly directives: DirectiveReader
  readonly policy: CachePolicyService
  readonly lookups: Slot<CacheLookup>
  mac(data: string): string
  /** Returns ms; 0 = off. */
  ttlOf(ctx: RequestContext): number
  /** Returns a number in [0, 1). */
  random(): number
  counted(result: 'hit' | 'followed' | 'miss'): void
}

/** This worker's turn to answer, among the workers of one address. */
interface Turn {
  end: EndTurn
  /** The request has ended. */
  over: boolean
}

/** Largest request body to cache: the key needs the parsed body. */
const MAX_BODY_BYTES = 4 * 1024 * 1024
/** Headers that change a vendor's behaviour. */
const HEADERS = ['anthropic-version', 'anthropic-beta', 'openai-beta']

export function answering(sources: AnsweringSources): (ctx: RequestContext) => Promise<Result | undefined> {
  const { clock, log, memory, shared, flights, workers, directives, policy, lookups } = sources

  return async (ctx) => {
    const body = ctx.rawBody
    if (body === null || body.length > MAX_BODY_BYTES || directives.bypassed(ctx)) return undefined
    const lifetime = sources.ttlOf(ctx)
    const size = directives.bucketSizeOf(ctx)
    const key = keyFor(ctx, body)
    const fresh = (kept: KeptAnswer | null | undefined): kept is KeptAnswer => !!kept && isFresh(kept, lifetime, clock.now())
    const full = (): Result | undefined => {
      const bucket = memory.find(key)
      const index = Math.min(Math.floor(sources.random() * size), size - 1)
      const kept = bucket[index]
      if (kept === undefined || firstFree(bucket, size, fresh) !== -1) return undefined
      sources.counted('hit')
      return given(ctx, kept, index)
    }
    const known = full()
    if (known !== undefined) return known

    // With several answers per key, each request calls upstream itself.
    let flight = size === 1 ? flights.running(key) : undefined
    while (flight !== undefined) {
      const landed = await followed(flight, ctx, clock, lifetime)
      if (landed !== 'left' && fresh(landed)) {
        sources.counted('followed')
        return given(ctx, landed, 0)
      }
      if (ctx.signal.aborted) throw ctx.signal.reason
      // Another request may have stored its answer meanwhile.
      const meanwhile = full()
      if (meanwhile !== undefined) return meanwhile
      if (landed !== 'left') break
      // The first of the waiting requests becomes the leader; the others wait for it.
      flight = flights.running(key)
    }
    const leads = flight === undefined && size === 1
    const land = leads ? flights.lead(key) : LEADS_NONE
    const turn: Turn = { end: LEADS_NONE, over: false }
    // Runs on every exit, so that no follower waits forever.
    ctx.hold({
      settle: ({ aborted }) => {
        land(aborted ? 'left' : null)
        turn.over = true
        turn.end(aborted ? 'left' : 'none')
      },
    })
    if (shared !== null) {
      const fetched = async () => {
        await fetchShared(shared, ctx, key, size, fresh)
        return fresh(memory.find(key)[0])
      }
      if (leads && workers !== null) turn.end = (await workers.turn(key, ctx, lifetime, fetched)) ?? LEADS_NONE
      if (turn.over) turn.end('left')
      await fetchShared(shared, ctx, key, size, fresh)
      const found = full()
      if (found !== undefined) {
        land(memory.find(key)[0] ?? null)
        turn.end('kept')
        return found
      }
    }
    sources.counted('miss')
    const index = Math.max(0, firstFree(memory.find(key), size, fresh))
    lookups.set(ctx, { hit: false, bucketIndex: index })
    capture(ctx, key, index, lifetime, land, turn)
    return undefined
  }

  function keyFor(ctx: RequestContext, body: Uint8Array): string {
    const { seed = '', ignoreKeys } = directives.of(ctx)
    const { orgId, keyId } = ctx.principal
    const scope = {
      orgId,
      keyId,
      operation: ctx.operation,
      dialect: ctx.dialect,
      form: isEmbeddings(ctx) ? ctx.request.caller : '',
      model: ctx.requestedModel,
      policy: policy.of(ctx),
      seed,
      headers: HEADERS.map((name) => ctx.headers.get(name)),
      edited: ctx.edited,
    }
    const text = !ctx.edited
      ? bodyForm(body, ignoreKeys)
      : isConversation(ctx)
        ? editedForm(ctx.request, ignoreKeys)
        : changedForm(ctx.request, ignoreKeys)
    return keyOf((data) => sources.mac(data), scope, text)
  }

  function given(ctx: RequestContext, { body, contentType, call }: KeptAnswer, bucketIndex: number): Result {
    ctx.cached = 'exact'
    ctx.cachedCall = call
    lookups.set(ctx, { hit: true, bucketIndex })
    return { kind: 'raw', status: 200, headers: ['content-type', contentType], body }
  }

  /** Copies answers of other replicas into this process's memory. */
  async function fetchShared(
    from: SharedStore,
    ctx: RequestContext,
    key: string,
    size: number,
    fresh: (kept: KeptAnswer | undefined) => boolean,
  ): Promise<void> {
    for (;;) {
      const index = firstFree(memory.find(key), size, fresh)
      if (index === -1) return
      const found = await from.find(ctx.principal.orgId, key, index).catch((error: unknown) => {
        log.warn('exact_cache.read_failed', { error: String(error) })
        return undefined
      })
      if (found === undefined || !fresh(found)) return
      memory.keep(key, index, found)
    }
  }

  /** Captures the sent answer, and stores it when the request has succeeded. */
  function capture(
    ctx: RequestContext,
    key: string,
    index: number,
    ttlMs: number,
    land: (landing: Landing) => void,
    turn: Turn,
  ): void {
    let sent: Pick<KeptAnswer, 'contentType' | 'body'> | null = null
    ctx.tap(({ status, headers, body }) => {
      if (status === 200) sent = { contentType: contentTypeIn(headers), body }
    })
    ctx.hold({
      settle(outcome) {
        const call = callOf(ctx, outcome, clock.now())
        if (sent === null || call === null || directives.of(ctx).noStore === true || !isComplete(ctx, sent.body)) return
        // A copy, because the bytes may be a small part of a large buffer.
        const answer = { ...sent, body: new Uint8Array(sent.body), at: call.at, ttlMs, call }
        memory.keep(key, index, answer)
        land(answer)
        // It ends when the others can find the answer.
        const { end } = turn
        turn.end = LEADS_NONE
        shared?.keep(ctx.principal.orgId, key, index, answer).then(
          () => end('kept'),
          (error: unknown) => {
            end('none')
            log.warn('exact_cache.write_failed', { error: String(error) })
          },
        )
      },
    })
  }
}

/** Returns the first free place of a bucket; -1: it is full. */
function firstFree(
  bucket: readonly (KeptAnswer | undefined)[],
  size: number,
  fresh: (kept: KeptAnswer | undefined) => boolean,
): number {
  for (let index = 0; index < size; index++) if (!fresh(bucket[index])) return index
  return -1
}

function contentTypeIn(headers: readonly string[]): string {
  const at = headers.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === 'content-type')
  return at === -1 ? 'application/json; charset=utf-8' : (headers[at + 1] as string)
}

const LEADS_NONE = (): void => {}

function isEmbeddings(ctx: RequestContext): ctx is RequestContext<'embeddings'> {
  return ctx.operation === 'embeddings'
}

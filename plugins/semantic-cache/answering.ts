// Serves one request with the cache: it returns the stored answer of a similar question, or stores the new answer. For a sample of the
// hits it does both and compares the two.
import { randomId } from '../../core/ids/ids.ts'
import { replaySource } from '../../core/pipeline/whole-answer.ts'
import { callOf } from '../../core/records/cached-call.ts'
import { collector } from '../../core/stream/collect.ts'
import type { Clock, Logger, Vault, VectorStore } from '../../core/types/ports/ports.ts'
import type { CanonicalResponse } from '../../core/types/request/answer.ts'
import type { Frozen } from '../../core/types/request/canonical.ts'
import type { Outcome, RequestContext, Slot, Target } from '../../core/types/request/context.ts'
import type { Result } from '../../core/types/request/result.ts'
import type { StreamTransform } from '../../core/types/request/stream.ts'
import type { EmbedModel } from './embedder.ts'
import { agree, type KeptText, keptOf, readKept, responseOf } from './kept-text.ts'
import { promptOf, scopeOf } from './prompt.ts'
import type { Route, Routes } from './routes.ts'

/** A request whose answer will be stored. */
export interface Pending {
  readonly by: EmbedModel
  /** The policy version at the look-up, which also applies to the answer. */
  readonly policy: string
  readonly vector: Float32Array
  /** The stored answer, when this request is a sample. */
  readonly sampled: { readonly kept: KeptText; readonly route: Route } | null
  response: (() => Frozen<CanonicalResponse>) | null
}

export interface AnsweringSources {
  readonly clock: Clock
  readonly log: Logger
  readonly vault: Pick<Vault, 'mac' | 'seal' | 'open'>
  readonly vectors: VectorStore
  readonly routes: Routes
  /** Returns one vector of length 1 per text; null when there are none. */
  embed(ctx: RequestContext, by: EmbedModel, texts: readonly string[]): Promise<readonly Float32Array[] | null>
  readonly pending: Slot<Pending>
  readonly ttlMs: number
  /** Fraction of the hits that are answered by the model and compared. */
  readonly revalidateRate: number
  /** Returns a number in [0, 1). */
  random(): number
  /** Returns null when the cache is off for this organization. */
  modelFor(orgId: number | null): EmbedModel | null
  policyOf(ctx: RequestContext): string
  /** Returns ms: the maximum accepted age, and the lifetime of its own answer; Infinity when not set. */
  maxAgeOf(ctx: RequestContext): number
  bypassed(ctx: RequestContext): boolean
  noStore(ctx: RequestContext): boolean
  counted(result: 'hit' | 'sampled' | 'miss'): void
  /** Runs work after the answer. */
  behind(work: Promise<void>): void
}

/** In these strategies several models answer together, and none of their scopes fits the answer. */
const COMBINING: ReadonlySet<string> = new Set(['fusion', 'pipeline'])
/** The computed cosine of 32-bit numbers at exactly the threshold is a little too low. */
const ROUNDING = 1e-6

export function answering(sources: AnsweringSources) {
  const { clock, log, vault, vectors, routes, pending } = sources
  const mac = (data: string) => vault.mac('scope', data)
  const scopeAt = (
    ctx: RequestContext<'chat'>,
    target: Pick<Target, 'provider' | 'model'>,
    { name }: EmbedModel,
    policy: string,
  ) => scopeOf(ctx, target, policy, name, mac)

  return {
    async answer(ctx: RequestContext<'chat'>): Promise<Result | undefined> {
      const by = sources.modelFor(ctx.principal.orgId)
      const target = ctx.plan?.targets[0]
      if (by === null || target === undefined || COMBINING.has(ctx.plan?.strategy ?? '') || sources.bypassed(ctx))
        return undefined
      const prompt = promptOf(ctx.request)
      if (prompt === null) return undefined
      const { provider, model } = target
      const policy = sources.policyOf(ctx)
      const route = routes.of({ ...orgAndKey(ctx), provider, model })
      if (!routes.usable(route)) return undefined
      const [vector] = (await sources.embed(ctx, by, [prompt])) ?? []
      if (ctx.signal.aborted) throw ctx.signal.reason
      if (vector === undefined) return undefined
      const found = await nearest(ctx, scopeAt(ctx, target, by, policy), vector)
      const like = found !== null && found.similarity + ROUNDING >= thresholdOf(ctx, route) ? found : null
      const hit = like !== null && clock.now() - like.kept.call.at < sources.maxAgeOf(ctx) ? like : null
      const sampled = hit !== null && sources.random() < sources.revalidateRate ? { kept: hit.kept, route } : null
      if (hit === null || sampled !== null) {
        sources.counted(sampled === null ? 'miss' : 'sampled')
        if (sampled === null) route.misses++
        expect(ctx, { by, policy, vector, sampled, response: null })
        return undefined
      }
      route.hits++
      sources.counted('hit')
      return given(ctx, hit.kept, hit.similarity)
    },

    /** For the hook `stream`: watches the answer to the caller. */
    watch(ctx: RequestContext): StreamTransform | undefined {
      const waiting = pending.get(ctx)
      if (waiting === undefined) return undefined
      const whole = collector()
      waiting.response = whole.response
      return { passive: true, event: whole.event }
    },

    /** For the hook `response`. */
    see(ctx: RequestContext, response: Frozen<CanonicalResponse>): undefined {
      const waiting = pending.get(ctx)
      if (waiting !== undefined) waiting.response = () => response
    },
  }

  function given(ctx: RequestContext, kept: KeptText, similarity: number): Result {
    ctx.cached = 'semantic'
    ctx.cachedCall = kept.call
    ctx.responseHeaders.set('x-gateway-cache-similarity', Math.min(similarity, 1).toFixed(3))
    const response = responseOf(kept)
    return ctx.stream ? { kind: 'stream', source: replaySource(response) } : { kind: 'full', response }
  }

  async function nearest(ctx: RequestContext, scope: string, vector: Float32Array) {
    try {
      const match = await vectors.nearest(scope, vector)
      if (match === undefined) return null
      const { id, value, similarity } = match
      return { similarity, kept: readKept(await vault.open(value, place(scope, id, ctx))) }
    } catch (error) {
      log.warn('semantic_cache.read_failed', { error: String(error) })
      return null
    }
  }

  /** Stores the answer when the request has succeeded. */
  function expect(ctx: RequestContext<'chat'>, waiting: Pending): void {
    pending.set(ctx, waiting)
    ctx.hold({ settle: (outcome) => sources.behind(keep(ctx, waiting, outcome)) })
  }

  async function keep(
    ctx: RequestContext<'chat'>,
    { by, policy, vector, sampled, response }: Pending,
    outcome: Outcome,
  ): Promise<void> {
    const call = callOf(ctx, outcome, clock.now())
    const target = ctx.candidate?.target
    if (call === null || target === undefined || response === null) return
    try {
      const kept = keptOf(response(), call)
      if (kept === null) return
      // Under the target that answered, which may differ from the one of the look-up.
      if (!sources.noStore(ctx)) await store(ctx, scopeAt(ctx, target, by, policy), vector, kept)
      if (sampled === null) return
      const agreed = await agree(sampled.kept.text, kept.text, (texts) => sources.embed(ctx, by, texts))
      if (agreed !== null) routes.compared(sampled.route, agreed)
    } catch (error) {
      log.warn('semantic_cache.write_failed', { error: String(error) })
    }
  }

  async function store(ctx: RequestContext, scope: string, vector: Float32Array, kept: KeptText): Promise<void> {
    const id = randomId('', 16)
    const value = await vault.seal(JSON.stringify(kept), place(scope, id, ctx))
    await vectors.add(scope, { id, vector, value, expiresAt: clock.now() + Math.min(sources.ttlMs, sources.maxAgeOf(ctx)) })
  }
}

function orgAndKey({ principal: { orgId, keyId } }: RequestContext) {
  return { orgId, keyId }
}

function place(scope: string, id: string, { principal: { orgId } }: RequestContext) {
  return { table: 'semantic_cache', id: `${scope}:${id}`, column: 'answer', orgId }
}

/** A caller may require more similarity than the route, never less. */
function thresholdOf({ headers }: RequestContext, { threshold }: Route): number {
  const asked = Number(headers.get('x-gateway-cache-threshold') ?? Number.NaN)
  return asked > threshold && asked <= 1 ? asked : threshold
}

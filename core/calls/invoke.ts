// Makes internal calls (a panel, a judge, an embedder, a probe). With a parent they are steps of its request and settle with it. Without
// one they settle on their own under their source.
import { GatewayError } from '../errors/gateway-error.ts'
import { headerBag } from '../http/headers.ts'
import { RequestState } from '../pipeline/context.ts'
import { execute } from '../pipeline/executor.ts'
import { resolve } from '../pipeline/pipeline.ts'
import type { Runtime } from '../pipeline/runtime.ts'
import { settle } from '../pipeline/settle.ts'
import { stagedSink, stagesOf, transformed } from '../pipeline/staged-sink.ts'
import { finalUsage, ownStep } from '../pipeline/steps.ts'
import { answerFacts } from '../pipeline/whole-answer.ts'
import type { InvokeOptions } from '../types/plugin/plugin.ts'
import type { CanonicalRequest } from '../types/request/canonical.ts'
import type { Step } from '../types/request/context.ts'
import type { Result } from '../types/request/result.ts'

/** Returns the result of an internal call. @throws the GatewayError that a data-plane caller would get. */
export async function invoke(common: Runtime, request: CanonicalRequest, options: InvokeOptions): Promise<Result> {
  const parent = (options.parent ?? null) as RequestState | null
  const transport = parent?.generation.transport
  const runtime: Runtime = transport === undefined ? common : Object.create(common, { transport: { value: transport } })
  // Overload does not refuse a step of an admitted request.
  if (parent === null) runtime.overload.refuseBatch()
  const ctx = childContext(runtime, request, options, parent)
  if (parent !== null) {
    parent.calls ??= new Set()
    parent.calls.add(ctx)
  }
  const unbind = [
    parent?.onStop((reason) => ctx.stop(reason)),
    onAbort(options.signal, () => ctx.stop(GatewayError.clientGone())),
  ]
  const done = (status: number, error: GatewayError | null): void => {
    for (const off of unbind) off?.()
    parent?.calls?.delete(ctx)
    if (parent === null) {
      const outcome = settle(runtime, ctx, { status, error, firstByteAt: null })
      options.settled?.(outcome)
    } else for (const step of stepsOf(runtime, ctx, status, error)) parent.steps.push({ ...step, index: parent.steps.length })
  }
  try {
    const { target } = options
    ctx.plan = target ? { targets: [target], strategy: 'direct', virtualModel: null } : await resolve(ctx)
    const result = await execute(runtime, ctx).finally(() => {
      for (const attempt of ctx.attempts) if (options.role) attempt.role = options.role
      parent?.adopt(ctx.attempts, options.target)
    })
    if (options.warns === true && ctx.warnings !== '') for (const slug of ctx.warnings.split(',')) parent?.warn(slug)
    if (result.kind === 'stream') return { kind: 'stream', source: settlingSource(result.source, ctx, done) }
    return await whole(ctx, result, done)
  } catch (thrown) {
    const error = GatewayError.from(thrown)
    done(error.status, error)
    throw error
  }
}

function childContext(
  runtime: Runtime,
  request: CanonicalRequest,
  options: InvokeOptions,
  parent: RequestState | null,
): RequestState {
  const ctx = new RequestState({
    ingress: null,
    generation: parent?.generation ?? runtime.generation,
    slotCount: runtime.slotCount,
    operation: options.operation,
    dialect: request.source,
    headers: headerBag(),
    now: runtime.clock.now(),
    monotonic: runtime.clock.monotonic(),
    source: options.source,
    parent,
  })
  ctx.decode = () => request
  ctx.stream = request.stream
  ctx.requestedModel = request.model
  if (parent !== null)
    Object.assign(ctx, {
      principal: parent.principal,
      costCenter: parent.costCenter,
      sessionId: parent.sessionId,
      userId: parent.userId,
    })
  else ctx.principal = { ...ctx.principal, orgId: options.orgId ?? null }
  return ctx
}

async function whole(ctx: RequestState, result: Result, done: (status: number, error: null) => void): Promise<Result> {
  let answer = result
  if (result.kind === 'full') {
    const { hooks } = ctx
    ctx.facts ??= answerFacts(result.response)
    if (!transformed.has(result) && hooks.response !== null && hooks.applies('response', ctx)) {
      const response = await hooks.response(ctx, result.response)
      if (response !== result.response) answer = { kind: 'full', response }
    }
    transformed.add(answer)
  }
  done(200, null)
  return answer
}

type StreamResult = Extract<Result, { kind: 'stream' }>

/** Runs the child's own stream hooks around its answer. The child settles when its stream ends. */
function settlingSource(
  source: StreamResult['source'],
  ctx: RequestState,
  done: (status: number, error: GatewayError | null) => void,
): StreamResult['source'] {
  ctx.facts = source.facts
  const own = source.lane === 'events' && !transformed.has(source)
  try {
    // When a factory refuses, the call fails before the stream starts.
    if (own) stagesOf(ctx)
  } catch (thrown) {
    source.cancel(GatewayError.from(thrown))
    throw thrown
  }
  let ended = false
  const end = (): void => {
    if (ended) return
    ended = true
    done(200, source.facts.error === null ? null : GatewayError.from(source.facts.error))
  }
  const settling: StreamResult['source'] = {
    lane: source.lane,
    facts: source.facts,
    async pump(sink) {
      const staged = own ? stagedSink(ctx, sink, (error) => source.cancel(error)) : null
      await source.pump(staged ?? sink)
      if (staged !== null) {
        if (source.facts.error === null) await staged.ready()
        await staged.settled()
        source.facts.error ??= staged.failure
      }
      end()
    },
    cancel(reason = GatewayError.clientGone()) {
      ctx.stop(reason)
      source.cancel(reason)
      // The parent may not have read the stream.
      end()
    },
    ...(source.errorFrame ? { errorFrame: (error) => source.errorFrame?.(error) ?? '' } : {}),
  }
  transformed.add(settling)
  return settling
}

function stepsOf(runtime: Runtime, ctx: RequestState, status: number, error: GatewayError | null): readonly Step[] {
  const cutShort = status === 200 && error !== null
  const own = ownStep(runtime, ctx, finalUsage(ctx, cutShort), cutShort ? (error.status === 499 ? 499 : 502) : status)
  return own === null ? ctx.steps : [...ctx.steps, own]
}

function onAbort(signal: AbortSignal | undefined, fn: () => void): (() => void) | undefined {
  if (signal === undefined) return undefined
  if (signal.aborted) fn()
  signal.addEventListener('abort', fn, { once: true })
  return () => signal.removeEventListener('abort', fn)
}

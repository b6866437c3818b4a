// Runs one request through all its stages, from ingress to settled. A stage without hooks is null. Every path ends in settle().
import { GatewayError } from '../errors/gateway-error.ts'
import { kindOf, ROUTE_RETURN } from '../hooks/returned.ts'
import { dialectOfPath, type MatchedRoute } from '../http/data-routes.ts'
import { requestId } from '../ids/ids.ts'
import { errorText } from '../text/error-text.ts'
import type { Ticking } from '../timing/ticker.ts'
import { LARGE_BODY } from '../timing/yield-queue.ts'
import type { GatewayErrorShape } from '../types/error.ts'
import type { DataRoute } from '../types/plugin/plugin.ts'
import type { Ingress, Sink } from '../types/ports/ports.ts'
import type { Awaitable } from '../types/request/canonical.ts'
import type { Outcome, Plan } from '../types/request/context.ts'
import type { Result } from '../types/request/result.ts'
import { authenticate, largeBody, smallBody, takeBody } from './admission.ts'
import { codecContextOf } from './call-state.ts'
import { RequestState } from './context.ts'
import { sendResult } from './egress.ts'
import { execute } from './executor.ts'
import { isForm, takeForm } from './operations/ingress.ts'
import { ReplyWriter } from './reply.ts'
import { driver, type Runtime } from './runtime.ts'
import { beforeEstimate, settle } from './settle.ts'
import { RequestUnit } from './unit.ts'

/** Serves one exchange. Never rejects; resolves when the exchange is settled, with null when no route took it. */
export async function runExchange(runtime: Runtime, ingress: Ingress, sink: Sink): Promise<Outcome | null> {
  const { crossOrigin } = runtime
  const startedAt = runtime.clock.monotonic()
  const reply = new ReplyWriter(runtime, sink, startedAt, crossOrigin.on ? crossOrigin.headersFor(ingress.headers) : null)
  let route: MatchedRoute
  try {
    if (ingress.refusal) throw ingress.refusal
    const preflight = crossOrigin.on ? crossOrigin.preflight(ingress) : null
    if (preflight !== null) {
      reply.empty(204, preflight, dialectOfPath(ingress.path), requestId())
      return null
    }
    if (runtime.overload.level > 0) runtime.overload.admit(ingress.headers)
    route = runtime.routes.match(ingress)
  } catch (error) {
    refuseUnrouted(reply, ingress, sink, error)
    return null
  }
  const ctx = contextFor(runtime, ingress, route, startedAt)
  const ticket = runtime.active.add(ctx)
  sink.onGone(() => ctx.stop(GatewayError.clientGone()))
  let error: GatewayErrorShape | null = null
  let outcome: Outcome
  try {
    const result = (await prepare(runtime, ctx, route, ingress, reply)) ?? (await dispatch(runtime, ctx))
    const sending = sendResult(runtime, ctx, result, reply)
    if (sending) await sending
    error = ctx.facts?.error ?? null
  } catch (thrown) {
    error = concluded(runtime, ctx, reply, thrown)
  } finally {
    if (ctx.ticking !== null) runtime.ticker.remove(ctx.ticking)
    const parsing = beforeEstimate(runtime, ctx)
    if (parsing) await parsing
    runtime.active.remove(ticket)
    outcome = settle(runtime, ctx, { status: reply.status || (error?.status ?? 499), error, firstByteAt: reply.firstByteAt })
  }
  return outcome
}

/**
 * ingress → authenticate → body → access → resolve → request → answer → admit → reserve. When it returns a result, no upstream is called.
 */
async function prepare(
  runtime: Runtime,
  ctx: RequestState,
  route: MatchedRoute,
  ingress: Ingress,
  reply: ReplyWriter,
): Promise<Result | null> {
  const { hooks } = ctx
  if (hooks.ingress !== null) {
    const entering = hooks.ingress(ctx)
    if (entering) await entering
  }
  const authenticating = authenticate(runtime, ctx)
  if (authenticating) await authenticating
  if (ingress.method !== 'GET') {
    if (isForm(route, ingress)) await receiveForm(runtime, ctx, route, ingress)
    else {
      const bytes = ingress.received?.(route.bodyLimit) ?? (await receive(runtime, ctx, route, ingress))
      // A route that declares no body, such as a cancellation, may be called without one.
      if (bytes.length > 0 || route.dataRoute === null || route.dataRoute.body !== undefined) {
        const body = bytes.length > LARGE_BODY ? await largeBody(runtime, bytes) : smallBody(runtime, bytes)
        takeBody(runtime, ctx, route, ingress, body)
      }
    }
  }
  // Only streams get heartbeats, and only streams can stall.
  if (ctx.stream) ctx.ticking = runtime.ticker.add(new StreamWatch(ctx, reply))
  if (hooks.access !== null) {
    const checking = hooks.access(ctx)
    if (checking) await checking
  }
  if (route.dataRoute?.handler) {
    const result = await route.dataRoute.handler(ctx)
    if (result !== undefined) return checkedResult(route.dataRoute, result)
  }
  const resolving = resolve(ctx)
  ctx.plan = resolving instanceof Promise ? await resolving : resolving
  ctx.virtualModel = ctx.plan.virtualModel
  if (hooks.request !== null) {
    const checking = hooks.request(ctx)
    if (checking) await checking
  }
  if (hooks.answer !== null) {
    const answering = hooks.answer(ctx)
    const hit = answering instanceof Promise ? await answering : answering
    if (hit !== undefined) return hit
  }
  if (hooks.admit !== null || hooks.reserve !== null) {
    const unit = new RequestUnit(runtime.commits)
    const admitting = hooks.admit?.(ctx, unit)
    if (admitting) await admitting
    const reserving = hooks.reserve?.(ctx, unit)
    if (reserving) await reserving
    const committing = unit.commit(false, (_, error) =>
      runtime.log.error('admit.failed', { requestId: ctx.id, error: String(error) }),
    )
    if (committing) await committing
  }
  return null
}

/** @throws Error naming the route, for a handler whose plugin has no types. */
function checkedResult({ method, path }: DataRoute, result: Result): Result {
  if (ROUTE_RETURN.fits(result)) return result
  throw new Error(`The handler of ${method} ${path} returned ${kindOf(result)}, which is no ${ROUTE_RETURN.noun}.`)
}

async function receive(runtime: Runtime, ctx: RequestState, route: MatchedRoute, ingress: Ingress): Promise<Uint8Array> {
  const declared = Number(ingress.headers.get('content-length') ?? 0)
  // A body over the limit of its route is refused with 413, also while other bodies are being received.
  if (declared > route.bodyLimit) return ingress.body(route.bodyLimit)
  const body = runtime.receiving.begin(ctx.principal.keyId ?? ingress.peer.address ?? '', declared)
  try {
    return await ingress.body(route.bodyLimit, body)
  } finally {
    runtime.receiving.end(body)
  }
}

async function receiveForm(runtime: Runtime, ctx: RequestState, route: MatchedRoute, ingress: Ingress): Promise<void> {
  const declared = Number(ingress.headers.get('content-length') ?? 0)
  if (declared > route.bodyLimit) throw GatewayError.tooLarge(route.bodyLimit)
  // Without a declared length the upload may be as long as the route allows.
  const release = await runtime.receiving.uploads.enter(declared > 0 ? declared : route.bodyLimit, ctx)
  ctx.hold({ settle: release })
  const body = runtime.receiving.beginUpload(ctx.principal.keyId ?? ingress.peer.address ?? '')
  try {
    await takeForm(runtime, ctx, route, ingress, body)
  } finally {
    runtime.receiving.end(body)
  }
}

/** Returns the plan. @throws GatewayError 400 when the model is unknown. */
export function resolve(ctx: RequestState): Awaitable<Plan> {
  const { hooks } = ctx
  const resolving = hooks.resolve === null ? undefined : hooks.resolve(ctx)
  return resolving instanceof Promise ? resolving.then((plan) => resolved(ctx, plan)) : resolved(ctx, resolving)
}

function resolved(ctx: RequestState, plan: Plan | undefined): Plan {
  if (plan === undefined || plan.targets.length === 0) throw GatewayError.modelNotFound(ctx.requestedModel)
  return plan
}

/** REQUEST_DEADLINE_MS applies from admission to the commit point; a started stream is not cut. */
function dispatch(runtime: Runtime, ctx: RequestState): Promise<Result> {
  const { deadlineMs } = runtime.options
  return deadlineMs > 0 ? underDeadline(runtime, ctx, deadlineMs) : execute(runtime, ctx)
}

async function underDeadline(runtime: Runtime, ctx: RequestState, deadlineMs: number): Promise<Result> {
  const timer = runtime.clock.timer(deadlineMs, () =>
    ctx.stop(GatewayError.timeout(`The request took longer than its deadline of ${deadlineMs} ms.`)),
  )
  try {
    return await execute(runtime, ctx)
  } finally {
    timer.cancel()
  }
}

export function contextFor(
  runtime: Runtime,
  ingress: Ingress,
  route: MatchedRoute,
  monotonic = runtime.clock.monotonic(),
): RequestState {
  const { model } = route.fromPath
  const ctx = new RequestState({
    ingress,
    generation: runtime.generation,
    slotCount: runtime.slotCount,
    operation: route.operation,
    scope: route.scope,
    models: route.models,
    keyRequired: route.keyRequired,
    dialect: route.dialect,
    headers: ingress.headers,
    source: ingress.actsFor?.source,
    now: runtime.clock.now(),
    monotonic,
  })
  // Read the model from the path before the body, so that records have it even when the body is invalid. It is validated with the body.
  if (model !== undefined) ctx.requestedModel = model.slice(0, 256)
  return ctx
}

class StreamWatch implements Ticking {
  readonly #ctx: RequestState
  readonly #reply: ReplyWriter

  constructor(ctx: RequestState, reply: ReplyWriter) {
    this.#ctx = ctx
    this.#reply = reply
  }

  tick(now: number): void {
    // Before admission there is no stream to keep alive: the body may still be refused.
    if (this.#ctx.plan !== null) this.#reply.tick(now, this.#ctx)
  }
}

/** Settles the request, whatever a plugin did to the answer. When the head cannot be sent, the connection is closed. */
function concluded(runtime: Runtime, ctx: RequestState, reply: ReplyWriter, thrown: unknown): GatewayErrorShape {
  try {
    return conclude(runtime, ctx, reply, thrown)
  } catch (failure) {
    runtime.log.error('request.failed', { requestId: ctx.id, error: errorText(failure) })
    return GatewayError.from(failure)
  }
}

/** Sends a failure that came before the answer: a status while no byte has been sent, the dialect's error frame after a heartbeat. */
function conclude(runtime: Runtime, ctx: RequestState, reply: ReplyWriter, thrown: unknown): GatewayErrorShape {
  const error = GatewayError.from(thrown)
  if (ctx.stopped?.status === 499) return ctx.stopped
  if (!reply.headSent) return reply.fail(ctx, thrown, ctx.dialect, ctx.id)
  // Without an end the host closes the connection, so the caller sees that the answer is cut.
  if (!reply.framed) return error
  const shown = reply.presentable(thrown, ctx.dialect, ctx.id)
  try {
    reply.end(driver(runtime, ctx.dialect).encodeStream(codecContextOf(runtime, ctx)).error(shown))
  } catch (failure) {
    runtime.log.error('request.failed', { requestId: ctx.id, error: String(failure) })
    reply.end()
  }
  return error
}

function refuseUnrouted(reply: ReplyWriter, ingress: Ingress, sink: Sink, thrown: unknown): void {
  sink.onGone(() => {})
  reply.fail(null, thrown, dialectOfPath(ingress.path), requestId())
}

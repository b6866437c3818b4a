// The story of one request, from ingress to settled. A stage without hooks is null. Every path ends in settle().
import { GatewayError } from '../errors/gateway-error.ts'
import { dialectOfPath, type MatchedRoute } from '../http/data-routes.ts'
import { errorText } from '../lib/error-text.ts'
import { requestId } from '../lib/ids.ts'
import { LARGE_BODY } from '../lib/yield-queue.ts'
import type { Awaitable } from '../types/canonical.ts'
import type { Plan } from '../types/context.ts'
import type { GatewayErrorShape } from '../types/error.ts'
import type { Ingress, Sink } from '../types/ports.ts'
import type { Result } from '../types/result.ts'
import { authenticate, largeBody, smallBody, takeBody } from './admission.ts'
import { hopOf } from './call-state.ts'
import { RequestState } from './context.ts'
import { sendResult } from './egress.ts'
import { execute } from './executor.ts'
import { driver, type Kernel } from './runtime.ts'
import { ReplyWriter } from './reply.ts'
import { settle } from './settle.ts'
import { RequestUnit } from './unit.ts'

/** Serves one exchange. Never rejects; resolves when it is settled. */
export async function runExchange(kernel: Kernel, ingress: Ingress, sink: Sink): Promise<void> {
  const { crossOrigin } = kernel
  const reply = new ReplyWriter(kernel, sink, crossOrigin.on ? crossOrigin.headersFor(ingress.headers) : null)
  let route: MatchedRoute
  try {
    if (ingress.refusal) throw ingress.refusal
    const preflight = crossOrigin.on ? crossOrigin.preflight(ingress) : null
    if (preflight !== null) return reply.empty(204, preflight, dialectOfPath(ingress.path), requestId())
    if (kernel.overload.level > 0) kernel.overload.admit(ingress.headers)
    route = kernel.routes.match(ingress)
  } catch (error) {
    refuseUnrouted(reply, ingress, sink, error)
    return
  }
  const ctx = contextFor(kernel, ingress, route)
  const ticket = kernel.active.add(ctx)
  sink.onGone(() => ctx.stop(GatewayError.clientGone()))
  let error: GatewayErrorShape | null = null
  try {
    const result = (await prepare(kernel, ctx, route, ingress, reply)) ?? (await dispatch(kernel, ctx))
    const sending = sendResult(kernel, ctx, result, reply)
    if (sending) await sending
    error = ctx.facts?.error ?? null
  } catch (thrown) {
    error = concluded(kernel, ctx, reply, thrown)
  } finally {
    if (ctx.ticking !== null) kernel.ticker.remove(ctx.ticking)
    kernel.active.remove(ticket)
    settle(kernel, ctx, { status: reply.status || (error?.status ?? 499), error, firstByteAt: reply.firstByteAt })
  }
}

/** ingress → authenticate → body → access → resolve → request → answer → admit → reserve. A result here means: no upstream is asked. */
async function prepare(
  kernel: Kernel,
  ctx: RequestState,
  route: MatchedRoute,
  ingress: Ingress,
  reply: ReplyWriter,
): Promise<Result | null> {
  const { hooks } = ctx.generation
  if (hooks.ingress !== null) {
    const entering = hooks.ingress(ctx)
    if (entering) await entering
  }
  const authenticating = authenticate(kernel, ctx)
  if (authenticating) await authenticating
  if (ingress.method !== 'GET') {
    const bytes = await receive(kernel, ctx, route, ingress)
    takeBody(kernel, ctx, route, ingress, bytes.length > LARGE_BODY ? await largeBody(kernel, bytes) : smallBody(kernel, bytes))
  }
  // Only streams are kept alive, and only they can stall.
  if (ctx.stream) ctx.ticking = kernel.ticker.add({ tick: (now) => tick(now, ctx, reply) })
  if (hooks.access !== null) {
    const checking = hooks.access(ctx)
    if (checking) await checking
  }
  if (route.dataRoute?.handler) return route.dataRoute.handler(ctx)
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
    const unit = new RequestUnit(kernel.commits)
    const admitting = hooks.admit?.(ctx, unit)
    if (admitting) await admitting
    const reserving = hooks.reserve?.(ctx, unit)
    if (reserving) await reserving
    const failed = (error: unknown) => kernel.log.error('admit.failed', { requestId: ctx.id, error: String(error) })
    const committing = unit.commit(false, failed)
    if (unit.mayRefuse) await committing
    else committing?.catch(failed)
  }
  return null
}

async function receive(kernel: Kernel, ctx: RequestState, route: MatchedRoute, ingress: Ingress): Promise<Uint8Array> {
  const declared = Number(ingress.headers.get('content-length') ?? 0)
  // A body over the limit of its route is 413, also while other bodies are being received.
  if (declared > route.bodyLimit) return ingress.body(route.bodyLimit)
  const body = kernel.receiving.begin(ctx.principal.keyId ?? ingress.peer.address ?? '', declared)
  try {
    return await ingress.body(route.bodyLimit, body)
  } finally {
    kernel.receiving.end(body)
  }
}

/** @throws GatewayError 400 when nobody knows the model. */
export function resolve(ctx: RequestState): Awaitable<Plan> {
  const { hooks } = ctx.generation
  const resolving = hooks.resolve === null ? undefined : hooks.resolve(ctx)
  return resolving instanceof Promise ? resolving.then((plan) => resolved(ctx, plan)) : resolved(ctx, resolving)
}

function resolved(ctx: RequestState, plan: Plan | undefined): Plan {
  if (plan === undefined || plan.targets.length === 0) throw GatewayError.modelNotFound(ctx.requestedModel)
  return plan
}

/** REQUEST_DEADLINE_MS runs from admission to the commit point; a started stream is not cut. */
function dispatch(kernel: Kernel, ctx: RequestState): Promise<Result> {
  const { deadlineMs } = kernel.options
  return deadlineMs > 0 ? underDeadline(kernel, ctx, deadlineMs) : execute(kernel, ctx)
}

async function underDeadline(kernel: Kernel, ctx: RequestState, deadlineMs: number): Promise<Result> {
  const timer = kernel.clock.timer(deadlineMs, () =>
    ctx.stop(GatewayError.timeout(`The request took longer than its deadline of ${deadlineMs} ms.`)),
  )
  try {
    return await execute(kernel, ctx)
  } finally {
    timer.cancel()
  }
}

function contextFor(kernel: Kernel, ingress: Ingress, route: MatchedRoute): RequestState {
  const { model } = route.fromPath
  const ctx = new RequestState({
    ingress,
    generation: kernel.generation,
    slotCount: kernel.slotCount,
    operation: route.operation,
    scope: route.scope,
    models: route.models,
    keyRequired: route.keyRequired,
    dialect: route.dialect,
    headers: ingress.headers,
    now: kernel.clock.now(),
    monotonic: kernel.clock.monotonic(),
  })
  // The path names the model before the body is read, so records have it even when the body is invalid. It is validated with the body.
  if (model !== undefined) ctx.requestedModel = model.slice(0, 256)
  return ctx
}

function tick(now: number, ctx: RequestState, reply: ReplyWriter): void {
  // Before admission there is no stream to keep alive, only a body that may still be refused.
  if (ctx.plan !== null) reply.tick(now, ctx)
}

/** Settles the request whatever a plugin did to the answer. A head that cannot be sent ends the connection. */
function concluded(kernel: Kernel, ctx: RequestState, reply: ReplyWriter, thrown: unknown): GatewayErrorShape {
  try {
    return conclude(kernel, ctx, reply, thrown)
  } catch (failure) {
    kernel.log.error('request.failed', { requestId: ctx.id, error: errorText(failure) })
    return GatewayError.from(failure)
  }
}

/** A failure before the answer: a status while nothing is on the wire, the dialect's error frame after a heartbeat. */
function conclude(kernel: Kernel, ctx: RequestState, reply: ReplyWriter, thrown: unknown): GatewayErrorShape {
  const error = GatewayError.from(thrown)
  if (ctx.stopped?.status === 499) return ctx.stopped
  if (!reply.headSent) return reply.fail(ctx, thrown, ctx.dialect, ctx.id)
  const shown = reply.presentable(thrown, ctx.dialect, ctx.id)
  try {
    reply.end(driver(kernel, ctx.dialect).encodeStream(hopOf(kernel, ctx)).error(shown))
  } catch (failure) {
    kernel.log.error('request.failed', { requestId: ctx.id, error: String(failure) })
    reply.end()
  }
  return error
}

function refuseUnrouted(reply: ReplyWriter, ingress: Ingress, sink: Sink, thrown: unknown): void {
  sink.onGone(() => {})
  reply.fail(null, thrown, dialectOfPath(ingress.path), requestId())
}

// Builds one runner per hook kind at seal. Runners stay synchronous until a handler returns a promise: a stage whose handlers are all
// synchronous costs no await. Closures are in functions of their own, because one inside a loop makes V8 create an object for each turn.
import type { Awaitable } from '../types/request/canonical.ts'
import type { Candidate, RequestContext } from '../types/request/context.ts'
import type { Result } from '../types/request/result.ts'
import type { StreamEvent, StreamTransform } from '../types/request/stream.ts'
import type { GuardedHandler } from './guard.ts'
import { isThenable } from './returned.ts'

/** Runs every handler in order; the first throw ends the run. */
export function series(handlers: readonly GuardedHandler[]): (ctx: RequestContext, extra?: unknown) => Awaitable<void> {
  const run = (from: number, ctx: RequestContext, extra: unknown): Awaitable<void> => {
    for (let i = from; i < handlers.length; i++) {
      const handler = handlers[i] as GuardedHandler
      if (handler.when !== undefined && !handler.applies(ctx)) continue
      let returned: unknown
      try {
        returned = handler.fn(ctx, extra)
      } catch (error) {
        handler.failed(error)
        continue
      }
      if (isThenable(returned)) return later(handler, returned, i + 1, ctx, extra)
      handler.succeeded()
    }
  }
  const later = (
    handler: GuardedHandler,
    returned: PromiseLike<unknown>,
    next: number,
    ctx: RequestContext,
    extra: unknown,
  ): Promise<void> => handler.settle(returned).then(() => run(next, ctx, extra))
  return (ctx, extra) => run(0, ctx, extra)
}

/** Returns the first answer that is not undefined. */
export function first<T>(handlers: readonly GuardedHandler[]): (ctx: RequestContext) => Awaitable<T | undefined> {
  const run = (from: number, ctx: RequestContext): Awaitable<T | undefined> => {
    for (let i = from; i < handlers.length; i++) {
      const handler = handlers[i] as GuardedHandler
      if (handler.when !== undefined && !handler.applies(ctx)) continue
      let returned: Awaitable<T | undefined>
      try {
        returned = handler.fn(ctx)
      } catch (error) {
        handler.failed(error)
        continue
      }
      if (isThenable(returned)) return later(handler, returned as Promise<T | undefined>, i + 1, ctx)
      const answer = handler.taken(returned)
      if (answer !== undefined) return answer as T
    }
    return undefined
  }
  const later = (handler: GuardedHandler, returned: Promise<T | undefined>, next: number, ctx: RequestContext) =>
    handler.settle(returned).then((value) => handler.taken(value, true) ?? run(next, ctx))
  return (ctx) => run(0, ctx)
}

/** Each handler may return a new value; undefined keeps the old one. */
export function reduce<T>(handlers: readonly GuardedHandler[]): (ctx: RequestContext, value: T) => Awaitable<T> {
  const run = (from: number, ctx: RequestContext, start: T): Awaitable<T> => {
    let value = start
    for (let i = from; i < handlers.length; i++) {
      const handler = handlers[i] as GuardedHandler
      if (handler.when !== undefined && !handler.applies(ctx)) continue
      let returned: Awaitable<T | undefined>
      try {
        returned = handler.fn(ctx, value)
      } catch (error) {
        handler.failed(error)
        continue
      }
      if (isThenable(returned)) return later(handler, returned as Promise<T | undefined>, i + 1, ctx, value)
      value = (handler.taken(returned) as T | undefined) ?? value
    }
    return value
  }
  const later = (handler: GuardedHandler, returned: Promise<T | undefined>, next: number, ctx: RequestContext, value: T) =>
    handler.settle(returned).then((changed) => run(next, ctx, handler.taken(changed, true) ?? value))
  return (ctx, value) => run(0, ctx, value)
}

type Next = () => Promise<Result>

/**
 * Nests the layers: handler(ctx[, candidate], next). When a layer fails open after it called next(), that result is used: the upstream is
 * not called again.
 */
export function wrap(
  handlers: readonly GuardedHandler[],
): (ctx: RequestContext, candidate: Candidate | undefined, next: Next) => Promise<Result> {
  const from = (first: number, ctx: RequestContext, candidate: Candidate | undefined, innermost: Next): Promise<Result> => {
    for (let i = first; i < handlers.length; i++) {
      const handler = handlers[i] as GuardedHandler
      if (handler.when === undefined || handler.applies(ctx)) return layer(handler, i + 1, ctx, candidate, innermost)
    }
    return innermost()
  }
  const layer = (
    handler: GuardedHandler,
    inside: number,
    ctx: RequestContext,
    candidate: Candidate | undefined,
    innermost: Next,
  ): Promise<Result> => {
    let inner: Promise<Result> | null = null
    const next: Next = () => {
      inner = from(inside, ctx, candidate, innermost)
      return inner
    }
    const fallback = () => inner ?? next()
    try {
      const running = candidate === undefined ? handler.fn(ctx, next) : handler.fn(ctx, candidate, next)
      if (running !== inner || handler.timeoutMs > 0) return settled(handler, running, fallback)
      // It leaves the result of the inner layer as it is.
      handler.succeeded()
      return running
    } catch (error) {
      return failedOver(handler, error, fallback)
    }
  }
  return (ctx, candidate, next) => from(0, ctx, candidate, next)
}

function settled(handler: GuardedHandler, running: Promise<Result>, fallback: Next): Promise<Result> {
  const watched = handler.timeoutMs > 0 ? handler.withTimeout(running) : running
  return watched.then(
    (result) => handler.taken(result) ?? fallback(),
    (error) => failedOver(handler, error, fallback),
  )
}

/** Rejects with the decision or the 503. Continues with the inner layer when the handler fails open. */
async function failedOver(handler: GuardedHandler, error: unknown, fallback: Next): Promise<Result> {
  handler.failed(error)
  return fallback()
}

/** Runs without being awaited: errors are logged and never thrown. Tests and shutdown await the promise. */
export function observe(handlers: readonly GuardedHandler[]): (ctx?: unknown, outcome?: unknown) => Awaitable<void> {
  return (ctx, outcome) => {
    let pending: Promise<unknown>[] | null = null
    for (const handler of handlers) {
      try {
        if (handler.when !== undefined && !handler.applies(ctx as RequestContext)) continue
        const returned = handler.fn(ctx, outcome)
        if (isThenable(returned)) {
          pending ??= []
          pending.push(handler.settle(returned).catch(swallow))
        } else handler.succeeded()
      } catch (error) {
        reported(handler, error)
      }
    }
    if (pending !== null) return Promise.all(pending).then(swallow)
  }
}

/** Reports a handler's error. At this point a decision has no effect; failed() has counted and logged a bug. */
function reported(handler: GuardedHandler, error: unknown): void {
  try {
    handler.failed(error)
  } catch {
    // The request is over, for a closed failure and for a decision.
  }
}

function swallow(): void {}

export interface StreamStages {
  /** True when a stage may change events: the answer leaves the byte lane. */
  readonly active: boolean
  readonly watchers: readonly StreamTransform[]
  event(event: StreamEvent, out: (event: StreamEvent) => void): void
  flush(out: (event: StreamEvent) => void): void
}

/** Calls every factory at most once per attempt and composes the returned transforms. */
export function stream(handlers: readonly GuardedHandler[]): (ctx: RequestContext) => StreamStages | null {
  return (ctx) => {
    const changers: StreamTransform[] = []
    const watchers: StreamTransform[] = []
    for (const handler of handlers) {
      if (handler.when !== undefined && !handler.applies(ctx)) continue
      let transform: StreamTransform | undefined
      try {
        transform = handler.taken<StreamTransform | undefined>(handler.fn(ctx))
      } catch (error) {
        handler.failed(error)
      }
      if (transform !== undefined) (transform.passive ? watchers : changers).push(isolated(handler, transform))
    }
    return changers.length + watchers.length === 0 ? null : stages(changers, watchers)
  }
}

function stages(changers: readonly StreamTransform[], watchers: readonly StreamTransform[]): StreamStages {
  const pass = (index: number, event: StreamEvent, out: (event: StreamEvent) => void): void => {
    const transform = changers[index]
    if (transform === undefined) {
      for (const watcher of watchers) watcher.event(event, ignore)
      out(event)
    } else transform.event(event, (next) => pass(index + 1, next, out))
  }
  return {
    active: changers.length > 0,
    watchers,
    event: (event, out) => pass(0, event, out),
    flush(out) {
      changers.forEach((transform, index) => {
        transform.flush?.((event) => pass(index + 1, event, out))
      })
      for (const watcher of watchers) watcher.flush?.(ignore)
    },
  }
}

function ignore(): void {}

/** A failing layer that fails open is bypassed for the rest of this stream. */
function isolated(handler: GuardedHandler, transform: StreamTransform): StreamTransform {
  let bypass = false
  let emitted = 0
  let to: (event: StreamEvent) => void = ignore
  const counted = (event: StreamEvent): void => {
    emitted++
    to(event)
  }
  return {
    ...(transform.passive ? { passive: true as const } : {}),
    event(event, emit) {
      if (bypass) return emit(event)
      to = emit
      const before = emitted
      try {
        handler.promised(transform.event(event, counted))
      } catch (error) {
        handler.failed(error)
        bypass = true
        // Do not emit the event again when the handler had passed it on before it failed.
        if (emitted === before) emit(event)
      }
    },
    flush(emit) {
      if (bypass) return
      try {
        handler.promised(transform.flush?.(emit))
      } catch (error) {
        handler.failed(error)
      }
    },
  }
}

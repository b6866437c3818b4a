// seal(): sorts every hook's handlers once, and builds runners for each operation with the handlers that apply to it. A hook that no
// handler of an operation uses is null there and costs one check.
import { topoSort } from '../collections/topo.ts'
import { wordsOf } from '../text/error-text.ts'
import type { HookTracer } from '../types/plugin/hook-tracer.ts'
import type { HookName } from '../types/plugin/hooks.ts'
import type { Unit } from '../types/ports/db.ts'
import type { Clock } from '../types/ports/ports.ts'
import type { CanonicalResponse } from '../types/request/answer.ts'
import type { Awaitable, Frozen, Operation } from '../types/request/canonical.ts'
import type { Call, Candidate, EncodedCall, Outcome, Plan, Principal, RequestContext } from '../types/request/context.ts'
import type { Result } from '../types/request/result.ts'
import type { StreamEvent } from '../types/request/stream.ts'
import { HOOK_NAMES, HOOKS, type HookKind } from './catalogue.ts'
import { type GuardEnv, GuardedHandler } from './guard.ts'
import type { HookRegistry, Registration } from './registry.ts'
import { isThenable } from './returned.ts'
import { first, observe, reduce, type StreamStages, series, stream, wrap } from './runners.ts'
import { strict } from './strict.ts'

type Maybe<F> = F | null

/** The hooks of one operation. */
export interface RequestHooks {
  ingress: Maybe<(ctx: RequestContext) => Awaitable<void>>
  authenticate: Maybe<(ctx: RequestContext) => Awaitable<Principal | undefined>>
  access: Maybe<(ctx: RequestContext) => Awaitable<void>>
  resolve: Maybe<(ctx: RequestContext) => Awaitable<Plan | undefined>>
  request: Maybe<(ctx: RequestContext) => Awaitable<void>>
  answer: Maybe<(ctx: RequestContext) => Awaitable<Result | undefined>>
  admit: Maybe<(ctx: RequestContext, unit: Unit) => Awaitable<void>>
  reserve: Maybe<(ctx: RequestContext, unit: Unit) => Awaitable<void>>
  candidates: Maybe<(ctx: RequestContext, candidates: Candidate[]) => Awaitable<Candidate[]>>
  call: Maybe<(ctx: RequestContext, candidate: undefined, next: () => Promise<Result>) => Promise<Result>>
  attempt: Maybe<(ctx: RequestContext, candidate: Candidate, next: () => Promise<Result>) => Promise<Result>>
  prepare: Maybe<(ctx: RequestContext, call: Call) => Awaitable<void>>
  encoded: Maybe<(ctx: RequestContext, call: EncodedCall) => Awaitable<void>>
  stream: Maybe<(ctx: RequestContext) => StreamStages | null>
  batch: Maybe<(ctx: RequestContext, events: StreamEvent[]) => Awaitable<StreamEvent[]>>
  response: Maybe<(ctx: RequestContext, response: Frozen<CanonicalResponse>) => Awaitable<Frozen<CanonicalResponse>>>
  settle: Maybe<(ctx: RequestContext, outcome: Outcome, unit: Unit) => void>
  settled: Maybe<(ctx: RequestContext, outcome: Outcome) => Awaitable<void>>
  /** Returns true when a handler of this hook applies to the request. */
  applies(hook: 'stream:batch' | 'response', ctx: RequestContext): boolean
}

export interface CompiledHooks {
  of(operation: Operation): RequestHooks
  ready: Maybe<() => Awaitable<void>>
  close: Maybe<() => Awaitable<void>>
  /** How often each handler ran and refused, since this generation was sealed. */
  runs(): HookRuns[]
  readonly sealed: readonly SealedHook[]
}

export interface HookRuns {
  readonly plugin: string
  readonly hook: string
  readonly ran: number
  readonly refused: number
}

export interface SealedHook {
  hook: HookName
  kind: HookKind
  handlers: {
    plugin: string
    order: 'pre' | 'normal' | 'post'
    onError: 'closed' | 'open'
    timeoutMs: number | null
    conditional: boolean
  }[]
}

// The order of one hook's handlers: band, then registration. before/after by plugin name take precedence.
const BANDS = { pre: 0, normal: 1, post: 2 }

/** @throws Error naming the hook and the plugins of a cycle. */
function orderHandlers(hook: HookName, entries: readonly Registration[]): Registration[] {
  const banded = entries
    .map((entry, index) => ({ entry, index }))
    .sort((a, b) => BANDS[a.entry.options.order ?? 'normal'] - BANDS[b.entry.options.order ?? 'normal'] || a.index - b.index)
    .map(({ entry }) => entry)
  const indexesOf = (plugins: string | string[] | undefined, self: Registration): number[] =>
    [plugins ?? []]
      .flat()
      .flatMap((plugin) => banded.flatMap((entry, index) => (entry.plugin === plugin && entry !== self ? [index] : [])))
  const after = banded.map((entry) => indexesOf(entry.options.after, entry))
  banded.forEach((entry, index) => {
    for (const later of indexesOf(entry.options.before, entry)) after[later]?.push(index)
  })
  try {
    return topoSort(banded.map((entry, index) => ({ value: entry, name: entry.plugin, after: after[index] as number[] })))
  } catch (cycle) {
    throw new Error(
      `The order of the hook \`${hook}\` is a circle: ${(cycle as Error).message}. Remove one of their before/after options.`,
    )
  }
}

/** Hooks with one run per request. Events of a stream are not traced as spans. */
const TRACED: ReadonlySet<string> = new Set([
  ...['ingress', 'authenticate', 'access', 'resolve', 'request', 'answer', 'admit', 'reserve', 'candidates', 'call', 'attempt'],
  ...['prepare', 'encoded', 'response', 'settle'],
])

function traced(entry: Registration, tracer: HookTracer, clock: Clock): Registration {
  if (!TRACED.has(entry.hook) || entry.plugin === tracer.plugin) return entry
  const { plugin, hook, fn } = entry
  const run = (...args: unknown[]): unknown => {
    const ctx = args[0] as RequestContext
    if (!tracer.wants(ctx)) return fn(...args)
    const before = tracer.begins?.(ctx, hook, args)
    const startedAt = clock.now()
    const from = clock.monotonic()
    const ended = (error: unknown, returned?: unknown) =>
      tracer.ran(ctx, { plugin, hook, startedAt, ms: clock.monotonic() - from, error, args, returned, before })
    let returned: unknown
    try {
      returned = fn(...args)
    } catch (error) {
      ended(error)
      throw error
    }
    if (!isThenable(returned)) {
      ended(undefined, returned)
      return returned
    }
    return returned.then(
      (value) => {
        ended(undefined, value)
        return value
      },
      (error: unknown) => {
        ended(error)
        throw error
      },
    )
  }
  return { ...entry, fn: run }
}

/** @throws Error naming hook and plugins when before/after form a cycle. */
export function compileHooks(registry: HookRegistry, env: GuardEnv, tracer?: HookTracer): CompiledHooks {
  const ordered = new Map(HOOK_NAMES.map((hook) => [hook, orderHandlers(hook, registry.of(hook))]))
  const guarded = (given: Registration) => {
    const entry = env.strict === true ? strict(given) : given
    return new GuardedHandler(tracer === undefined ? entry : traced(entry, tracer, env.clock), env)
  }
  const guards = new Map([...ordered].map(([hook, entries]) => [hook, entries.map(guarded)]))
  const all = <F>(hook: HookName, make: (handlers: readonly GuardedHandler[]) => F): F | null =>
    runner(guards.get(hook) as GuardedHandler[], make)
  const byOperation = new Map<Operation, RequestHooks>()
  return {
    of(operation) {
      let hooks = byOperation.get(operation)
      if (hooks === undefined) {
        hooks = requestHooks((hook) => (guards.get(hook) as GuardedHandler[]).filter((handler) => handler.serves(operation)))
        byOperation.set(operation, hooks)
      }
      return hooks
    },
    ready: all('ready', lifecycle),
    close: all('close', observe),
    runs: () => [...guards.values()].flat().map(({ plugin, hook, ran, refused }) => ({ plugin, hook, ran, refused })),
    sealed: HOOK_NAMES.map((hook) => ({
      hook,
      kind: HOOKS[hook].kind,
      handlers: (ordered.get(hook) ?? []).map(({ plugin, options, operations }) => ({
        plugin,
        order: options.order ?? 'normal',
        onError: options.onError ?? HOOKS[hook].onError,
        timeoutMs: options.timeoutMs ?? null,
        conditional: options.when !== undefined || operations !== null,
      })),
    })),
  }
}

function runner<F>(handlers: readonly GuardedHandler[], make: (handlers: readonly GuardedHandler[]) => F): F | null {
  return handlers.length === 0 ? null : make(handlers)
}

function requestHooks(handlersOf: (hook: HookName) => readonly GuardedHandler[]): RequestHooks {
  const build = <F>(hook: HookName, make: (handlers: readonly GuardedHandler[]) => F): F | null => runner(handlersOf(hook), make)
  const asked = { 'stream:batch': handlersOf('stream:batch'), response: handlersOf('response') }
  return {
    ingress: build('ingress', series),
    authenticate: build('authenticate', first<Principal>),
    access: build('access', series),
    resolve: build('resolve', first<Plan>),
    request: build('request', series),
    answer: build('answer', first<Result>),
    admit: build('admit', series),
    reserve: build('reserve', series),
    candidates: build('candidates', reduce<Candidate[]>),
    call: build('call', wrap) as RequestHooks['call'],
    attempt: build('attempt', wrap) as RequestHooks['attempt'],
    prepare: build('prepare', series),
    encoded: build('encoded', series),
    stream: build('stream', stream),
    batch: build('stream:batch', reduce<StreamEvent[]>),
    response: build('response', reduce<Frozen<CanonicalResponse>>),
    settle: build('settle', settleAll),
    settled: build('settled', observe),
    applies: (hook, ctx) => asked[hook].some((handler) => handler.applies(ctx)),
  }
}

/** A failing plugin must not prevent the others from booking: every handler runs, and the first failure is thrown at the end. */
function settleAll(handlers: readonly GuardedHandler[]): (ctx: RequestContext, outcome: Outcome, unit: Unit) => void {
  return (ctx, outcome, unit) => {
    let failure: unknown
    for (const handler of handlers) {
      try {
        if (handler.when !== undefined && !handler.applies(ctx)) continue
        if (!handler.promised(handler.fn(ctx, outcome, unit))) handler.succeeded()
      } catch (error) {
        try {
          handler.failed(error)
        } catch (closed) {
          failure ??= closed
        }
      }
    }
    if (failure !== undefined) throw failure
  }
}

/** Boot hooks run in order and are awaited; their failure is a boot failure. */
function lifecycle(handlers: readonly GuardedHandler[]): () => Promise<void> {
  return async () => {
    for (const handler of handlers) {
      try {
        await (handler.timeoutMs > 0 ? handler.withTimeout(handler.fn()) : handler.fn())
      } catch (error) {
        if (!handler.open)
          throw new Error(`The plugin \`${handler.plugin}\` failed in \`ready\`: ${wordsOf(error)}`, { cause: error })
        handler.failed(error)
      }
    }
  }
}

// The closed catalogue of hooks. A hook's kind is part of its contract.

import type { Unit } from '../ports/db.ts'
import type { Awaitable, Frozen, Operation } from '../request/canonical.ts'
import type { AnswerOf, Call, Candidate, EncodedCall, Outcome, Plan, Principal, RequestContext } from '../request/context.ts'
import type { Result } from '../request/result.ts'
import type { StreamEvent, StreamTransform } from '../request/stream.ts'

export interface GatewayHooks {
  /** Gets headers only: the body has not been read yet. */
  ingress: (ctx: RequestContext) => Awaitable<void>
  authenticate: (ctx: RequestContext) => Awaitable<Principal | undefined>
  access: (ctx: RequestContext) => Awaitable<void>
  resolve: (ctx: RequestContext) => Awaitable<Plan | undefined>
  request: (ctx: RequestContext) => Awaitable<void>
  answer: (ctx: RequestContext) => Awaitable<Result | undefined>
  admit: (ctx: RequestContext, unit: Unit) => Awaitable<void>
  /** Runs after every `admit` hook, with the same unit. It writes the reservations that those hooks requested. */
  reserve: (ctx: RequestContext, unit: Unit) => Awaitable<void>
  candidates: (ctx: RequestContext, candidates: Candidate[]) => Awaitable<Candidate[]>
  call: (ctx: RequestContext, next: () => Promise<Result>) => Promise<Result>
  attempt: (ctx: RequestContext, candidate: Candidate, next: () => Promise<Result>) => Promise<Result>
  prepare: (ctx: RequestContext, call: Call) => Awaitable<void>
  encoded: (ctx: RequestContext, call: EncodedCall) => Awaitable<void>
  stream: (ctx: RequestContext) => StreamTransform | undefined
  'stream:batch': (ctx: RequestContext, events: StreamEvent[]) => Awaitable<StreamEvent[]>
  // biome-ignore lint/suspicious/noConfusingVoidType: a handler that returns nothing keeps the response
  response: (ctx: RequestContext, response: Frozen<AnswerOf<Operation>>) => Awaitable<Frozen<AnswerOf<Operation>> | void>
  settle: (ctx: RequestContext, outcome: Outcome, unit: Unit) => void
  settled: (ctx: RequestContext, outcome: Outcome) => Awaitable<void>
  ready: () => Awaitable<void>
  close: () => Awaitable<void>
}

export type HookName = keyof GatewayHooks

/** Hooks that get the request's context. */
export type ContextHook = Exclude<HookName, 'ready' | 'close'>

/** A hook that is registered for some operations only: its request and answer have the types of these operations. */
export type HookFor<K extends ContextHook, O extends Operation> = K extends 'response'
  ? // biome-ignore lint/suspicious/noConfusingVoidType: a handler that returns nothing keeps the response
    (ctx: RequestContext<O>, response: Frozen<AnswerOf<O>>) => Awaitable<Frozen<AnswerOf<O>> | void>
  : K extends 'prepare' | 'encoded'
    ? (ctx: RequestContext<O>, call: K extends 'prepare' ? Call<O> : EncodedCall<O>) => Awaitable<void>
    : GatewayHooks[K] extends (ctx: RequestContext, ...rest: infer R) => infer T
      ? (ctx: RequestContext<O>, ...rest: R) => T
      : never

export interface HookOptions {
  /** Coarse position among the handlers, default `normal`. */
  order?: 'pre' | 'normal' | 'post'
  /** Plugin names. A cycle is a boot error that names the plugins; unknown names are ignored. */
  before?: string | string[]
  after?: string | string[]
  /** Applies to bugs and timeouts only: a thrown GatewayError is a decision and always propagates. */
  onError?: 'closed' | 'open'
  /** Applies to async hooks; a timeout counts as a bug. */
  timeoutMs?: number
  /** False = the hook counts as not registered for this request: no decode, no lane change. */
  when?: (ctx: RequestContext) => boolean
}

export interface OperationHookOptions<O extends Operation = Operation> extends HookOptions {
  /** The operations that the hook runs for. Without it a hook runs for every operation. */
  operation: O | readonly O[]
}

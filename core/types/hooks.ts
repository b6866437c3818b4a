// The closed catalogue of hooks. A hook's kind is part of its contract.
import type { CanonicalResponse } from './answer.ts'
import type { Awaitable, Frozen } from './canonical.ts'
import type { Call, Candidate, EncodedCall, Outcome, Plan, Principal, RequestContext } from './context.ts'
import type { Unit } from './db.ts'
import type { Result } from './result.ts'
import type { StreamEvent, StreamTransform } from './stream.ts'

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
  response: (ctx: RequestContext, response: Frozen<CanonicalResponse>) => Awaitable<Frozen<CanonicalResponse> | void>
  settle: (ctx: RequestContext, outcome: Outcome, unit: Unit) => void
  settled: (ctx: RequestContext, outcome: Outcome) => Awaitable<void>
  ready: () => Awaitable<void>
  close: () => Awaitable<void>
}

export type HookName = keyof GatewayHooks

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

// The closed hook catalogue. A hook's kind is part of its contract.
import type { CanonicalResponse } from './answer.ts'
import type { Awaitable, Frozen } from './canonical.ts'
import type { Call, Candidate, EncodedCall, Outcome, Plan, Principal, RequestContext } from './context.ts'
import type { Unit } from './db.ts'
import type { Result } from './result.ts'
import type { StreamEvent, StreamTransform } from './stream.ts'

export interface GatewayHooks {
  /** Headers only: the body is not read yet. */
  ingress: (ctx: RequestContext) => Awaitable<void>
  authenticate: (ctx: RequestContext) => Awaitable<Principal | undefined>
  access: (ctx: RequestContext) => Awaitable<void>
  resolve: (ctx: RequestContext) => Awaitable<Plan | undefined>
  request: (ctx: RequestContext) => Awaitable<void>
  answer: (ctx: RequestContext) => Awaitable<Result | undefined>
  admit: (ctx: RequestContext, unit: Unit) => Awaitable<void>
  /** After every `admit` hook, with the same unit: what those asked for is written here. */
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
  /** Coarse band, default `normal`. */
  order?: 'pre' | 'normal' | 'post'
  /** Plugin names; a cycle is a boot error naming the plugins. Unknown names are ignored. */
  before?: string | string[]
  after?: string | string[]
  /** For bugs and timeouts only: a thrown GatewayError is a decision and always propagates. */
  onError?: 'closed' | 'open'
  /** Async hooks; running over counts as a bug. */
  timeoutMs?: number
  /** False = as if not registered for this request: no decode, no lane change. */
  when?: (ctx: RequestContext) => boolean
}

// Types of one request's state as plugins see it.

import type { GatewayErrorShape, SkipReason } from '../error.ts'
import type { OperationAnswers, OperationRequests } from '../operations/operations.ts'
import type { HeaderBag, Ingress } from '../ports/ports.ts'
import type { Connection } from '../ports/provider.ts'
import type { CanonicalResponse, Usage } from './answer.ts'
import type { CanonicalRequest, Dialect, Frozen, Json, JsonObject, Operation } from './canonical.ts'
import type { CodecContext, WireBody } from './dialect.ts'
import type { HostContext } from './host.ts'
import type { KeyScope, ModelKind } from './route.ts'

export type { KeyScope, ModelKind } from './route.ts'

export interface Principal {
  keyId: number | null
  label: string | null
  orgId: number | null
  /** null = every model. */
  allowedModels: readonly string[] | null
}

export interface Target {
  provider: string
  model: string
  connectionId: string | null
  weight: number
  /** Set when the gateway's own organization shares the connection. `connectionId` then names it for every caller. */
  shared?: SharedTarget
}

/** A connection of the gateway's own organization that other organizations may use. */
export interface SharedTarget {
  /** The account that records show: another organization never sees the connection's id. */
  readonly account: string
  /** True: the caller's organization pays nothing, and its budgets do not count the call. */
  readonly free: boolean
}

export interface Plan {
  targets: Target[]
  strategy: string
  virtualModel: string | null
}

export interface Candidate {
  readonly target: Target
  readonly connection: Connection
}

export type AttemptAction =
  | 'returned'
  | 'next_account'
  | 'next_target'
  | 'retry_stripped_field'
  /** A plugin sent the request again without a reason. */
  | 'retried'
  | 'retry_fresh_socket'
  | 'waited_cooldown'
  | 'skipped'

/** One line of the attempt timeline: one upstream call, or one skipped candidate. */
export interface Attempt {
  readonly candidate: Candidate
  /** Epoch ms. */
  readonly startedAt: number
  role?: 'panel' | 'judge' | 'step'
  status?: number
  error?: GatewayErrorShape
  /** A stream counts until its first content. */
  latencyMs?: number
  /** Until the first content; only of a stream. */
  ttftMs?: number
  /** Time that the request waited for the account after this call. */
  waitedMs?: number
  /** The dialect of the upstream; for an operation the name of its codec. Absent when the call was not encoded. */
  wireFormat?: string
  /** `bytes`: the answer is passed on without decoding. */
  lane?: 'bytes' | 'events'
  usage?: Usage
  /** The reason for the next attempt, or how this one ended. An `attempt` hook may set it before it calls `next()` again. */
  action?: AttemptAction
  skipped?: { reason: SkipReason; until?: number }
}

/** The bill of one upstream call. */
export interface Step {
  index: number
  provider: string
  connectionId: string
  model: string
  usage: Usage
  /** The upstream's price in nano-USD; null when the price is unknown. */
  costNano: number | null
  /** The tenant's price; differs only with a markup. */
  chargeNano: number | null
  /** The price list that the price comes from. */
  priceRef: string | null
  status: number
  source: string
  /** Epoch ms. */
  startedAt: number
  latencyMs: number
  /** A shared connection answered; `connectionId` is then the account that records show. */
  shared?: true
}

/** The original call of a cached answer: its usage and cost at that time. */
export interface CachedCall {
  readonly requestId: string
  /** Epoch ms. */
  readonly at: number
  readonly provider: string
  readonly model: string
  readonly usage: Usage
  /** Nano-USD at the time of the call; null: no price was known. */
  readonly costNano: number | null
  readonly chargeNano: number | null
  readonly priceRef: string | null
}

/** How the request ended. Frozen before leases, settle and settled get it. */
export interface Outcome {
  /** The status that the caller saw; 499 when the client left; 502 when a started stream failed. */
  status: number
  error?: GatewayErrorShape
  aborted: boolean
  cached: false | 'exact' | 'semantic'
  /** The original call of a cached answer; absent when the cache did not record it. */
  cachedCall?: CachedCall
  /** Usage of this request's upstream calls; zero when the answer came from a cache. */
  usage: Usage
  steps: readonly Step[]
  /** Sum over the steps with a known price; null when no step has one. */
  costNano: number | null
  chargeNano: number | null
  latencyMs: number
  firstByteMs: number | null
}

export interface Lease {
  /** Called exactly once, on every exit path, the last lease first. It must not throw. Async work belongs in settle and settled. */
  settle(outcome: Outcome): void
}

/** Request types by operation; plugins add theirs with `declare module`. */
export interface Requests extends OperationRequests {
  chat: CanonicalRequest
  count_tokens: CanonicalRequest
}
/** Answer types by operation. */
export interface Answers extends OperationAnswers {
  chat: CanonicalResponse
  count_tokens: CanonicalResponse
}
/** The type of a whole answer of an operation. */
export type AnswerOf<O extends Operation> = Operation extends O
  ? Answers[keyof Answers]
  : O extends keyof Answers
    ? Answers[O]
    : unknown

/** The request type of an operation. A hook sees every operation: without narrowing it is any of the known requests. */
export type RequestOf<O extends Operation> = Operation extends O
  ? Requests[keyof Requests]
  : O extends keyof Requests
    ? Requests[O]
    : unknown

/** Changes the text of an answer after it was encoded for the caller. All that it does not change is sent as it came, byte for byte. */
export interface AnswerRewriter {
  /** Gets the JSON of a whole answer. */
  whole(text: string): string
  /**
   * Gets a large whole answer of this many bytes before `whole`. Returns the top-level members to replace or add; null: `whole` gets the
   * text, in one turn of the event loop.
   */
  large?(response: Frozen<JsonObject>, bytes: number): Readonly<JsonObject> | null
  /** Gets whole frames of a stream, in their order. */
  frames(text: string): string
  /** Called once after the last text of an answer that did not fail, before the request is settled. */
  end(): Promise<void>
}

export interface Reply {
  status: number
  headers: readonly string[]
  body: Uint8Array
}

export interface RequestContext<O extends Operation = Operation> {
  /** `req_<uuidv7>`, or a caller's own UUID; also sent as x-gateway-request-id. */
  readonly id: string
  /** Gives the request another id: a UUID that no other request has. Call it before admission: records and reservations use the id. */
  identify(id: string): void
  /** Epoch ms. */
  readonly startedAt: number
  /** null for an internal call. */
  readonly ingress: Ingress | null
  /** Facts from the embedding server about the request; null without them. An internal call has those of its parent. */
  readonly host: HostContext | null
  /** Aborts when the client leaves or the request ends early; created on first use. */
  readonly signal: AbortSignal
  readonly operation: O
  /** Which client-key restrictions apply to this route. */
  readonly scope: KeyScope
  /** Virtual models that this route accepts. */
  readonly models: ModelKind
  readonly dialect: Dialect
  readonly headers: HeaderBag
  /** `api`, or the name that an internal call was made under. */
  readonly source: string
  readonly parent: RequestContext | null
  readonly stream: boolean
  /** The model exactly as the caller sent it; never rewritten. */
  readonly requestedModel: string
  virtualModel: string | null
  principal: Principal
  costCenter: string | null
  /** From the session header, at most 256 characters. */
  sessionId: string | null
  /** From `x-gateway-user-id`: the caller's own end user, for records. */
  userId: string | null
  /** Labels for records, set by plugins; null = none. */
  properties: Record<string, string> | null
  /** Annotations of plugins for the record, by name; null when there are none. */
  readonly notes: Readonly<Record<string, Json>> | null
  /** Adds an annotation to the record. Never pass text of a prompt or an answer. An internal call writes to the notes of its parent. */
  note(name: string, value: Json): void
  /** Size of the body as sent; 0 when there is none or it has not been read. */
  readonly bodyBytes: number
  /** UTF-8 bytes of prompt text that plugins put in beside the body, such as stored turns. Estimates of the prompt add them. */
  addedBytes: number
  /** The body as it was sent: not a copy, so read only. null when there is none or it has not been read. */
  readonly rawBody: Uint8Array | null
  /** Returns a top-level member of the body as it was sent, without decoding the rest; undefined when absent or without a body. */
  member(name: string): Frozen<Json> | undefined
  /** The canonical request; decoded on first use. */
  readonly request: Frozen<RequestOf<O>>
  /** Returns a copy: change its request, system, messages and tools; replace parts instead of changing them. Ends the byte lane. */
  edit(): RequestOf<O>
  readonly edited: boolean
  plan: Plan | null
  readonly candidate: Candidate | null
  /** Headers of the last upstream answer, failures included; null before the first. Not a copy, so read only. */
  readonly upstreamHeaders: HeaderBag | null
  readonly attempts: readonly Attempt[]
  skip(candidate: Candidate, reason: SkipReason, until?: number): void
  readonly responseHeaders: HeaderBag
  warn(slug: string): void
  cached: Outcome['cached']
  /** A plugin that sets `cached` also sets the original call here. */
  cachedCall: CachedCall | null
  /** Set it before the answer is sent. One plugin can have it. */
  rewriter: AnswerRewriter | null
  hold(lease: Lease): void
  /** Calls `fn` with the encoded answer before it is sent. Streams are not passed. */
  tap(fn: (reply: Reply) => void): void
}

/** A running request as checkpoints, drain and /healthz see it. */
export interface LiveRequest {
  readonly ctx: RequestContext
  readonly contentBytes: number
  readonly usage: Partial<Usage> | null
  /** Finished steps, and the internal calls that are running. */
  readonly steps: readonly Step[]
  readonly calls: readonly LiveRequest[]
  /** Monotonic ms of the last upstream byte. */
  readonly lastReadAt: number
}

/** Typed state of one plugin for each request: an index into a preallocated array. */
export interface Slot<T> {
  get(ctx: RequestContext): T | undefined
  set(ctx: RequestContext, value: T): void
}

/** The view of one attempt: a copy-on-write canonical request, later the wire body. */
export interface Call<O extends Operation = Operation> {
  readonly candidate: Candidate
  readonly codec: CodecContext
  readonly request: Frozen<RequestOf<O>>
  edit(): RequestOf<O>
  readonly lane: 'bytes' | 'events'
}

export interface EncodedCall<O extends Operation = Operation> extends Call<O> {
  readonly body: WireBody
  /** Headers for the upstream; the credential is added later. */
  readonly headers: HeaderBag
}

// One request's life as plugins see it.

import type { Usage } from './answer.ts'
import type { CanonicalRequest, Dialect, Frozen, Json, Operation } from './canonical.ts'
import type { CodecContext, WireBody } from './dialect.ts'
import type { GatewayErrorShape, SkipReason } from './error.ts'
import type { HostContext } from './host.ts'
import type { HeaderBag, Ingress } from './ports.ts'
import type { Connection } from './provider.ts'

export interface Principal {
  keyId: number | null
  label: string | null
  orgId: number | null
  /** null = every model. */
  allowedModels: readonly string[] | null
}

/** Which client-key restrictions apply to a route. `model`: allow-list and rate limits; `rate`: rate limits only; `none`: neither. */
export type KeyScope = 'model' | 'rate' | 'none'

/** Virtual models that a route accepts: for text, for images, none (`concrete`), or the route takes no model (`none`). */
export type ModelKind = 'text' | 'image' | 'concrete' | 'none'

export interface Target {
  provider: string
  model: string
  connectionId: string | null
  weight: number
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
  /** A plugin sent it again and did not say why. */
  | 'retried'
  | 'retry_fresh_socket'
  | 'waited_cooldown'
  | 'skipped'

/** One line of the attempt timeline: one upstream call, or a candidate that was passed over. */
export interface Attempt {
  readonly candidate: Candidate
  /** Epoch ms. */
  readonly startedAt: number
  role?: 'panel' | 'judge' | 'step'
  status?: number
  error?: GatewayErrorShape
  latencyMs?: number
  usage?: Usage
  /** Why there was a next one, or how it ended. Before it calls `next()` again, an `attempt` hook may say why. */
  action?: AttemptAction
  skipped?: { reason: SkipReason; until?: number }
}

/** One upstream call that is billed. */
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
  /** The price list that gave the price. */
  priceRef: string | null
  status: number
  source: string
  /** Epoch ms. */
  startedAt: number
  latencyMs: number
}

/** The call whose answer a cache gave again: what it used and cost then. */
export interface CachedCall {
  readonly requestId: string
  /** Epoch ms. */
  readonly at: number
  readonly provider: string
  readonly model: string
  readonly usage: Usage
  /** Nano-USD, as of that call; null: no price was known. */
  readonly costNano: number | null
  readonly chargeNano: number | null
  readonly priceRef: string | null
}

/** How the request ended; frozen before leases, settle and settled see it. */
export interface Outcome {
  /** The status that the caller saw; 499 when the client left; 502 when a started stream failed. */
  status: number
  error?: GatewayErrorShape
  aborted: boolean
  cached: false | 'exact' | 'semantic'
  /** The original call of a cached answer; absent when the cache did not record it. */
  cachedCall?: CachedCall
  /** Usage of this request's upstream calls; zero when a cache answered. */
  usage: Usage
  steps: readonly Step[]
  /** Sums over the steps whose price is known; null when it is of none. */
  costNano: number | null
  chargeNano: number | null
  latencyMs: number
  firstByteMs: number | null
}

export interface Lease {
  /** Exactly once, on every exit path, LIFO. Must not throw; async work belongs to settle and settled. */
  settle(outcome: Outcome): void
}

/** Request types by operation; widened with `declare module` for embeddings, rerank … */
export interface Requests {
  chat: CanonicalRequest
  count_tokens: CanonicalRequest
}
/** A hook sees every operation: without narrowing, any of the known requests. */
export type RequestOf<O extends Operation> = Operation extends O
  ? Requests[keyof Requests]
  : O extends keyof Requests
    ? Requests[O]
    : unknown

export interface Reply {
  status: number
  headers: readonly string[]
  body: Uint8Array
}

export interface RequestContext<O extends Operation = Operation> {
  /** `req_<uuidv7>`, or a caller's own UUID; also sent as x-gateway-request-id. */
  readonly id: string
  /** Gives the request another id, a UUID that no request had before. Until it is admitted: records and holds go by the id. */
  identify(id: string): void
  /** Epoch ms. */
  readonly startedAt: number
  /** null: an internal call. */
  readonly ingress: Ingress | null
  /** Facts of the embedding server about the request; null without them. An internal call has those of its parent. */
  readonly host: HostContext | null
  /** Aborts when the client leaves or the request ends early; made on first use. */
  readonly signal: AbortSignal
  readonly operation: O
  /** Which client-key restrictions apply to this route. */
  readonly scope: KeyScope
  /** Virtual models that this route accepts. */
  readonly models: ModelKind
  readonly dialect: Dialect
  readonly headers: HeaderBag
  /** `api`, or who made an internal call. */
  readonly source: string
  readonly parent: RequestContext | null
  readonly stream: boolean
  /** Exactly as sent, never rewritten. */
  readonly requestedModel: string
  virtualModel: string | null
  principal: Principal
  costCenter: string | null
  /** From the session header, at most 256 characters. */
  sessionId: string | null
  /** From `x-gateway-user-id`: the caller's own end user, for records. */
  userId: string | null
  /** Labels for records, put there by plugins; null = none. */
  properties: Record<string, string> | null
  /** Annotations of plugins for the record, by name; null when there are none. */
  readonly notes: Readonly<Record<string, Json>> | null
  /** Notes something for the record: no text of a prompt or an answer. An internal call's notes are those of its parent. */
  note(name: string, value: Json): void
  /** Size of the body as sent; 0 before it is read and without a body. */
  readonly bodyBytes: number
  /** The body as it was sent: read only, not a copy. null before it is read and where there is none. */
  readonly rawBody: Uint8Array | null
  /** Decoded on first use. */
  readonly request: Frozen<RequestOf<O>>
  /** Own copy: request, system, messages and tools may be changed; parts are replaced, never mutated. Ends the byte lane. */
  edit(): RequestOf<O>
  readonly edited: boolean
  plan: Plan | null
  readonly candidate: Candidate | null
  /** Headers of the last upstream answer, failures included; null before the first. Not a copy: read only. */
  readonly upstreamHeaders: HeaderBag | null
  readonly attempts: readonly Attempt[]
  skip(candidate: Candidate, reason: SkipReason, until?: number): void
  readonly responseHeaders: HeaderBag
  warn(slug: string): void
  cached: Outcome['cached']
  /** A plugin that sets `cached` also sets the saved call here. */
  cachedCall: CachedCall | null
  hold(lease: Lease): void
  /** The encoded non-stream answer, before it is sent. */
  tap(fn: (reply: Reply) => void): void
}

/** A running request as the pump sees it: checkpoints, drain, /healthz. */
export interface LiveRequest {
  readonly ctx: RequestContext
  readonly contentBytes: number
  readonly usage: Partial<Usage> | null
  /** Calls made inside of it: those that are over, and those that run. */
  readonly steps: readonly Step[]
  readonly calls: readonly LiveRequest[]
  /** Monotonic ms of the last upstream byte. */
  readonly lastReadAt: number
}

/** Per-request plugin state: an index into a preallocated array. */
export interface Slot<T> {
  get(ctx: RequestContext): T | undefined
  set(ctx: RequestContext, value: T): void
}

/** One attempt's view: a copy-on-write canonical, later the wire body. */
export interface Call {
  readonly candidate: Candidate
  readonly codec: CodecContext
  readonly request: Frozen<CanonicalRequest>
  edit(): CanonicalRequest
  readonly lane: 'bytes' | 'events'
}

export interface EncodedCall extends Call {
  readonly body: WireBody
  /** Headers towards the upstream; no credential is in them yet. */
  readonly headers: HeaderBag
}

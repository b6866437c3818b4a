// Types of the services that show how a request would be written, and what happens to one that is made.

import type { GatewayErrorShape } from './error.ts'
import type { ActsFor } from './ports/ports.ts'
import type { CanonicalRequest, Dialect, Frozen, Json } from './request/canonical.ts'
import type { Candidate, Outcome, Plan, RequestContext } from './request/context.ts'

/** A request as an operator writes it. In every dialect its body has `model` and `stream`, also where the dialect has them in the path. */
export interface DraftRequest {
  readonly dialect: Dialect
  readonly body: Readonly<Record<string, unknown>>
}

/** A request with masked credentials. */
export interface ShownRequest {
  readonly method: string
  /** A path, or a whole URL. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** null: none, or it is not JSON. */
  readonly body: Json
}

export interface Encoding {
  readonly dialect: Dialect
  /** null: the target does not support the request, or answers without an upstream. */
  readonly request: ShownRequest | null
  readonly warnings: readonly string[]
  /** Why the target does not support the request. */
  readonly error: GatewayErrorShape | null
}

export interface ReadDraft {
  readonly request: Frozen<CanonicalRequest>
  /** Chooses targets with the resolvers of the pipeline; nothing else runs. @throws GatewayError 400 for an unknown model. */
  plan(): Promise<Plan>
  /** Writes it in a dialect, for a target without deviations. */
  encoded(dialect: Dialect): Encoding
  /** Writes it for an account. Plugins do not run, and the credential is not added. */
  encodedFor(candidate: Candidate): Encoding
}

/** Reads requests and writes them in other dialects. It calls no upstream and stores nothing. */
export interface Translator {
  /** @throws GatewayError 400 as the data plane does. */
  read(draft: DraftRequest, orgId: number | null): Promise<ReadDraft>
}

/** One run of a plugin's handler in a traced call. */
export interface TracedHook {
  readonly plugin: string
  readonly hook: string
  /** Time in the handler. */
  readonly us: number
  readonly failed: boolean
}

/** Receives what happens to a traced call, in its order. Texts are parts of a body; upstream calls are numbered from 1. */
export interface TraceLanes {
  hook(run: TracedHook): void
  /** `shared`: another organization's connection is called. Its address, its headers and its raw answers are not reported. */
  upstream(call: number, request: ShownRequest, shared: boolean): void
  /** The head of an upstream's answer. */
  answered(call: number, status: number): void
  raw(call: number, text: string): void
  /** The head of the caller's answer. Flat [name, value, …]. */
  head(status: number, headers: readonly string[]): void
  delivered(text: string): void
  settled(ctx: RequestContext, outcome: Outcome): void
  /** undefined: more may come at once. Otherwise the call waits for it. */
  drained(): Promise<void> | undefined
}

/** Calls of operators to the data plane with a trace. The whole pipeline runs. Other requests do not pay for it. */
export interface TracedCalls {
  /**
   * Resolves when the call is settled, with any status. Without a key the operator's organization calls.
   * @throws GatewayError 400 for a `model` or `stream` that cannot be part of a path.
   */
  run(draft: DraftRequest, actsFor: ActsFor, lanes: TraceLanes, signal: AbortSignal): Promise<void>
}

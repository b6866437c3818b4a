// Calls of plugins to the data plane.
import type { ActsFor, HeaderBag, Sink } from '../ports/ports.ts'

/** An answer outside the pipeline, whole. */
export interface DirectAnswer {
  readonly status: number
  readonly headers: HeaderBag
  readonly body: Uint8Array
}

/** A call of a plugin to the data plane. */
export interface OwnCall {
  /** For example `/v1/chat/completions`. */
  readonly path: string
  /** Without `?`; default: none. */
  readonly query?: string
  /** JSON. */
  readonly body: Uint8Array
  readonly actsFor: ActsFor
  /** Flat [name, value, …]. */
  readonly headers?: readonly string[]
  readonly signal?: AbortSignal
}

/** Calls to the data plane for a client key: with its allow-list, limits, budgets and log. */
export interface OwnCalls {
  /** Writes the answer while it arrives. Resolves when the call is settled; never rejects. */
  stream(call: OwnCall, sink: Sink): Promise<void>
  /** Resolves with any status; never rejects. */
  post(call: OwnCall): Promise<DirectAnswer>
}

// Host and upstream ports: one client exchange, one upstream call, and the small facilities around them.

import type { GatewayErrorShape } from './error.ts'
import type { HostContext } from './host.ts'
import type { Operator } from './operator.ts'

/**
 * The method names of web Headers over a flat list, with no web object behind them.
 * Names are case-insensitive; `get` joins repeats with ", ", `all` does not.
 */
export interface HeaderBag {
  get(name: string): string | null
  all(name: string): readonly string[]
  has(name: string): boolean
  set(name: string, value: string): void
  append(name: string, value: string): void
  delete(name: string): void
  /** Flat [name, value, …], as a Sink and a WireRequest take it. */
  flat(): readonly string[]
  [Symbol.iterator](): Iterator<[string, string]>
}

/**
 * `local`: whether the host counts the peer as local. null = the embedding server did not say: anonymous data plane allowed, open-mode /api
 * refused.
 */
export interface Peer {
  readonly address: string | null
  readonly local: boolean | null
  readonly secure: boolean
  /** Set by a host that vouches for the caller itself: the command line, which holds master key and database. */
  readonly operator?: Operator
}

/** Key-value store with expiry, as plugins see it. A `Storage` of unstorage is one, so every unstorage driver fits. */
export interface KeyValueStore {
  /** null: unknown or expired. Values are stored as JSON, and a string that is JSON comes back parsed: store an object around it. */
  getItem<T = unknown>(key: string): Promise<T | null>
  /** @param options `ttl` in seconds, fractions allowed; without it the value stays until it is removed. */
  setItem(key: string, value: unknown, options?: { ttl?: number }): Promise<void>
  getItemRaw(key: string): Promise<unknown>
  setItemRaw(key: string, value: unknown, options?: { ttl?: number }): Promise<void>
  hasItem(key: string): Promise<boolean>
  removeItem(key: string): Promise<void>
  /** Keys that begin with `base`; all keys without it. */
  getKeys(base?: string): Promise<string[]>
  clear(base?: string): Promise<void>
}

export interface Ingress {
  /** Upper case. */
  readonly method: string
  /** As received: undecoded, no query, mount prefix removed. */
  readonly path: string
  /** Without "?"; '' when none. */
  readonly query: string
  readonly headers: HeaderBag
  readonly peer: Peer
  /** Facts of the embedding server about the request. */
  readonly host?: HostContext
  /** The host's objection to the request, found before routing. */
  readonly refusal?: GatewayErrorShape | null
  /** The whole body, at most once. Rejects: over the limit 413, content-encoding 415, client gone 499. */
  body(limit: number, meter?: BodyMeter): Promise<Uint8Array>
  /** For multipart: the same limit and errors, chunk by chunk. Instead of body(), never after it. */
  chunks(limit: number): AsyncIterable<Uint8Array>
}

/** Counts a body as it comes. */
export interface BodyMeter {
  /** Before a chunk is kept: what refuses it, and no more of the body is read. */
  take(bytes: number): GatewayErrorShape | null
  /** The reader says once how to give the body up from outside. */
  onRefused(fn: (error: GatewayErrorShape) => void): void
}

export interface Sink {
  /** Once, before write or end; nothing is on the wire until then. Flat [name, value, …]; framing headers are the host's. */
  head(status: number, headers: readonly string[]): void
  /** False above the high-water mark (64 KiB): await drained() before the next. Bytes are handed over. */
  write(chunk: Uint8Array | string): boolean
  /** undefined = go on; also settles when the client is gone. */
  drained(): Promise<void> | undefined
  /** Without an earlier write: content-length, one segment. */
  end(chunk?: Uint8Array | string): void
  readonly gone: boolean
  /** Client left before end(): called once, synchronously; at once when it has left already. One listener. */
  onGone(fn: () => void): void
}

export interface WireRequest {
  method: string
  url: string
  /** Flat [name, value, …]. */
  headers: string[]
  body: readonly Uint8Array[] | null
  proxyUrl: string | null
  /** 0 = none. */
  connectTimeoutMs: number
  /** A non-stream response body over 64 MiB is an error; streams are bounded by the pump. */
  stream: boolean
}

/** Push, synchronous per chunk. `data` may return a promise: the driver pauses the socket until it settles. */
export interface WireHandler {
  head(status: number, headers: HeaderBag): void
  data(chunk: Uint8Array): Promise<void> | undefined
  end(): void
  error(error: GatewayErrorShape): void
}

export interface Transport {
  /** Never throws: every failure is `handler.error`, once. After abort() the handler is not called again. */
  send(request: WireRequest, handler: WireHandler): { abort(reason: GatewayErrorShape): void }
  close(): Promise<void>
}

export type Logger = Record<'debug' | 'info' | 'warn' | 'error', (message: string, fields?: object) => void>

export interface Timer {
  cancel(): void
}

export interface Clock {
  /** Wall clock, epoch ms: windows and records only. */
  now(): number
  /** Monotonic ms: timeouts, durations, cooldowns. */
  monotonic(): number
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** `background`: does not keep the process alive. */
  timer(ms: number, fn: () => void, background?: boolean): Timer
  /** Repeating timer that does not keep the process alive. */
  every(ms: number, fn: () => void): Timer
}

export interface TakeResult {
  ok: boolean
  retryAfterMs: number
  /** True when a shared store was unreachable and a fallback answered. */
  degraded: boolean
}

export interface DebitResult {
  /** Total of the current window. */
  total: number
  /** Until the next window begins. */
  endsInMs: number
  degraded: boolean
}

/** Rates, in-flight slots and debounce; never money. Synchronous in memory: no await on the hot path. */
export interface Counters {
  /**
   * A sliding minute, or with `burst` a token bucket. A cost of 0 asks whether one unit would pass and takes nothing: with
   * `debit(key, used, 60_000)` afterwards that is a cap on what is only known at the end.
   */
  take(key: string, limit: { perMinute: number; burst?: number }, cost?: number): Promise<TakeResult> | TakeResult
  /** Adds to the window of the key, which its first event begins; never refuses. */
  debit(key: string, amount: number, windowMs: number): Promise<DebitResult>
  /** A slot held until release; `leaseMs` bounds what a crash leaves behind. */
  acquire(key: string, max: number, leaseMs: number): Promise<{ ok: boolean; degraded: boolean; release(): void }>
  /** True for the first caller within `ttlMs`. */
  once(key: string, ttlMs: number): Promise<boolean>
}

/** Where a sealed value lives: bound into the ciphertext, so that it opens nowhere else. */
export interface SealedAt {
  table: string
  id: string | number
  column: string
  orgId: number | null
}

/** Secrets at rest: sealing under a data key per organization, keyed hashing under sub-keys of one master key. */
export interface Vault {
  /** Makes the organization's data key: before a `seal` inside a transaction, which may not. */
  prepare(orgId: number | null): Promise<void>
  seal(plain: string, at: SealedAt): Promise<string>
  /** @throws Error when the value was altered, moved or sealed under another master key. */
  open(sealed: string, at: SealedAt): Promise<string>
  /** HMAC-SHA-256 in hex under the sub-key of `purpose`: look-ups of tokens. */
  mac(purpose: string, data: string): string
  /** 32 bytes, distinct for each `purpose`. */
  subkey(purpose: string): Uint8Array
}

/** Something the gateway depends on, as /healthz shows it. */
export interface HealthCheck {
  readonly name: 'database' | 'shared_store'
  /** Readiness is 503 while it fails; else the gateway is merely degraded. */
  readonly required: boolean
  /** Fixed members only: no address, no path. Never rejects. */
  check(): Promise<{ ok: boolean } & Readonly<Record<string, string | number | boolean>>>
}

/** The addresses that administrators may send the gateway to. */
export interface OutboundGuard {
  /** @throws GatewayError 400 naming `param`: not http(s), or an address inside. Names are judged again at every dial. */
  check(url: string, param: string): URL
}

/**
 * Sends a POST to an address that an administrator entered. Each dial is checked and goes to the checked address, redirects are not
 * followed, and at most 4 KiB of the answer is read. Rejects when there is no answer.
 */
export type OutboundPost = (request: {
  url: string
  headers: Readonly<Record<string, string>>
  body: string
  signal: AbortSignal
  /** The operator's own address, which may be inside the network: the dial is not judged. Default false. */
  inward?: boolean
}) => Promise<{ status: number }>

/** One vector of a scope, and what is found by it. */
export interface VectorEntry {
  /** Unique in its scope. */
  readonly id: string
  /** Normalized to length 1. */
  readonly vector: Float32Array
  readonly value: string
  /** Epoch ms. */
  readonly expiresAt: number
}

export interface VectorMatch {
  readonly id: string
  readonly value: string
  /** Cosine, -1 to 1. */
  readonly similarity: number
}

/**
 * Nearest neighbours within a scope. Vectors of different scopes are never compared. Entries may be lost; the newest 2,000 of a scope are
 * kept. A store that replicas share rejects while it is unavailable.
 */
export interface VectorStore {
  add(scope: string, entry: VectorEntry): Promise<void>
  /** The most similar that has not run out; of equals the newest. */
  nearest(scope: string, vector: Float32Array): Promise<VectorMatch | undefined>
  /** Removes what has run out. */
  sweep(): Promise<void>
}

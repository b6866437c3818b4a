// Types of the host and upstream ports: one client exchange, one upstream call, and the small services around them.

import type { GatewayErrorShape } from '../error.ts'
import type { Operator } from '../operator.ts'
import type { HostContext } from '../request/host.ts'

/**
 * Headers as a flat list with the method names of web Headers. Names are case-insensitive. `get` joins repeated headers with ", "; `all`
 * returns them separately.
 */
export interface HeaderBag {
  get(name: string): string | null
  all(name: string): readonly string[]
  has(name: string): boolean
  set(name: string, value: string): void
  append(name: string, value: string): void
  delete(name: string): void
  /** Flat [name, value, …], as a Sink and a WireRequest expect it. */
  flat(): readonly string[]
  [Symbol.iterator](): Iterator<[string, string]>
}

/**
 * The client. `local`: whether the host counts it as local. null = the embedding server did not say: anonymous data-plane calls are
 * allowed, and /api in open mode is refused.
 */
export interface Peer {
  readonly address: string | null
  readonly local: boolean | null
  readonly secure: boolean
  /** Set by a host that authenticates the caller itself: the command line, which holds the master key and the database. */
  readonly operator?: Operator
}

/** A key-value store with expiry, as plugins see it. The `Storage` of unstorage has this shape, so every unstorage driver fits. */
export interface KeyValueStore {
  /** null: unknown or expired. Values are stored as JSON, and a string that is JSON is returned parsed: wrap such a string in an object. */
  getItem<T = unknown>(key: string): Promise<T | null>
  /** @param options `ttl` in seconds, fractions allowed; without it the value has no expiry. */
  setItem(key: string, value: unknown, options?: { ttl?: number }): Promise<void>
  getItemRaw(key: string): Promise<unknown>
  setItemRaw(key: string, value: unknown, options?: { ttl?: number }): Promise<void>
  hasItem(key: string): Promise<boolean>
  removeItem(key: string): Promise<void>
  /** Returns the keys that begin with `base`; without it all keys. */
  getKeys(base?: string): Promise<string[]>
  clear(base?: string): Promise<void>
}

/** The client key that a plugin's own call is made for; `keyId` null: an anonymous caller. */
export interface ActsFor {
  readonly orgId: number | null
  readonly keyId: number | null
  /** The name in usage and log. */
  readonly source: string
}

export interface Ingress {
  /** Upper case. */
  readonly method: string
  /** The path as received: undecoded, without query and mount prefix. */
  readonly path: string
  /** Without "?"; '' when there is none. */
  readonly query: string
  readonly headers: HeaderBag
  readonly peer: Peer
  /** Facts from the embedding server about the request. */
  readonly host?: HostContext | undefined
  /** Set for a call that a plugin makes for a client key, such as an item of a batch. */
  readonly actsFor?: ActsFor
  /** True: the host turns the exchange into a WebSocket after an answer with status 101. */
  readonly upgradable?: boolean
  /** The host's refusal of the request, found before routing. */
  readonly refusal?: GatewayErrorShape | null
  /** Returns the whole body when all of it has come; null: call `body`. @throws as `body` rejects. */
  received?(limit: number): Uint8Array | null
  /** Reads the whole body, at most once. Rejects: over the limit 413, content-encoding 415, client gone 499. */
  body(limit: number, meter?: BodyMeter): Promise<Uint8Array>
  /** For multipart: yields chunks with the same limit and errors. Call either this or body(). */
  chunks(limit: number, meter?: BodyMeter): AsyncIterable<Uint8Array>
}

/** Counts a body while it arrives. */
export interface BodyMeter {
  /** Called before a chunk is kept. Returns a refusal, or null; after a refusal the rest of the body is not read. */
  take(bytes: number): GatewayErrorShape | null
  /** The reader calls it once and passes a function that refuses the body from outside. */
  onRefused(fn: (error: GatewayErrorShape) => void): void
}

export interface Sink {
  /** Sends the head: once, before write or end; nothing is sent earlier. Flat [name, value, …]; the host adds framing headers. */
  head(status: number, headers: readonly string[]): void
  /** Returns false above the high-water mark (64 KiB): await drained() before the next write. The sink owns the bytes from now on. */
  write(chunk: Uint8Array | string): boolean
  /** undefined = continue; the promise also settles when the client is gone. */
  drained(): Promise<void> | undefined
  /** Without an earlier write: sends content-length, in one segment. */
  end(chunk?: Uint8Array | string): void
  readonly gone: boolean
  /** Calls `fn` once, synchronously, when the client leaves before end(); at once when it has already left. One listener. */
  onGone(fn: () => void): void
}

/** Bytes that are sent while they arrive. */
export interface ByteSource {
  pump(sink: Pick<Sink, 'write' | 'drained'>): Promise<void>
  cancel(reason?: unknown): void
  /** The failure that ended the bytes, when they carry it to the caller themselves; null: none. */
  failure?(): GatewayErrorShape | null
}

export interface WireRequest {
  method: string
  url: string
  /** Flat [name, value, …]. */
  headers: string[]
  body: readonly Uint8Array[] | null
  proxyUrl: string | null
  /** 0 = no limit. */
  connectTimeoutMs: number
  /** For a stream there is no size limit here: the pump has its own. Any other body over 64 MiB is an error. */
  stream: boolean
}

/** Gets the response by push, synchronously for each chunk. `data` may return a promise: the driver pauses the socket until it settles. */
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
  /** Wall clock, epoch ms: for windows and records only. */
  now(): number
  /** Monotonic ms: for timeouts, durations, cooldowns. */
  monotonic(): number
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** `background`: the timer does not keep the process alive. */
  timer(ms: number, fn: () => void, background?: boolean): Timer
  /** A repeating timer that does not keep the process alive. */
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
  /** Ms until the next window begins. */
  endsInMs: number
  degraded: boolean
}

/** Counters for rates, in-flight slots and debounce; never for money. The memory store is synchronous: no await on the hot path. */
export interface Counters {
  /**
   * Takes from a sliding minute, or with `burst` from a token bucket. A cost of 0 checks whether one unit would pass and takes nothing.
   * Together with `debit(key, used, 60_000)` afterwards this caps a value that is known only at the end.
   */
  take(key: string, limit: { perMinute: number; burst?: number }, cost?: number): Promise<TakeResult> | TakeResult
  /** Adds to the key's window, which begins with its first event. Never refuses. */
  debit(key: string, amount: number, windowMs: number): Promise<DebitResult>
  /** Returns what the sliding minute of a key holds now, rounded up. It takes nothing; token buckets hold nothing here. */
  inMinute(key: string): Promise<number> | number
  /** Takes a slot until release(). After `leaseMs` the slots of a crashed process are free again. */
  acquire(key: string, max: number, leaseMs: number): Promise<{ ok: boolean; degraded: boolean; release(): void }>
  /** Returns true for the first caller within `ttlMs`. */
  once(key: string, ttlMs: number): Promise<boolean>
}

/** The place of a sealed value. It is bound into the ciphertext, so that the value opens nowhere else. */
export interface SealedAt {
  table: string
  id: string | number
  column: string
  orgId: number | null
}

/** Protects stored secrets: seals under one data key per organization, and hashes under sub-keys of one master key. */
export interface Vault {
  /** Creates the organization's data key. Call it before a `seal` inside a transaction, which cannot create one. */
  prepare(orgId: number | null): Promise<void>
  seal(plain: string, at: SealedAt): Promise<string>
  /** @throws Error when the value was altered, moved or sealed under another master key. */
  open(sealed: string, at: SealedAt): Promise<string>
  /** HMAC-SHA-256 in hex under the sub-key of `purpose`, for token look-ups. */
  mac(purpose: string, data: string): string
  /** Returns 32 bytes, different for each `purpose`. */
  subkey(purpose: string): Uint8Array
}

/** A dependency of the gateway, as /healthz shows it. */
export interface HealthCheck {
  readonly name: 'database' | 'shared_store'
  /** While a required check fails, readiness is 503. Any other failure only makes the gateway degraded. */
  readonly required: boolean
  /** Returns fixed members only: no address, no path. Never rejects. */
  check(): Promise<{ ok: boolean } & Readonly<Record<string, string | number | boolean>>>
}

/** Checks addresses that administrators enter. */
export interface OutboundGuard {
  /** @throws GatewayError 400 naming `param`: not http(s), or an internal address. Host names are checked again at every dial. */
  check(url: string, param: string): URL
}

/**
 * Sends a POST to an address that an administrator entered. Each dial is checked and connects to the checked address. Redirects are not
 * followed, and at most 4 KiB of the answer is read. Rejects when there is no answer.
 */
export type OutboundPost = (request: {
  url: string
  headers: Readonly<Record<string, string>>
  body: string
  signal: AbortSignal
  /** True for the operator's own address, which may be internal: the dial is not checked. Default false. */
  inward?: boolean
}) => Promise<{ status: number }>

/** One vector of a scope and its payload. */
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
  /** Cosine similarity, -1 to 1. */
  readonly similarity: number
}

/**
 * Finds nearest neighbours within a scope. Vectors of different scopes are never compared. Entries may be lost; the newest 2,000 of a
 * scope are kept. A store that replicas share rejects while it is unavailable.
 */
export interface VectorStore {
  add(scope: string, entry: VectorEntry): Promise<void>
  /** Returns the most similar entry that has not expired; among equals the newest. */
  nearest(scope: string, vector: Float32Array): Promise<VectorMatch | undefined>
  /** Removes expired entries. */
  sweep(): Promise<void>
}

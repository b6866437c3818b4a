// Holds the state of one attempt's call: the facts for codecs, a copy-on-write canonical request, and later the wire body.
import { GatewayError } from '../errors/gateway-error.ts'
import { headerBag } from '../http/headers.ts'
import { randomId } from '../ids/ids.ts'
import { capsOf } from '../models/model-caps.ts'
import { LARGE_REQUEST } from '../timing/yield-queue.ts'
import type { HeaderBag } from '../types/ports/ports.ts'
import type { Connection, Provider } from '../types/ports/provider.ts'
import type { CanonicalRequest, Dialect, Frozen, Json, Operation } from '../types/request/canonical.ts'
import type { Candidate, EncodedCall } from '../types/request/context.ts'
import type { CodecContext, ModelCaps, Quirks, WireBody } from '../types/request/dialect.ts'
import type { RequestState } from './context.ts'
import { editable } from './editable.ts'
import type { Runtime } from './runtime.ts'

export function codecContext(
  runtime: Runtime,
  ctx: RequestState,
  candidate: Candidate,
  provider: Provider,
  upstream: Dialect,
): CodecContext {
  return new AttemptHop(runtime, ctx, candidate, provider, upstream)
}

/** The codec context of one attempt. It builds maps and decodes the request on first use only. */
class AttemptHop implements CodecContext {
  readonly provider: string
  readonly model: string
  readonly caller: Dialect
  readonly upstream: Dialect
  readonly caps: Readonly<ModelCaps>
  readonly quirks: Readonly<Quirks>
  readonly #runtime: Runtime
  readonly #ctx: RequestState
  #includeUsage: boolean | null = null
  #names: Map<string, string> | null = null
  #notes: Map<string, Json> | null = null

  constructor(runtime: Runtime, ctx: RequestState, { connection, target }: Candidate, provider: Provider, upstream: Dialect) {
    this.provider = connection.provider
    this.model = target.model
    this.caller = ctx.dialect
    this.upstream = upstream
    this.caps = capsOf(provider, connection, target.model)
    this.quirks = provider.quirks
    this.#runtime = runtime
    this.#ctx = ctx
  }

  get operation(): Operation {
    return this.#ctx.operation
  }
  get requestId(): string {
    return this.#ctx.id
  }
  get stream(): boolean {
    return this.#ctx.stream
  }
  get sse(): boolean {
    return this.#ctx.sse
  }
  get large(): boolean {
    return this.#ctx.bodyBytes > LARGE_REQUEST
  }
  get includeUsage(): boolean {
    // Codecs read this for every frame, so it is computed once.
    this.#includeUsage ??= this.#readIncludeUsage()
    return this.#includeUsage
  }
  get names(): Map<string, string> {
    this.#names ??= new Map()
    return this.#names
  }
  get notes(): Map<string, Json> {
    this.#notes ??= new Map()
    return this.#notes
  }
  get request(): Frozen<CanonicalRequest> | null {
    return this.#ctx.decode === null ? null : this.#ctx.request
  }

  warn(slug: string): void {
    this.#ctx.warn(slug)
  }
  now(): number {
    return this.#runtime.clock.now()
  }
  id(prefix: string): string {
    return randomId(prefix)
  }

  #readIncludeUsage(): boolean {
    const { body, dialect } = this.#ctx
    if (dialect !== 'chat') return false
    return body === null || this.#ctx.edited
      ? this.#ctx.request.includeUsage === true
      : body.get('stream_options.include_usage') === true
  }
}

/** Returns a codec context for an answer without an upstream (caches, plugins). */
export function codecContextOf(runtime: Runtime, ctx: RequestState): CodecContext {
  if (ctx.codec !== null) return ctx.codec
  const target = ctx.plan?.targets[0] ?? { provider: 'gateway', model: ctx.requestedModel, connectionId: null, weight: 1 }
  return codecContext(
    runtime,
    ctx,
    { target, connection: { ...NO_CONNECTION, provider: target.provider } },
    runtime.provider(target.provider),
    ctx.dialect,
  )
}

export const NO_CONNECTION: Connection = {
  id: 'gateway',
  provider: 'gateway',
  baseUrl: null,
  label: 'gateway',
  wireFormat: null,
  allowedModels: [],
  priority: 0,
  maxInflight: null,
  proxyUrl: null,
  headers: {},
  defaultModel: null,
}

export class CallState implements EncodedCall {
  readonly candidate: Candidate
  readonly codec: CodecContext
  readonly headers: HeaderBag = headerBag()
  readonly #ctx: RequestState
  #copy: CanonicalRequest | null = null
  #body: WireBody | null = null

  constructor(ctx: RequestState, candidate: Candidate, codec: CodecContext) {
    this.#ctx = ctx
    this.candidate = candidate
    this.codec = codec
  }

  get request(): Frozen<CanonicalRequest> {
    return this.#copy ?? this.#ctx.request
  }

  edit(): CanonicalRequest {
    if (this.#body !== null) throw new Error('The call is encoded: edit `body` by path instead.')
    this.#copy ??= editable(this.#ctx.request)
    return this.#copy
  }

  /** Replaces the canonical request of this attempt (with inlined media). */
  replace(request: CanonicalRequest): void {
    this.#copy = request
  }

  get lane(): 'bytes' | 'events' {
    const same = this.codec.caller === this.codec.upstream && this.#ctx.body !== null
    return same && !this.#ctx.edited && this.#copy === null ? 'bytes' : 'events'
  }

  get body(): WireBody {
    if (this.#body === null)
      throw new GatewayError('The call has no wire body before it is encoded.', { status: 500, type: 'api_error' })
    return this.#body
  }

  set body(body: WireBody) {
    this.#body = body
  }
}

// One attempt's call: the hop's facts, a copy-on-write canonical request, later the wire body.
import { GatewayError } from '../errors/gateway-error.ts'
import { headerBag } from '../lib/headers.ts'
import { randomId } from '../lib/ids.ts'
import type { CanonicalRequest, Dialect, Frozen, Json } from '../types/canonical.ts'
import type { Candidate, EncodedCall } from '../types/context.ts'
import type { Hop, WireBody } from '../types/dialect.ts'
import type { HeaderBag } from '../types/ports.ts'
import type { Connection, Provider } from '../types/provider.ts'
import { editable, type RequestState } from './context.ts'
import type { Kernel } from './kernel.ts'

export function makeHop(kernel: Kernel, ctx: RequestState, candidate: Candidate, provider: Provider, upstream: Dialect): Hop {
  const { model } = candidate.target
  return {
    provider: candidate.connection.provider,
    model,
    caller: ctx.dialect,
    upstream,
    operation: ctx.operation,
    caps: provider.caps(model),
    quirks: provider.quirks,
    requestId: ctx.id,
    stream: ctx.stream,
    get includeUsage() {
      return (
        ctx.dialect === 'chat' &&
        (ctx.body === null ? ctx.request.includeUsage === true : ctx.body.get('stream_options.include_usage') === true)
      )
    },
    sse: ctx.sse,
    names: new Map<string, string>(),
    notes: new Map<string, Json>(),
    get request() {
      return ctx.decode === null ? null : ctx.request
    },
    warn: (slug) => ctx.warn(slug),
    now: () => kernel.clock.now(),
    id: (prefix) => randomId(prefix),
  }
}

/** Answers without an upstream (caches, plugins) are encoded under a hop of their own. */
export function hopOf(kernel: Kernel, ctx: RequestState): Hop {
  if (ctx.hop !== null) return ctx.hop
  const target = ctx.plan?.targets[0] ?? { provider: 'gateway', model: ctx.requestedModel, connectionId: null, weight: 1 }
  return makeHop(
    kernel,
    ctx,
    { target, connection: { ...NO_CONNECTION, provider: target.provider } },
    kernel.provider(target.provider),
    ctx.dialect,
  )
}

const NO_CONNECTION: Connection = {
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
  readonly hop: Hop
  readonly headers: HeaderBag = headerBag()
  readonly #ctx: RequestState
  #copy: CanonicalRequest | null = null
  #body: WireBody | null = null

  constructor(ctx: RequestState, candidate: Candidate, hop: Hop) {
    this.#ctx = ctx
    this.candidate = candidate
    this.hop = hop
  }

  get request(): Frozen<CanonicalRequest> {
    return this.#copy ?? this.#ctx.request
  }

  edit(): CanonicalRequest {
    if (this.#body !== null) throw new Error('The call is encoded: edit `body` by path instead.')
    this.#copy ??= editable(this.#ctx.request)
    return this.#copy
  }

  /** Replaces the canonical request of this attempt (inlined media). */
  replace(request: CanonicalRequest): void {
    this.#copy = request
  }

  get lane(): 'bytes' | 'events' {
    const same = this.hop.caller === this.hop.upstream && this.#ctx.body !== null
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

// The calls of one attempt of an operation: address, credential, headers and proxy of the connection, and the hook `encoded` before
// each JSON body.
import { GatewayError } from '../../errors/gateway-error.ts'
import { withoutSecrets } from '../../errors/without-secrets.ts'
import { jsonBytes } from '../../json/json-bytes.ts'
import { forkBody, writtenBody } from '../../json/wire-body.ts'
import { isForeign } from '../../records/request-record.ts'
import type { ConnectionService } from '../../services.ts'
import { credentialsOf } from '../../text/sanitize.ts'
import type { GatewayErrorShape } from '../../types/error.ts'
import type {
  FormBody,
  OperationUpstream,
  ServedOperation,
  UpstreamAnswer,
  UpstreamRequest,
  UpstreamStreamAnswer,
} from '../../types/operations/operation.ts'
import type { OutboundGuard, WireRequest } from '../../types/ports/ports.ts'
import type { Provider } from '../../types/ports/provider.ts'
import type { Usage } from '../../types/request/answer.ts'
import type { Awaitable, JsonObject } from '../../types/request/canonical.ts'
import type { CodecContext, WireBody } from '../../types/request/dialect.ts'
import { authorize, credentialOf } from '../authorize.ts'
import type { CallState } from '../call-state.ts'
import type { RequestState } from '../context.ts'
import { driver, type Runtime } from '../runtime.ts'
import { joinUrl, proxyFor } from '../upstream-url.ts'
import { exchangeStream, exchangeWhole } from './exchange.ts'
import { formBytes } from './form-bytes.ts'

interface MadeBody {
  bytes: WireRequest['body']
  contentType: string | null
}

export class UpstreamCalls implements OperationUpstream {
  readonly codec: CodecContext
  /** Usage that the codec has reported with `charged`; null: nothing is known to be charged. */
  usage: Usage | null = null
  readonly #runtime: Runtime
  readonly #ctx: RequestState
  readonly #call: CallState
  readonly #provider: Provider
  readonly #served: ServedOperation
  readonly #startedAt: number
  #secret: string | null = null

  constructor(runtime: Runtime, ctx: RequestState, call: CallState, provider: Provider, served: ServedOperation) {
    this.codec = call.codec
    this.#runtime = runtime
    this.#ctx = ctx
    this.#call = call
    this.#provider = provider
    this.#served = served
    this.#startedAt = runtime.clock.monotonic()
  }

  get model(): string {
    return this.codec.model
  }

  get segment(): string {
    return encodeURIComponent(this.codec.model)
  }

  get wire(): WireBody | null {
    const { body } = this.#ctx
    return body === null || this.#call.lane !== 'bytes' ? null : forkBody(body)
  }

  get whole(): boolean {
    const { hooks } = this.#ctx
    return hooks.response !== null && hooks.applies('response', this.#ctx)
  }

  /** Not async: a promise that an async function returns costs three more turns of the microtask queue. */
  send(request: UpstreamRequest): Promise<UpstreamAnswer> {
    const exchange = (wire: WireRequest) => exchangeWhole(this.#runtime, this.#ctx, wire, this.#decodeError)
    try {
      const made = this.#wire(request, false)
      return made instanceof Promise ? made.then(exchange) : exchange(made)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  async stream(request: UpstreamRequest): Promise<UpstreamStreamAnswer> {
    return exchangeStream(this.#runtime, this.#ctx, await this.#wire(request, true), this.#decodeError)
  }

  charged(usage: Usage): void {
    this.usage = usage
  }

  sleep(ms: number): Promise<void> {
    return this.#runtime.clock.sleep(ms, this.#ctx.signal)
  }

  elapsed(): number {
    return this.#runtime.clock.monotonic() - this.#startedAt
  }

  /** Removes what was sent as a credential from an error. */
  clean(error: GatewayError): GatewayError {
    const { candidate } = this.#call
    return withoutSecrets(error, credentialsOf(candidate.connection, this.#secret), isForeign(candidate))
  }

  readonly #decodeError = (status: number, headers: UpstreamAnswer['headers'], body: Uint8Array): GatewayErrorShape => {
    const { dialects } = this.#provider
    const shape = dialects.chat === undefined && dialects.generate_content !== undefined ? 'generate_content' : 'chat'
    return driver(this.#runtime, shape).decodeError(status, headers, body)
  }

  /** Waits for a hook, and for a credential that is fetched, only. */
  #wire(request: UpstreamRequest, stream: boolean): Awaitable<WireRequest> {
    this.#ctx.throwIfStopped()
    const { connection } = this.#call.candidate
    const base = connection.baseUrl ?? this.#served.baseUrl ?? this.#provider.baseUrl
    if (base === null && request.url === undefined) {
      throw GatewayError.invalid('base_url', `A connection to \`${connection.provider}\` needs a \`base_url\`.`)
    }
    const body = this.#body(request)
    return body instanceof Promise
      ? body.then((made) => this.#authorized(request, base, made, stream))
      : this.#authorized(request, base, body, stream)
  }

  #authorized(
    request: UpstreamRequest,
    base: string | null,
    { bytes, contentType }: MadeBody,
    stream: boolean,
  ): Awaitable<WireRequest> {
    const { connection } = this.#call.candidate
    const { generation } = this.#ctx
    const url = request.url ?? joinUrl(base as string, request.path ?? '')
    const { headers } = this.#call
    // Credentials stay on the connection's own origin: a vendor's answer may name any other address.
    const ours = request.url === undefined || new URL(request.url).origin === new URL(base ?? request.url).origin
    for (const name in connection.headers) headers.set(name, connection.headers[name] as string)
    const list = ['accept', request.accept ?? 'application/json', 'accept-encoding', 'identity']
    if (contentType !== null) list.push('content-type', contentType)
    if (request.headers !== undefined) list.push(...request.headers)
    if (ours) list.push(...headers.flat())
    const wire: WireRequest = {
      method: request.method ?? 'POST',
      url,
      headers: list,
      body: bytes,
      proxyUrl: proxyFor(this.#runtime, generation, connection, url, this.#ctx),
      connectTimeoutMs: this.#runtime.options.connectTimeoutMs,
      stream,
    }
    if (!ours) {
      refuseInward(generation.service('outbound') as OutboundGuard, url)
      return wire
    }
    const secret = credentialOf(generation.service('connections') as ConnectionService, connection, this.#runtime.clock)
    return secret instanceof Promise ? secret.then((found) => this.#signed(wire, found)) : this.#signed(wire, secret)
  }

  #signed(wire: WireRequest, secret: string | null): Awaitable<WireRequest> {
    const { candidate } = this.#call
    this.#secret = secret
    const authorizing = authorize(this.#provider, wire, this.codec.upstream, secret, candidate, this.#runtime.clock)
    return authorizing instanceof Promise ? authorizing.then(() => wire) : wire
  }

  #body({ body, contentType: given }: UpstreamRequest): Awaitable<MadeBody> {
    const contentType = given ?? null
    if (body === undefined) return { bytes: null, contentType }
    if (Array.isArray(body)) return { bytes: body as readonly Uint8Array[], contentType }
    if (isForm(body)) return formBytes(body, this.codec.id('form_'))
    const wire = 'toBytes' in body ? (body as WireBody) : writtenBody(jsonBytes(body as JsonObject))
    this.#call.body = wire
    const { hooks } = this.#ctx
    if (hooks.encoded !== null) {
      const editing = hooks.encoded(this.#ctx, this.#call)
      if (editing) return editing.then(() => ({ bytes: wire.toBytes(), contentType: 'application/json' }))
    }
    return { bytes: wire.toBytes(), contentType: 'application/json' }
  }
}

/** The vendor named the address, not the caller. @throws GatewayError 502 */
function refuseInward(outbound: OutboundGuard, url: string): void {
  try {
    outbound.check(url, 'polling_url')
  } catch (error) {
    throw GatewayError.protocol('The upstream named a polling address that does not lead to a public address.', error)
  }
}

function isForm(body: object): body is FormBody {
  return 'fields' in body && 'files' in body && Array.isArray(body.files)
}

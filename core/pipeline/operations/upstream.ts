// The calls of one attempt of an operation: address, credential, headers and proxy of the connection, and the hook `encoded` before
// each JSON body.
import { GatewayError } from '../../errors/gateway-error.ts'
import { withoutSecrets } from '../../errors/without-secrets.ts'
import { forkBody, writtenBody } from '../../json/wire-body.ts'
import type { ConnectionService } from '../../services.ts'
import { credentialsOf } from '../../text/sanitize.ts'
import type { CodecContext, WireBody } from '../../types/dialect.ts'
import type { GatewayErrorShape } from '../../types/error.ts'
import type {
  FormBody,
  OperationUpstream,
  ServedOperation,
  UpstreamAnswer,
  UpstreamRequest,
  UpstreamStreamAnswer,
} from '../../types/operation.ts'
import type { OutboundGuard, WireRequest } from '../../types/ports.ts'
import type { Provider } from '../../types/provider.ts'
import type { CallState } from '../call-state.ts'
import type { RequestState } from '../context.ts'
import { driver, type Runtime } from '../runtime.ts'
import { joinUrl, proxyFor } from '../upstream-url.ts'
import { exchangeStream, exchangeWhole } from './exchange.ts'
import { formBytes } from './form-bytes.ts'

export class UpstreamCalls implements OperationUpstream {
  readonly codec: CodecContext
  readonly #runtime: Runtime
  readonly #ctx: RequestState
  readonly #call: CallState
  readonly #provider: Provider
  readonly #served: ServedOperation
  readonly #startedAt: number
  #sent: readonly string[] = []

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
    const { hooks } = this.#ctx.generation
    return hooks.response !== null && hooks.applies('response', this.#ctx)
  }

  async send(request: UpstreamRequest): Promise<UpstreamAnswer> {
    return exchangeWhole(this.#runtime, this.#ctx, await this.#wire(request, false), this.#decodeError)
  }

  async stream(request: UpstreamRequest): Promise<UpstreamStreamAnswer> {
    return exchangeStream(this.#runtime, this.#ctx, await this.#wire(request, true), this.#decodeError)
  }

  sleep(ms: number): Promise<void> {
    return this.#runtime.clock.sleep(ms, this.#ctx.signal)
  }

  elapsed(): number {
    return this.#runtime.clock.monotonic() - this.#startedAt
  }

  /** Removes what was sent as a credential from an error. */
  clean(error: GatewayError): GatewayError {
    return withoutSecrets(error, this.#sent)
  }

  readonly #decodeError = (status: number, headers: UpstreamAnswer['headers'], body: Uint8Array): GatewayErrorShape => {
    const { dialects } = this.#provider
    const shape = dialects.chat === undefined && dialects.generate_content !== undefined ? 'generate_content' : 'chat'
    return driver(this.#runtime, shape).decodeError(status, headers, body)
  }

  async #wire(request: UpstreamRequest, stream: boolean): Promise<WireRequest> {
    const { connection } = this.#call.candidate
    const { generation } = this.#ctx
    this.#ctx.throwIfStopped()
    const base = connection.baseUrl ?? this.#served.baseUrl ?? this.#provider.baseUrl
    if (base === null && request.url === undefined) {
      throw GatewayError.invalid('base_url', `A connection to \`${connection.provider}\` needs a \`base_url\`.`)
    }
    const url = request.url ?? joinUrl(base as string, request.path ?? '')
    const { bytes, contentType } = await this.#body(request)
    const { headers } = this.#call
    // Credentials stay on the connection's own origin: a vendor's answer may name any other address.
    const ours = request.url === undefined || new URL(request.url).origin === new URL(base ?? request.url).origin
    for (const name in connection.headers) headers.set(name, connection.headers[name] as string)
    const list = ['accept', request.accept ?? 'application/json', 'accept-encoding', 'identity']
    if (contentType !== null) list.push('content-type', contentType)
    const secret = (generation.service('connections') as ConnectionService).secretOf(connection)
    const wire: WireRequest = {
      method: request.method ?? 'POST',
      url,
      headers: [...list, ...(request.headers ?? []), ...(ours ? headers.flat() : [])],
      body: bytes,
      proxyUrl: proxyFor(this.#runtime, generation, connection, url, this.#ctx),
      connectTimeoutMs: this.#runtime.options.connectTimeoutMs,
      stream,
    }
    this.#sent = credentialsOf(connection, secret)
    if (ours) await this.#provider.authorize(wire, this.codec.upstream, secret)
    else (generation.service('outbound') as OutboundGuard).check(url, 'polling_url')
    return wire
  }

  async #body({ body, contentType: given }: UpstreamRequest): Promise<{
    bytes: WireRequest['body']
    contentType: string | null
  }> {
    const contentType = given ?? null
    if (body === undefined) return { bytes: null, contentType }
    if (Array.isArray(body)) return { bytes: body as readonly Uint8Array[], contentType }
    if (isForm(body)) return formBytes(body, this.codec.id('form_'))
    const wire = 'toBytes' in body ? (body as WireBody) : writtenBody(JSON.stringify(body))
    this.#call.body = wire
    const { hooks } = this.#ctx.generation
    if (hooks.encoded !== null) {
      const editing = hooks.encoded(this.#ctx, this.#call)
      if (editing) await editing
    }
    return { bytes: wire.toBytes(), contentType: 'application/json' }
  }
}

function isForm(body: object): body is FormBody {
  return 'fields' in body && 'files' in body && Array.isArray(body.files)
}

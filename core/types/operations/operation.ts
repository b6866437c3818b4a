// The operation port: the interface that adapters/operations implements. An operation has one caller format and one codec per vendor
// family.
import type { ZodType } from 'zod'
import type { ByteSource, HeaderBag } from '../ports/ports.ts'
import type { Usage } from '../request/answer.ts'
import type { Frozen, JsonObject } from '../request/canonical.ts'
import type { CodecContext, WireBody } from '../request/dialect.ts'
import type { KeyScope, ModelKind } from '../request/route.ts'
import type { MediaOperation, OperationAnswers, OperationRequests, UploadedFile } from './operations.ts'

/** A multipart form: fields in order, and files whose bytes are not copied. */
export interface FormBody {
  readonly fields: readonly (readonly [name: string, value: string])[]
  readonly files: readonly UploadedFile[]
}

export interface OperationRoute<O extends MediaOperation = MediaOperation> {
  /** A path that ends in `*` is a prefix: `parse` reads the rest. */
  path: string
  /** Reads the undecoded rest after a prefix; null: the path is not of this route. */
  parse?(rest: string): { model: string } | null
  /** OpenAPI path template of a prefix. */
  template?: string
  /** `media`: 64 MiB; `json`: GATEWAY_MAX_BODY_BYTES; `default`: 2 MiB. */
  bodyLimit: 'media' | 'json' | 'default'
  /** Virtual models that this route accepts. */
  models: ModelKind
  /** Default `model`. */
  scope?: KeyScope
  /** Reads the model's name from the body when the caller may leave `model` out. */
  modelOf?(body: WireBody): string | undefined
  /** Reads a JSON body. Absent: the route takes multipart forms only. @throws GatewayError 400 with `param`. */
  decode?(body: WireBody, path: { readonly model?: string }): OperationRequests[O]
  /** Reads a multipart form. Absent: the route takes JSON only. @throws GatewayError 400 with `param`. */
  decodeForm?(form: FormBody): OperationRequests[O]
  summary: string
  body: ZodType
  /** For OpenAPI: the answer may also be `text/event-stream`. */
  streamed?: boolean
  /** Schema of a JSON answer. Absent: the answer has another type. */
  response?: ZodType
}

/** The texts of a request or an answer that text guardrails inspect. */
export interface TextsOf<T> {
  read(value: Frozen<T>): readonly string[]
  /** Returns a copy with other texts, in the order of `read`. */
  replace(value: Frozen<T>, texts: readonly string[]): T
}

export interface EncodedAnswer {
  contentType: string
  body: Uint8Array | string
}

export interface OperationDriver<O extends MediaOperation = MediaOperation> {
  readonly id: O
  readonly routes: readonly OperationRoute<O>[]
  /** `all`: the next connection is tried after a failure. `first`: only the first connection is tried. */
  readonly connections: 'all' | 'first'
  readonly input: TextsOf<OperationRequests[O]>
  readonly output: TextsOf<OperationAnswers[O]>
  /** Returns the member whose content is tokens of the model's tokenizer, which guardrails cannot read; null: all of it is text. */
  tokensIn?(request: Frozen<OperationRequests[O]>): string | null
  /** The most that one call can use: for reservations, before the call. */
  estimate(request: Frozen<OperationRequests[O]>): OperationUsage
  encode(answer: Frozen<OperationAnswers[O]>, request: Frozen<OperationRequests[O]>, codec: CodecContext): EncodedAnswer
  /** By the name in `Provider.operations`, for the providers that have no codec of their own. */
  readonly codecs: Readonly<Record<string, OperationCodec<O>>>
}

/** Counts that a price applies to. */
export interface OperationUsage {
  /** Upper bound of the tokens that are read; absent: none. */
  inputTokens?: number
  /** Upper bound of the tokens that are written; absent: none, or not known. */
  outputTokens?: number
  units?: Usage['units']
  /** False: the request does not say how much it may use (pages of a document). */
  bounded?: false
}

/** Calls one vendor family. It may make several calls (batches, polling): each counts as part of one attempt. */
export type OperationCodec<O extends MediaOperation = MediaOperation> = (
  request: Frozen<OperationRequests[O]>,
  upstream: OperationUpstream,
) => Promise<OperationReply<OperationAnswers[O]>>

/** How a provider serves an operation. */
export interface ServedOperation<O extends MediaOperation = MediaOperation> {
  /** Name of one of the operation's codecs, or a codec of the provider's own. */
  readonly codec: string | OperationCodec<O>
  /** When it differs from the provider's own address. */
  readonly baseUrl?: string
  /** The model of requests that name the provider only. */
  readonly defaultModel?: string
  /** Globs of the models that have it; absent: all. */
  readonly models?: readonly string[]
}

/** By operation. */
export type ServedOperations = { readonly [O in MediaOperation]?: ServedOperation<O> }

export interface OperationReply<A> {
  readonly usage: Usage
  /** True: the answer was made of a chat call whose own hooks have run, so the hook `response` does not run again. */
  readonly checked?: true
  /** Built on first use: an answer that passes through untouched is never parsed. */
  answer(): A
  /** The upstream's own bytes in the caller's format, sent unless a hook changed the answer. */
  readonly wire?: EncodedAnswer
  /** A streamed answer in the caller's format. `answer` then has what is known when the stream starts. */
  readonly stream?: { readonly contentType: string; readonly source: ByteSource; usage(): Usage | null }
}

/** One call to the vendor. */
export interface UpstreamRequest {
  /** Default POST. */
  readonly method?: 'GET' | 'POST'
  /** Below the connection's base URL. */
  readonly path?: string
  /** An address that the vendor returned (polling). It must be on the connection's origin, or be public. */
  readonly url?: string
  /** Flat [name, value, …]. */
  readonly headers?: readonly string[]
  readonly body?: JsonObject | WireBody | FormBody | readonly Uint8Array[]
  /** The type of a body that is bytes. */
  readonly contentType?: string
  /** Default `application/json`. */
  readonly accept?: string
}

export interface UpstreamAnswer {
  readonly status: number
  readonly headers: HeaderBag
  readonly bytes: Uint8Array
  /** The parsed body. @throws GatewayError 502 when it is not a JSON object. */
  json(): WireBody
}

export interface UpstreamStreamAnswer {
  readonly status: number
  readonly headers: HeaderBag
  /** Back-pressure reaches the upstream while the reader waits. Ends with an error when the upstream breaks off. */
  readonly chunks: AsyncIterable<Uint8Array>
  cancel(reason?: unknown): void
}

/** The vendor's side of one attempt, for a codec. All calls share the attempt's deadline, credential and proxy. */
export interface OperationUpstream {
  readonly codec: CodecContext
  /** The bare upstream model id, as one path segment where a path needs it. */
  readonly model: string
  readonly segment: string
  /** A copy of the caller's JSON body to splice and pass on; null: a hook changed the request, or it was a form. */
  readonly wire: WireBody | null
  /** True: a plugin reads the whole answer, so it must not be a stream. */
  readonly whole: boolean
  /** @throws GatewayError for a status other than 2xx, and for a failed call. */
  send(request: UpstreamRequest): Promise<UpstreamAnswer>
  /** The same, for an answer that is read while it arrives. */
  stream(request: UpstreamRequest): Promise<UpstreamStreamAnswer>
  /**
   * For a codec that makes several calls: what the vendor charged for those so far. Each report replaces the one before. The last one is
   * booked when the attempt then fails; the usage of the reply is booked when it does not.
   */
  charged(usage: Usage): void
  /** Rejects when the request ends. */
  sleep(ms: number): Promise<void>
  /** Milliseconds since the attempt began. */
  elapsed(): number
}

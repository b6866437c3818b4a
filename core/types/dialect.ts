// The dialect port: what an adapter in adapters/dialects implements, and the facts of one attempt that codecs need.
import type { ZodType } from 'zod'
import type { CanonicalResponse } from './answer.ts'
import type { CanonicalRequest, Dialect, Effort, Frozen, Json, JsonObject, Operation } from './canonical.ts'
import type { GatewayErrorShape } from './error.ts'
import type { HeaderBag } from './ports.ts'
import type { Emit, StreamEvent, StreamFacts } from './stream.ts'

/**
 * A JSON body after the linear scan: the bytes, parsed on first use. Paths are dotted ("a.b.0", `\.` = literal dot).
 * set/remove splice the bytes at the member's offsets, so 64-bit numbers and unknown fields survive.
 */
export interface WireBody {
  readonly bytes: Uint8Array
  get(path: string): Json | undefined
  /** The JSON text at a path exactly as sent (digits of big numbers included), undefined when absent. */
  raw(path: string): string | undefined
  /** The first bytes of a top-level member's JSON text: what kind of value it is, without decoding all of it. */
  peek(member: string): string | undefined
  /** True when a top-level member's JSON text contains this ASCII text; a byte search, nothing is decoded. */
  contains(member: string, text: string): boolean
  set(path: string, value: Json): void
  remove(path: string): void
  json(): Frozen<JsonObject>
  readonly edited: boolean
  toBytes(): readonly Uint8Array[]
  /** In the form it is held in: a text that was rewritten need not become bytes before it is sent. */
  whole(): Uint8Array | string
}

/** Facts about one (provider, model): rules read these, never model-name regexes. Absent = unknown. */
export interface ModelCaps {
  /** The family whose signatures these are: `claude`, `gemini`, `gpt`, else the provider id. */
  family: string
  /** Input plus output tokens. */
  context?: number
  maxOutput?: number
  sampling?: 'free' | 'default_only' | 'none'
  temperatureMax?: number
  /** A model that reasons before answering. */
  reasoning?: boolean
  thinking?: { enabled?: boolean; adaptive?: boolean; disabled?: boolean; betweenTools?: boolean }
  /** Gemini: how a thinking wish is expressed. */
  thinkingControl?: 'level' | 'budget' | 'none'
  efforts?: readonly Effort[]
  structuredOutputs?: boolean
  midSystem?: boolean
  prefill?: boolean
  visionIn?: boolean
  pdfIn?: boolean
  audioIn?: boolean
  toolsOnChat?: 'yes' | 'effort_none_only' | 'no'
  maxTokensField?: 'max_tokens' | 'max_completion_tokens'
  developerRole?: boolean
  thoughtSignature?: boolean
  functionCallIds?: boolean
  /** Media parts may sit inside a functionResponse. */
  fnPartsInResults?: boolean
  jsonWithTools?: boolean
  /** `parametersJsonSchema` / `responseJsonSchema` are understood. */
  jsonSchema?: boolean
  systemInstruction?: boolean
  stopSupported?: boolean
  cacheBreakpoints?: boolean
  webSearch?: boolean
}

/** Deviations of a provider from its dialect, as data. */
export interface Quirks {
  maxTokensField?: 'max_tokens' | 'max_completion_tokens'
  developerRole?: boolean
  /** The assistant field in which reasoning is replayed; absent: reasoning is dropped. */
  replayReasoning?: 'reasoning_content' | 'reasoning'
  rejectsStreamOptions?: boolean
  /** A model id is one segment of the path: its slashes are encoded like the rest. */
  modelIsOneSegment?: boolean
  /** Tool-call ids must be exactly nine alphanumerics (mistral). */
  toolIds?: 'alnum9'
  /** Word for tool_choice "required" where it is another one (mistral: `any`). */
  toolChoiceRequired?: string
  /** Templates that take system messages only at the start. */
  systemFirstOnly?: boolean
  acceptsCacheControl?: boolean
  /** Content arrays of text parts are understood for system and tool messages. */
  acceptsPartArrays?: boolean
  inlineThink?: boolean
  emptyContentForCalls?: '' | null
  imageUrl?: 'ok' | 'inline'
  pdf?: boolean
  topK?: boolean
  maxStop?: number
  maxTools?: number
  noPenalties?: boolean
  noLogprobs?: boolean
  noMultipleChoices?: boolean
  noStop?: boolean
  /** Reasoning tokens are reported outside completion_tokens (xai). */
  reasoningOutsideCompletion?: boolean
  /** First system message must travel as `instructions` (codex-style backends). */
  instructionsRequired?: boolean
  /** Function-call ids are refused (vertex): pair by position. */
  noFunctionIds?: boolean
  requiresStream?: boolean
  /** Most characters of an identifier, by its dotted field (`user`, `metadata.user_id`). A longer one is sent as a hash. */
  idLimits?: Readonly<Record<string, number>>
}

/** Facts for one direction of one attempt. */
export interface CodecContext {
  readonly provider: string
  /** The bare upstream model id. */
  readonly model: string
  readonly caller: Dialect
  readonly upstream: Dialect
  readonly operation: Operation
  readonly caps: Readonly<ModelCaps>
  readonly quirks: Readonly<Quirks>
  readonly requestId: string
  /** The caller asked for a stream. */
  readonly stream: boolean
  /** chat callers: `stream_options.include_usage` was true. */
  readonly includeUsage: boolean
  /** False only for generate-content streams without `alt=sse` (a JSON array). */
  readonly sse: boolean
  /** Sanitised → original tool names of this request; filled by encodeRequest, read by decoders. */
  readonly names: Map<string, string>
  /** Memory of encoders for the way back (custom tools flattened to functions, a schema forced as a tool …). */
  readonly notes: Map<string, Json>
  /** The caller's original request: the responses dialect echoes it. */
  readonly request: Frozen<CanonicalRequest> | null
  /** Adds a slug to `x-gateway-warnings`. */
  warn(slug: string): void
  /** Wall clock, epoch ms. */
  now(): number
  /** A fresh id: prefix followed by 24 base-62 characters. */
  id(prefix: string): string
}

/** One complete SSE event. `bytes` are the original bytes, blank line included. */
export interface SseFrame {
  readonly bytes: Uint8Array
  readonly event: string | null
  /** Decoded on first use; '' for a frame without data (a comment). */
  readonly data: string
}

export interface StreamDecoder {
  frame(frame: SseFrame, emit: Emit): void
  /** EOF. Without an earlier terminal event it emits `{e:'error'}`; in any case nothing is left unflushed. */
  end(emit: Emit): void
}

export interface StreamEncoder {
  /** Text to send, '' when nothing. */
  event(event: StreamEvent): string
  /** The dialect's mid-stream error frame, with whatever closes the stream in good form. */
  error(error: GatewayErrorShape): string
}

/** Same dialect in and out: forwards, edits or drops frames, and keeps the facts settlement needs. */
export interface FrameFilter {
  /** The frame's own bytes, edited text, or null to drop it. */
  frame(frame: SseFrame): Uint8Array | string | null
  /** EOF: what still has to be sent. Sets `facts.error` when the stream was cut. */
  end(): string
  error(error: GatewayErrorShape): string
  readonly facts: StreamFacts
}

export interface EncodedRequest {
  /** Path from the version segment on ("/v1/messages"); joined to the base URL without repeating a version segment. */
  path: string
  /** Flat [name, value, …]. */
  headers: string[]
  body: WireBody
}

/** How a client reaches the dialect. A path ending in `*` is a prefix; `parse` reads the undecoded rest. */
export interface DialectRoute {
  path: string
  operation: Operation
  /** `json` = GATEWAY_MAX_BODY_BYTES, `default` = 2 MiB. */
  bodyLimit: 'json' | 'default'
  /** Virtual models that this route accepts. */
  models: 'text' | 'image' | 'concrete' | 'none'
  parse?(rest: string): { model: string; stream: boolean } | null
  /** A body may show that the caller speaks another dialect (chat route with `contents`). */
  dialectOf?(body: WireBody): Dialect
  /** For OpenAPI. A prefix has an entry for each of its forms. */
  docs?: readonly RouteDoc[]
}

/** OpenAPI text of a route: required members and guaranteed ones. It is documentation; validation does not use it. */
export interface RouteDoc {
  /** OpenAPI template, for a prefix; default: the route's own path. */
  path?: string
  /** UpperCamelCase: its bodies are the components `<name>Request` and `<name>Response`. */
  name: string
  summary: string
  query?: ZodType
  body: ZodType
  response: ZodType
  /** It may answer `text/event-stream` as well. */
  streamed?: boolean
}

/** A sign of life for clients whose parser fails at an SSE comment. */
export interface QuietFrame {
  /** A whole frame without content, legal anywhere before the last one. */
  text(headers: HeaderBag): string
  /** The caller names itself as such a client. */
  neededBy(headers: HeaderBag): boolean
}

/** Where an answer names its model, as dotted paths. */
export interface ModelPlaces {
  /** In a whole answer. */
  readonly whole: string
  /** In the JSON of a frame. */
  readonly frame: string
  /** Only the first such frame has it. */
  readonly once: boolean
}

export interface DialectDriver {
  readonly id: Dialect
  /** Absent: answers always name the model that served. */
  readonly modelPlaces?: ModelPlaces
  readonly routes: readonly DialectRoute[]
  /** Absent: the heartbeat of its SSE streams is always a comment. */
  readonly quietFrame?: QuietFrame

  // caller side
  /** First violation wins; runs before the body is decoded. Throws GatewayError.invalid. */
  validate?(body: WireBody): void
  decodeRequest(
    body: WireBody,
    headers: HeaderBag,
    path: { model?: string; stream?: boolean; operation: Operation },
  ): CanonicalRequest
  encodeResponse(response: Frozen<CanonicalResponse>, codec: CodecContext): string
  encodeStream(codec: CodecContext): StreamEncoder
  encodeError(error: GatewayErrorShape, requestId: string): string

  // upstream side
  /** Throws GatewayError.unsupported: the target is skipped in favour of one that can. */
  encodeRequest(request: Frozen<CanonicalRequest>, codec: CodecContext): EncodedRequest
  /** Byte lane: edits model and stream options in place. `caller` = the caller's headers, to forward the dialect's own. */
  spliceRequest(body: WireBody, codec: CodecContext, caller: HeaderBag): { path: string; headers: string[] }
  /** Remote media this upstream cannot fetch by itself: the core inlines them before encodeRequest. */
  remoteMedia?(request: Frozen<CanonicalRequest>): string[]
  inlineMedia?(request: Frozen<CanonicalRequest>, byUrl: ReadonlyMap<string, { mime: string; data: string }>): CanonicalRequest
  /** Throws GatewayError.protocol when the body cannot be understood or is an error in disguise. */
  decodeResponse(body: WireBody, codec: CodecContext): CanonicalResponse
  /** Byte lane, non-stream: facts without a full decode, and the edits a byte-lane answer still needs. */
  inspectResponse(body: WireBody, codec: CodecContext): Pick<StreamFacts, 'usage' | 'finish' | 'error' | 'content'>
  decodeStream(codec: CodecContext): StreamDecoder
  filterStream(codec: CodecContext): FrameFilter
  decodeError(status: number, headers: HeaderBag, body: Uint8Array): GatewayErrorShape
}

// Types of the dialect port: the interface that adapters/dialects implements, and the facts of one attempt that codecs need.
import type { ZodType } from 'zod'
import type { GatewayErrorShape } from '../error.ts'
import type { HeaderBag } from '../ports/ports.ts'
import type { CanonicalResponse } from './answer.ts'
import type { CanonicalRequest, Dialect, Effort, Frozen, Json, JsonObject, Operation } from './canonical.ts'
import type { Emit, StreamEvent, StreamFacts } from './stream.ts'

/**
 * A JSON body after the linear scan: bytes, parsed on first use. Paths are dotted ("a.b.0", `\.` = literal dot). set/remove splice the
 * bytes at the member's offsets, so 64-bit numbers and unknown fields survive.
 */
export interface WireBody {
  readonly bytes: Uint8Array
  get(path: string): Json | undefined
  /** The JSON text at a path exactly as sent (with all digits of big numbers); undefined when absent. */
  raw(path: string): string | undefined
  /** The first bytes of a top-level member's JSON text. They show the kind of its value without decoding it. */
  peek(member: string): string | undefined
  /** True when a top-level member's JSON text contains this ASCII text. It is a byte search; nothing is decoded. */
  contains(member: string, text: string): boolean
  /**
   * False when no object in the body has a member with this name, or none whose value is an array or a text of more than 64 bytes. It is
   * recorded for large bodies; for others, and after an edit, it is always true.
   */
  mayName(name: string, kind?: 'array' | 'long_text'): boolean
  /** The bytes of a top-level member's JSON text, not a copy: do not change them. An edit of the body makes them stale. */
  slice(member: string): Uint8Array | undefined
  set(path: string, value: Json): void
  remove(path: string): void
  json(): Frozen<JsonObject>
  readonly edited: boolean
  toBytes(): readonly Uint8Array[]
  /** The body in its current form: rewritten text is not converted to bytes before it is sent. */
  whole(): Uint8Array | string
}

/** Facts about one (provider, model). Rules read these and never match model names. Absent = unknown. */
export interface ModelCaps {
  /** The model family that the signatures belong to: `claude`, `gemini`, `gpt`, otherwise the provider id. */
  family: string
  /** Context window: input plus output tokens. */
  context?: number
  maxOutput?: number
  sampling?: 'free' | 'default_only' | 'none'
  temperatureMax?: number
  /** The model reasons before it answers. */
  reasoning?: boolean
  thinking?: { enabled?: boolean; adaptive?: boolean; disabled?: boolean; betweenTools?: boolean }
  /** Gemini: the form in which a request sets thinking. */
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
  /** Media parts may be inside a functionResponse. */
  fnPartsInResults?: boolean
  jsonWithTools?: boolean
  /** The upstream accepts `parametersJsonSchema` / `responseJsonSchema`. */
  jsonSchema?: boolean
  systemInstruction?: boolean
  stopSupported?: boolean
  cacheBreakpoints?: boolean
  webSearch?: boolean
}

/** A provider's deviations from its dialect, as data. */
export interface Quirks {
  maxTokensField?: 'max_tokens' | 'max_completion_tokens'
  developerRole?: boolean
  /** The assistant field that carries reasoning back to the provider; absent: reasoning is dropped. */
  replayReasoning?: 'reasoning_content' | 'reasoning'
  rejectsStreamOptions?: boolean
  /** A model id is one segment of the path: its slashes are percent-encoded. */
  modelIsOneSegment?: boolean
  /** Tool-call ids must be exactly nine alphanumerics (mistral). */
  toolIds?: 'alnum9'
  /** The provider's word for tool_choice "required" when it differs (mistral: `any`). */
  toolChoiceRequired?: string
  /** The provider's templates accept system messages only at the start. */
  systemFirstOnly?: boolean
  acceptsCacheControl?: boolean
  /** The provider accepts content arrays of text parts in system and tool messages. */
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
  /** The first system message must be sent as `instructions` (codex-style backends). */
  instructionsRequired?: boolean
  /** The provider refuses function-call ids (vertex): calls and results are paired by position. */
  noFunctionIds?: boolean
  requiresStream?: boolean
  /** Maximum characters of an identifier, by its dotted field (`user`, `metadata.user_id`). A longer one is sent as a hash. */
  idLimits?: Readonly<Record<string, number>>
}

/** Facts for the codecs of one direction of one attempt. */
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
  /** True when the caller requested a stream. */
  readonly stream: boolean
  /** True when a chat caller set `stream_options.include_usage`. */
  readonly includeUsage: boolean
  /** False only for generate-content streams without `alt=sse` (they are a JSON array). */
  readonly sse: boolean
  /** Sanitised → original tool names of this request. encodeRequest fills it, decoders read it. */
  readonly names: Map<string, string>
  /** Notes from encoders for the way back (custom tools flattened to functions, a schema forced as a tool …). */
  readonly notes: Map<string, Json>
  /** The caller's original request; the responses dialect echoes it. */
  readonly request: Frozen<CanonicalRequest> | null
  /** True for a large request, whose body is written in several turns of the event loop. */
  readonly large?: boolean
  /** Adds a slug to `x-gateway-warnings`. */
  warn(slug: string): void
  /** Wall clock, epoch ms. */
  now(): number
  /** Returns a fresh id: the prefix followed by 24 base-62 characters. */
  id(prefix: string): string
}

/** One complete SSE event. `bytes` are the original bytes with the blank line. */
export interface SseFrame {
  readonly bytes: Uint8Array
  readonly event: string | null
  /** Decoded on first use; '' for a frame without data (a comment). */
  readonly data: string
}

export interface StreamDecoder {
  frame(frame: SseFrame, emit: Emit): void
  /** Called at EOF. Without an earlier terminal event it emits `{e:'error'}`. It always flushes everything. */
  end(emit: Emit): void
}

export interface StreamEncoder {
  /** Returns the text to send; '' when there is none. */
  event(event: StreamEvent): string
  /** Returns the dialect's mid-stream error frame and the frames that close the stream properly. */
  error(error: GatewayErrorShape): string
}

/** Reads a stream that is no server-sent events, such as length-prefixed binary messages. Chunks are split anywhere. */
export interface BytesDecoder {
  chunk(bytes: Uint8Array, emit: Emit): void
  /** Called at EOF, with the rules of `StreamDecoder.end`. */
  end(emit: Emit): void
}

/** For the same dialect in and out: forwards, edits or drops frames, and collects the facts that settlement needs. */
export interface FrameFilter {
  /** Returns the frame's own bytes, edited text, or null to drop the frame. */
  frame(frame: SseFrame): Uint8Array | string | null
  /** Called at EOF: returns the text that still has to be sent. Sets `facts.error` when the stream was cut. */
  end(): string
  error(error: GatewayErrorShape): string
  readonly facts: StreamFacts
}

export interface EncodedRequest {
  /** The path from the version segment on ("/v1/messages"). It is joined to the base URL without repeating a version segment. */
  path: string
  /** Flat [name, value, …]. */
  headers: string[]
  body: WireBody
  /** For a large request: writes the body in several turns of the event loop. `body` writes it at once. */
  bodyInTurns?(turns: { next(): Promise<void> }): Promise<WireBody>
}

/** A path of the dialect. One that ends in `*` is a prefix; `parse` gets the undecoded rest. */
export interface DialectRoute {
  path: string
  operation: Operation
  /** `json` = GATEWAY_MAX_BODY_BYTES, `default` = 2 MiB. */
  bodyLimit: 'json' | 'default'
  /** Virtual models that this route accepts. */
  models: 'text' | 'image' | 'concrete' | 'none'
  parse?(rest: string): { model: string; stream: boolean } | null
  /** Returns another dialect when the body shows that the caller speaks it (chat route with `contents`). */
  dialectOf?(body: WireBody): Dialect
  /** For OpenAPI. A prefix has one entry for each of its forms. */
  docs?: readonly RouteDoc[]
}

/** OpenAPI text of a route: its required and its guaranteed members. It is documentation; validation does not use it. */
export interface RouteDoc {
  /** OpenAPI path template of a prefix; default: the route's own path. */
  path?: string
  /** UpperCamelCase. The components of its bodies are `<name>Request` and `<name>Response`. */
  name: string
  summary: string
  query?: ZodType
  body: ZodType
  response: ZodType
  /** The route may also answer `text/event-stream`. */
  streamed?: boolean
}

/** A heartbeat for clients whose parser fails at an SSE comment. */
export interface QuietFrame {
  /** Returns a whole frame without content. It is legal anywhere before the last frame. */
  text(headers: HeaderBag): string
  /** Returns whether the caller's headers identify such a client. */
  neededBy(headers: HeaderBag): boolean
}

/** The places of the model's name in an answer, as dotted paths. */
export interface ModelPlaces {
  /** In a whole answer. */
  readonly whole: string
  /** In the JSON of a frame. */
  readonly frame: string
  /** True when only the first such frame has it. */
  readonly once: boolean
}

export interface DialectDriver {
  readonly id: Dialect
  /** Absent: answers always carry the name of the model that served. */
  readonly modelPlaces?: ModelPlaces
  readonly routes: readonly DialectRoute[]
  /** Absent: the heartbeat of the dialect's SSE streams is always a comment. */
  readonly quietFrame?: QuietFrame

  // Caller side.
  /** Runs before the body is decoded; reports the first violation. Throws GatewayError.invalid. */
  validate?(body: WireBody): void
  decodeRequest(
    body: WireBody,
    headers: HeaderBag,
    path: { model?: string; stream?: boolean; operation: Operation },
  ): CanonicalRequest
  encodeResponse(response: Frozen<CanonicalResponse>, codec: CodecContext): string
  /** Returns the value that `encodeResponse` writes. Absent: a large answer is written in one turn of the event loop. */
  buildResponse?(response: Frozen<CanonicalResponse>, codec: CodecContext): object
  encodeStream(codec: CodecContext): StreamEncoder
  encodeError(error: GatewayErrorShape, requestId: string): string

  // Upstream side.
  /** Throws GatewayError.unsupported: the executor skips this target and takes one that supports the request. */
  encodeRequest(request: Frozen<CanonicalRequest>, codec: CodecContext): EncodedRequest
  /** On the byte lane: edits model and stream options in place. `caller` = the caller's headers; those of the dialect are forwarded. */
  spliceRequest(body: WireBody, codec: CodecContext, caller: HeaderBag): { path: string; headers: string[] }
  /** Returns remote media that this upstream cannot fetch. The core inlines them before encodeRequest. */
  remoteMedia?(request: Frozen<CanonicalRequest>): string[]
  inlineMedia?(request: Frozen<CanonicalRequest>, byUrl: ReadonlyMap<string, { mime: string; data: string }>): CanonicalRequest
  /** Throws GatewayError.protocol when the body is unreadable or contains an error. */
  decodeResponse(body: WireBody, codec: CodecContext): CanonicalResponse
  /** On the byte lane, without a stream: returns facts without a full decode, and makes the edits that the answer still needs. */
  inspectResponse(body: WireBody, codec: CodecContext): Pick<StreamFacts, 'usage' | 'finish' | 'error' | 'content'>
  decodeStream(codec: CodecContext): StreamDecoder
  /** Takes the place of `decodeStream` for every successful answer whose content type is neither JSON nor HTML. */
  decodeBytes?(codec: CodecContext): BytesDecoder
  filterStream(codec: CodecContext): FrameFilter
  decodeError(status: number, headers: HeaderBag, body: Uint8Array): GatewayErrorShape
}

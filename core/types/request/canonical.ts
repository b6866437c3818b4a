// Types of the canonical request and response: every dialect decodes to them and encodes from them. Reads are free; writes go through
// edit(). Tests deep-freeze both.

export type Awaitable<T> = T | Promise<T>
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
export type JsonObject = { [key: string]: Json }

/** A shared value: read it freely, and change only a copy from `edit()`. */
export type Frozen<T> = T extends Uint8Array
  ? T
  : T extends (infer U)[]
    ? readonly Frozen<U>[]
    : T extends object
      ? { readonly [K in keyof T]: Frozen<T[K]> }
      : T

/** A wire format; the same word in config (`wireFormat`), JSON (`wire_format`), logs and metrics. */
export type BuiltInDialect = 'chat' | 'messages' | 'responses' | 'generate_content'

/** Dialects of plugins, by name; widened with `declare module 'hookgate/core'`. */
// biome-ignore lint/suspicious/noEmptyInterface: widened by plugins
export interface Dialects {}

export type Dialect = BuiltInDialect | (keyof Dialects & string)

export type Operation =
  | 'chat'
  | 'count_tokens'
  | 'compact'
  | 'completions'
  | 'embeddings'
  | 'rerank'
  | 'moderations'
  | 'ocr'
  | 'images'
  | 'speech'
  | 'transcription'
  | 'search'
  | 'web_fetch'
  | 'batches'
  | 'responses'
  | 'models'

/** Fields that the canonical form does not know, by the dialect they came from. An encoder emits only those of its own dialect. */
export type Ext = Partial<Record<Dialect, JsonObject>>

export type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max'

export interface CacheMark {
  ttl?: '5m' | '1h' | '30m'
}

/** Opaque reasoning secret of one vendor. It is never sent to another dialect or model family. */
export interface Signature {
  dialect: Dialect
  modelFamily: string
  value: string
}

export type Source =
  | { kind: 'url'; url: string; mime?: string }
  | { kind: 'base64'; data: string; mime: string }
  | { kind: 'file'; id: string; provider?: string }
  | { kind: 'uri'; uri: string; mime?: string }

export interface Annotation {
  kind: 'url' | 'file' | 'char' | 'page' | 'block' | 'search_result'
  url?: string
  title?: string
  start?: number
  end?: number
  citedText?: string
  raw: Json
  dialect: Dialect
}

export interface TextPart {
  t: 'text'
  text: string
  annotations?: Annotation[]
  signature?: Signature
}
export interface ImagePart {
  t: 'image'
  src: Source
  detail?: string
}
export interface AudioPart {
  t: 'audio'
  src: Source
  format: string
  transcript?: string
  id?: string
}
export interface VideoPart {
  t: 'video'
  src: Source
  meta?: Json
}
export interface DocumentPart {
  t: 'document'
  src: Source | { text: string } | { parts: Part[] }
  mime?: string
  filename?: string
  title?: string
  context?: string
  citations?: boolean
}
export interface ToolCallPart {
  t: 'tool_call'
  id: string
  /** True when the gateway generated the id because the dialect had none. */
  idMinted: boolean
  name: string
  namespace?: string
  /** Raw JSON text: parsing it would lose number precision and partial calls. */
  args: string
  kind: 'function' | 'custom'
  itemId?: string
  caller?: Json
  signature?: Signature
}
export interface ToolResultPart {
  t: 'tool_result'
  callId: string
  name?: string
  parts: Part[]
  isError?: boolean
  json?: Json
}
export interface ReasoningPart {
  t: 'reasoning'
  text: string
  summary?: string[]
  signature?: Signature
  encrypted?: Signature
  redacted?: string
  itemId?: string
  display?: 'omitted'
}
export interface RefusalPart {
  t: 'refusal'
  text: string
  category?: string
}
export interface ServerToolPart {
  t: 'server_tool'
  dialect: Dialect
  kind: string
  raw: Json
}
export interface OpaquePart {
  t: 'opaque'
  dialect: Dialect
  raw: Json
}

export type Part = (
  | TextPart
  | ImagePart
  | AudioPart
  | VideoPart
  | DocumentPart
  | ToolCallPart
  | ToolResultPart
  | ReasoningPart
  | RefusalPart
  | ServerToolPart
  | OpaquePart
) & { cache?: CacheMark; ext?: Ext }

export interface SystemBlock {
  role: 'system' | 'developer'
  parts: Part[]
  name?: string
}

/** A message of the conversation. `system` and `developer` are instructions inside the conversation, kept in order. */
export interface Message {
  role: 'user' | 'assistant' | 'tool' | 'system' | 'developer'
  parts: Part[]
  name?: string
  id?: string
  phase?: 'commentary' | 'final_answer'
  status?: string
  ext?: Ext
}

export interface FunctionTool {
  t: 'function'
  name: string
  description?: string
  schema?: Json
  strict?: boolean
  cache?: CacheMark
  deferLoading?: boolean
  ext?: Ext
}
export type Tool =
  | FunctionTool
  | { t: 'custom'; name: string; description?: string; format?: Json }
  | { t: 'namespace'; name: string; description: string; tools: Tool[] }
  | { t: 'server'; dialect: Dialect; kind: string; raw: Json }

export type ToolChoice =
  | { mode: 'auto' | 'none' | 'required' }
  | { mode: 'tool'; name: string }
  | { mode: 'allowed'; base: 'auto' | 'required'; names: string[] }
  | { mode: 'server'; raw: Json }

export interface OutputFormat {
  kind: 'text' | 'json_object' | 'json_schema' | 'grammar'
  name?: string
  schema?: Json
  strict?: boolean
  description?: string
}

export interface ReasoningOptions {
  effort?: Effort
  budgetTokens?: number
  mode?: 'disabled' | 'enabled' | 'adaptive' | 'dynamic' | 'between_tools'
  summary?: 'auto' | 'concise' | 'detailed' | 'omitted'
  includeThoughts?: boolean
  encrypted?: boolean
}

export interface Sampling {
  temperature?: number
  topP?: number
  topK?: number
  frequencyPenalty?: number
  presencePenalty?: number
  logitBias?: Record<string, number>
  seed?: number
  n?: number
}

/** State of the conversation on the server. Only the responses dialect (and Anthropic betas) has it. */
export interface StateOptions {
  previousResponseId?: string
  conversation?: Json
  store?: boolean
  background?: boolean
  promptTemplate?: Json
  truncation?: string
  contextManagement?: Json
  thread?: Json
  container?: Json
}

export interface CanonicalRequest {
  model: string
  stream: boolean
  source: Dialect
  system: SystemBlock[]
  messages: Message[]
  tools: Tool[]
  toolChoice?: ToolChoice
  parallelToolCalls?: boolean
  output?: OutputFormat
  reasoning?: ReasoningOptions
  verbosity?: 'low' | 'medium' | 'high'
  /** Limit of visible and reasoning tokens together, in all four dialects. */
  maxTokens?: number
  sampling: Sampling
  stop?: string[]
  logprobs?: { enabled: boolean; top?: number }
  modalities?: ('text' | 'audio' | 'image')[]
  audioOut?: { voice: Json; format: string }
  endUser?: string
  metadata?: Record<string, string>
  safetyId?: string
  cache?: { key?: string; retention?: string; auto?: CacheMark; mode?: 'implicit' | 'explicit' }
  serviceTier?: 'auto' | 'default' | 'flex' | 'priority' | 'scale' | 'standard_only'
  speed?: 'standard' | 'fast'
  webSearch?: {
    contextSize?: string
    userLocation?: Json
    allowedDomains?: string[]
    blockedDomains?: string[]
    maxUses?: number
  }
  state?: StateOptions
  /** Set by chat callers only: `stream_options.include_usage`. */
  includeUsage?: boolean
  headers: { anthropicVersion?: string; anthropicBeta?: string[]; openaiBeta?: string; idempotencyKey?: string }
  ext: Ext
}

// Canonical requests and answers of the operations other than chat. Each is small: what plugins read, change, price and record. `extra`
// holds members that the canonical form does not know; a codec of the caller's own wire format passes them on.
import type { Usage } from '../request/answer.ts'
import type { Json, JsonObject } from '../request/canonical.ts'

/** A part of a multipart form that is a file. The bytes stay in the chunks in which they arrived: they are not copied. */
export interface UploadedFile {
  /** Name of the form's field. */
  readonly field: string
  readonly name: string
  /** Content type as the caller sent it. */
  readonly type: string
  readonly size: number
  readonly chunks: readonly Uint8Array[]
}

interface ModelRequest {
  model: string
  extra: JsonObject
}

interface Answer {
  /** The model that served. */
  model: string
  usage: Usage
}

export interface EmbeddingsRequest extends ModelRequest {
  /** The caller's format: OpenAI's, or Google's for one text (`embedContent`) or several (`batchEmbedContents`). */
  caller: 'openai' | 'google' | 'google_batch'
  /** Texts, or token arrays of the model's own tokenizer. One text that was not in an array has `single`. */
  input: string[] | number[][]
  single: boolean
  encoding: 'float' | 'base64'
  dimensions?: number
  user?: string
  /** `query`, `document` …: vendors that need it get a default. */
  inputType?: string
}

export interface EmbeddingsAnswer extends Answer {
  /** In the order of the input: numbers, or base64 of little-endian float32. */
  vectors: (readonly number[] | string)[]
}

export interface RerankRequest extends ModelRequest {
  query: string
  documents: { text: string; fields?: JsonObject }[]
  topN?: number
  /** True: the answer repeats the documents. */
  returnDocuments: boolean
  maxTokensPerDocument?: number
}

export interface RerankAnswer extends Answer {
  id: string
  /** The best first. `index` is the position in the request. */
  results: { index: number; score: number }[]
  meta?: JsonObject
}

export type ModerationPart = { t: 'text'; text: string } | { t: 'image'; url: string }

export interface ModerationsRequest extends ModelRequest {
  /** One entry per result. A multi-modal input is one entry with several parts. */
  inputs: ModerationPart[][]
  /** How the caller wrote the input. */
  form: 'text' | 'texts' | 'parts'
}

export interface ModerationsAnswer extends Answer {
  id: string
  results: {
    flagged: boolean
    categories: Record<string, boolean>
    scores: Record<string, number>
    appliedInputTypes?: Record<string, string[]>
  }[]
}

export interface OcrRequest extends ModelRequest {
  document: { kind: 'document_url' | 'image_url'; url: string } | { kind: 'file'; id: string }
}

export interface OcrAnswer extends Answer {
  pages: { index: number; markdown: string; extra: JsonObject }[]
  documentBytes: number | null
  extra: JsonObject
}

export interface ImagesRequest extends ModelRequest {
  task: 'generate' | 'edit' | 'vary'
  prompt: string
  count: number
  size?: string
  quality?: string
  /** `url`, `b64_json`; absent: the upstream decides. */
  format?: string
  /** Images to edit; the first one is varied. */
  images: UploadedFile[]
  mask: UploadedFile | null
  stream: boolean
}

export interface ImagesAnswer extends Answer {
  /** Seconds since the epoch. */
  created: number
  images: { url?: string; base64?: string; mime?: string; revisedPrompt?: string }[]
  extra: JsonObject
}

export interface SpeechRequest extends ModelRequest {
  input: string
  voice: string
  instructions?: string
  /** mp3, opus, aac, flac, wav or pcm; undefined: not asked for, which is mp3 where the vendor has it. */
  format?: string
  speed?: number
  /** True: the caller asked for `stream_format: "sse"`. */
  sse: boolean
}

export interface SpeechAnswer extends Answer {
  contentType: string
  /** Empty for a streamed answer. */
  audio: Uint8Array
}

export interface TranscriptionRequest extends ModelRequest {
  task: 'transcribe' | 'translate'
  file: UploadedFile
  language?: string
  prompt?: string
  /** json, text, srt, verbose_json, vtt or diarized_json. */
  format: string
  temperature?: number
  granularities: string[]
  include: string[]
  stream: boolean
}

export interface TranscriptionAnswer extends Answer {
  text: string
  language?: string
  /** Seconds of audio, when the upstream reports them. */
  duration?: number
  segments?: { id: number; start: number; end: number; text: string; extra: JsonObject }[]
  words?: { word: string; start: number; end: number }[]
  extra: JsonObject
}

export interface SearchRequest extends ModelRequest {
  query: string
  maxResults: number
  kind: 'web' | 'news'
  country?: string
  language?: string
  timeRange?: 'day' | 'week' | 'month' | 'year'
  includeDomains: string[]
  excludeDomains: string[]
  includeContent: boolean
}

export interface SearchAnswer extends Answer {
  results: {
    title: string
    url: string
    snippet: string
    score: number | null
    publishedAt: string | null
    faviconUrl: string | null
    content: string | null
  }[]
  total: number | null
}

/** A page that a vendor reads. */
export interface WebFetchRequest extends ModelRequest {
  /** `direct`: the gateway reads the page itself. */
  provider: string
  url: string
  format: 'markdown' | 'text' | 'html' | 'json'
  maxCharacters: number
  timeoutMs: number
  includeLinks: boolean
}

export interface WebFetchAnswer extends Answer {
  provider: string
  /** The address after redirects, as far as the vendor says it. */
  finalUrl: string
  /** The page's own status. */
  status: number
  contentType: string
  title: string | null
  content: string
  /** True: the end of the page is missing. */
  cut: boolean
  /** null: the vendor lists none. */
  links: { text: string; url: string }[] | null
  /** Ms since the epoch. */
  fetchedAt: number
}

/** A text that a model continues (OpenAI's legacy completions). Members of the wire format that only vendors read are in `extra`. */
export interface CompletionsRequest extends ModelRequest {
  /** Texts, or token arrays of the model's own tokenizer. One text that was not in an array has `single`. */
  prompts: string[] | number[][]
  single: boolean
  /** The text after the gap that the model fills. */
  suffix?: string
  maxTokens?: number
  /** Answers per prompt. */
  count: number
  /** So many answers are made per prompt; the best `count` of them are sent. */
  bestOf?: number
  /** True: the answer begins with the prompt. */
  echo: boolean
  logprobs?: number
  stop?: string[]
  temperature?: number
  topP?: number
  stream: boolean
  includeUsage: boolean
}

export interface CompletionsAnswer extends Answer {
  id: string
  /** Seconds since the epoch. */
  created: number
  choices: { index: number; text: string; finish: string | null; logprobs: Json | null }[]
}

/** A conversation of the responses dialect that becomes shorter. */
export interface CompactRequest extends ModelRequest {
  /** Items as the caller sent them; a single text is a user message. */
  input: JsonObject[]
  instructions?: string
  /** `native`: the vendor compacts. `heuristic`: no model is called. `model`: a model writes a summary. Absent: native where it exists. */
  mode?: 'native' | 'heuristic' | 'model'
}

export interface CompactAnswer extends Answer {
  id: string
  /** Seconds since the epoch. */
  created: number
  /** Items of the responses dialect. */
  output: JsonObject[]
}

/** Requests by operation. `Requests` contains them. */
export interface OperationRequests {
  embeddings: EmbeddingsRequest
  rerank: RerankRequest
  moderations: ModerationsRequest
  ocr: OcrRequest
  images: ImagesRequest
  speech: SpeechRequest
  transcription: TranscriptionRequest
  search: SearchRequest
  web_fetch: WebFetchRequest
  compact: CompactRequest
  completions: CompletionsRequest
}

export interface OperationAnswers {
  embeddings: EmbeddingsAnswer
  rerank: RerankAnswer
  moderations: ModerationsAnswer
  ocr: OcrAnswer
  images: ImagesAnswer
  speech: SpeechAnswer
  transcription: TranscriptionAnswer
  search: SearchAnswer
  web_fetch: WebFetchAnswer
  compact: CompactAnswer
  completions: CompletionsAnswer
}

/** An operation with a canonical form of its own. */
export type MediaOperation = keyof OperationRequests
export type OperationRequest = OperationRequests[MediaOperation]
export type OperationAnswer = OperationAnswers[MediaOperation]

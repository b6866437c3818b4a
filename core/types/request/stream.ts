// Types of the canonical stream: events, and the push interfaces that carry them. All calls are synchronous per event. A stream awaits
// only once per network read (back-pressure) and in `stream:batch`.

import type { GatewayErrorShape } from '../error.ts'
import type { Finish, Usage } from './answer.ts'
import type { Annotation, Ext, Json, Part, Signature } from './canonical.ts'

export type PartKind = 'text' | 'reasoning' | 'redacted' | 'tool_call' | 'refusal' | 'audio' | 'image' | 'server_tool'

export type Delta =
  | { text: string }
  | { args: string }
  | { reasoning: string }
  | { summary: string }
  | { signature: Signature }
  | { annotation: Annotation }
  | { refusal: string }
  | { audio: Json }
  | { logprobs: Json }
  | { raw: Json }

export interface PartMeta {
  id?: string
  idMinted?: boolean
  name?: string
  namespace?: string
  kind?: 'function' | 'custom'
  itemId?: string
  signature?: Signature
  /** For a tool call: its caller, when that is not the model itself. */
  caller?: Json
  raw?: Json
  /** For a text or refusal: the part's own `ext`, because its encoder needs it before the first delta. */
  ext?: Ext
}

/** A stream event. Its `ext` holds the same members as `CanonicalResponse.ext`, `Choice.ext` and `Part.ext` of the whole answer. */
export type StreamEvent =
  | { e: 'start'; id: string; model: string; created: number; usage?: Partial<Usage>; ext?: Ext }
  | { e: 'part_start'; choice: number; part: number; kind: PartKind; meta: PartMeta }
  | { e: 'delta'; choice: number; part: number; d: Delta }
  /** `full` is the accumulated part, so that encoders need no accumulator of their own. */
  | { e: 'part_stop'; choice: number; part: number; full: Part }
  | { e: 'usage'; usage: Partial<Usage> }
  | { e: 'finish'; choice: number; finish: Finish; stopSequence?: string; native: string; safety?: Json; ext?: Ext }
  | { e: 'error'; status: number; code?: string; message: string; retryable: boolean }
  | { e: 'ping' }
  /** `ext`: members that arrived after the start; they replace those of the start. */
  | { e: 'end'; ext?: Ext }

export type Emit = (event: StreamEvent) => void

/** A stage of one request. A `passive` one only watches: it keeps the byte lane and must not emit. */
export interface StreamTransform {
  event(event: StreamEvent, emit: Emit): void
  flush?(emit: Emit): void
  readonly passive?: true
}

/** Facts that the pump has collected so far, the same in both lanes. Settlement, checkpoints and the commit point read them. */
export interface StreamFacts {
  /** True after the first text, reasoning, tool, refusal, audio or image byte. */
  content: boolean
  /** UTF-8 bytes of text, reasoning and arguments so far. An aborted request is billed by them. */
  contentBytes: number
  /** True after a terminal event: EOF is now a normal end. */
  terminal: boolean
  usage: Usage | null
  finish: Finish | null
  error: GatewayErrorShape | null
}

export interface StreamSink {
  event(event: StreamEvent): void
  /** Called on the byte lane only. */
  frame(bytes: Uint8Array | string): void
  /** Called after each network read: undefined = continue, otherwise wait. */
  ready(): Promise<void> | undefined
}

export interface StreamSource {
  readonly lane: 'bytes' | 'events'
  readonly facts: StreamFacts
  /** Resolves when the stream has ended or failed; `facts.error` holds the failure. Call it once. */
  pump(sink: StreamSink): Promise<void>
  cancel(reason?: GatewayErrorShape): void
  /** On the byte lane: returns the text that ends the stream after a failure. */
  errorFrame?(error: GatewayErrorShape): string
}

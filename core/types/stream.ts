// The canonical stream: events, and the push interfaces that carry them. Everything is synchronous per event;
// the only awaits of a stream are one per network read (back-pressure) and `stream:batch`.
import type { Finish, Usage } from './answer.ts'
import type { Annotation, Ext, Json, Part, Signature } from './canonical.ts'
import type { GatewayErrorShape } from './error.ts'

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
  /** For a tool call: the caller, when it is not the model itself. */
  caller?: Json
  raw?: Json
  /** For a text or refusal: the part's own `ext`, which its encoder needs before the first delta. */
  ext?: Ext
}

/** An `ext` holds what `CanonicalResponse.ext`, `Choice.ext` and `Part.ext` would of the whole answer. */
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
  /** `ext`: what came after the start; it replaces members of the start's. */
  | { e: 'end'; ext?: Ext }

export type Emit = (event: StreamEvent) => void

/** A per-request stage. `passive` ones only watch: they keep the byte lane and must emit nothing. */
export interface StreamTransform {
  event(event: StreamEvent, emit: Emit): void
  flush?(emit: Emit): void
  readonly passive?: true
}

/** Facts that the pump has collected so far, the same in both lanes. Settlement, checkpoints and the commit point read them. */
export interface StreamFacts {
  /** True from the first text, reasoning, tool, refusal, audio or image byte on. */
  content: boolean
  /** UTF-8 bytes of text, reasoning and arguments so far: what an abort is booked by. */
  contentBytes: number
  /** A terminal event was seen: an EOF now is a normal end. */
  terminal: boolean
  usage: Usage | null
  finish: Finish | null
  error: GatewayErrorShape | null
}

export interface StreamSink {
  event(event: StreamEvent): void
  /** Byte lane only. */
  frame(bytes: Uint8Array | string): void
  /** After each network read: undefined = go on, else wait. */
  ready(): Promise<void> | undefined
}

export interface StreamSource {
  readonly lane: 'bytes' | 'events'
  readonly facts: StreamFacts
  /** Resolves when the stream has ended, well or not; `facts.error` tells which. Called once. */
  pump(sink: StreamSink): Promise<void>
  cancel(reason?: GatewayErrorShape): void
  /** Byte lane: the text that ends the stream after a failure. */
  errorFrame?(error: GatewayErrorShape): string
}

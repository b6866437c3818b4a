// Types of the canonical response: choices, finish reasons and usage, the same for every dialect.
import type { Ext, Json, Part } from './canonical.ts'

export type Finish =
  | 'stop'
  | 'stop_sequence'
  | 'length'
  | 'context_window'
  | 'tool_calls'
  | 'content_filter'
  | 'refusal'
  | 'pause'
  | 'malformed_tool_call'
  | 'compaction'
  | 'error'
  | 'other'

export interface Choice {
  index: number
  parts: Part[]
  finish: Finish
  stopSequence?: string
  logprobs?: Json
  nativeFinish: string
  safety?: Json
  ext?: Ext
}

/** Token counts of one answer. Totals are inclusive: `inputTotal` contains cacheRead and cacheWrite, `outputTotal` contains reasoning. */
export interface Usage {
  inputTotal: number
  cacheRead: number
  cacheWrite: number
  cacheWrite5m?: number
  cacheWrite1h?: number
  inputAudio?: number
  inputImage?: number
  toolUsePrompt?: number
  outputTotal: number
  reasoning?: number
  outputAudio?: number
  acceptedPrediction?: number
  rejectedPrediction?: number
  total: number
  serverTools?: Record<string, number>
  /** Absent for answers that are billed by tokens alone. */
  units?: MediaUnits
  /** True when the gateway estimated the counts because the upstream reported none. */
  estimated: boolean
  raw: Json
}

/** Billed units other than tokens. `size` and `quality` select the price of an image. */
export interface MediaUnits {
  images?: number
  size?: string
  quality?: string
  /** Unicode code points of synthesized speech. */
  characters?: number
  /** Seconds of audio. For speech, an estimate from its text. */
  seconds?: number
  pages?: number
  queries?: number
}

export interface CanonicalResponse {
  id: string
  /** Seconds since the epoch. */
  created: number
  model: string
  choices: Choice[]
  usage: Usage
  serviceTier?: string
  error?: Json
  ext: Ext
}

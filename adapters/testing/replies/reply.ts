// An answer of a scripted upstream, defined once and rendered in any of the four dialects.
import type { Finish } from '../../../core/types/request/answer.ts'

export interface ReplyToolCall {
  id: string
  name: string
  /** JSON text. */
  args: string
}

export interface ReplyUsage {
  /** Includes cache reads and writes. */
  input?: number
  cacheRead?: number
  cacheWrite?: number
  /** Includes reasoning. */
  output?: number
  reasoning?: number
}

/** One complete model turn. Order in the answer: reasoning, text, refusal, tool calls. */
export interface Reply {
  model?: string
  /** Streamed in pieces of at most `chunk` characters (default 4). */
  text?: string
  reasoning?: {
    text: string /** The vendor's secret: messages signature, responses encrypted_content, gemini thoughtSignature. */
    signature?: string
  }
  refusal?: string
  toolCalls?: readonly ReplyToolCall[]
  /** Default: `tool_calls` when there are calls, otherwise `stop`. */
  finish?: Finish
  stopSequence?: string
  /** null: the upstream reports none. */
  usage?: ReplyUsage | null
  chunk?: number
}

/** Renders replies in one dialect, as its real vendor sends them. */
export interface ReplyRenderer {
  /** Returns the body of a whole answer. */
  json(reply: Reply): object
  /** Returns SSE text, one entry per frame with its blank line. */
  frames(reply: Reply): string[]
  /** Returns the vendor's error body for a status. */
  error(status: number, message: string, detail?: { code?: string; param?: string }): object
  /** Returns an error inside a stream that has started or is starting, as frames. */
  errorFrames(message: string, status?: number): string[]
}

export const DEFAULT_USAGE: Required<ReplyUsage> = { input: 12, cacheRead: 0, cacheWrite: 0, output: 7, reasoning: 0 }

/** Splits the text into pieces, never inside a surrogate pair. */
export function pieces(text: string, size = 4): string[] {
  const chars = [...text]
  const out: string[] = []
  for (let i = 0; i < chars.length; i += size) out.push(chars.slice(i, i + size).join(''))
  return out
}

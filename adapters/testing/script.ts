// The steps of a scripted upstream: its answers and its faults.
import type { Dialect } from '../../core/types/request/canonical.ts'
import type { Reply } from './replies/reply.ts'

export interface RecordedRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
  readonly json: Record<string, unknown>
  readonly dialect: Dialect
  readonly stream: boolean
  /** performance.now() at arrival; `abortedAt`: when the client left, if it did. */
  readonly at: number
  abortedAt: number | null
}

export interface Delivery {
  /** Wait before the head, ms. */
  delayMs?: number
  /** Runs before each piece is written; the write waits for its promise. For tests that do not depend on a clock. */
  hold?: (piece: string) => unknown
  /** Wait between frames (or chunks), ms. */
  everyMs?: number
  /** Size of each write in bytes, instead of one write per frame. */
  splitBytes?: number
  /** Ends the connection after this many frames (bytes with splitBytes): FIN without terminator, or RST. */
  cut?: { after: number; how: 'fin' | 'reset' }
  /** Sends nothing after this many frames and stays open. */
  stallAfter?: number
  contentType?: string
  /** Informational responses before the head. */
  inform?: readonly (100 | 102 | 103)[]
  /** Compresses the body, although the request does not accept it. */
  encoding?: 'gzip' | 'br'
  headers?: Readonly<Record<string, string>>
}

export type Step = Delivery &
  (
    | { kind: 'reply'; reply: Reply /** Answers JSON to a stream request, or SSE to a plain one. */; as?: 'json' | 'sse' }
    | { kind: 'fail'; status: number; message: string; code?: string; param?: string }
    | { kind: 'raw'; status: number; body: string | Uint8Array }
    | { kind: 'frames'; frames: readonly string[] }
    /** Sends an error inside a 200 stream, after `after` frames of the reply. */
    | { kind: 'broken'; reply: Reply; after: number; message: string; status?: number }
    /** Chooses a step by the request. Another `choose` as the result is not followed. */
    | { kind: 'choose'; choose: (request: RecordedRequest) => Step }
    | { kind: 'hang' }
    | { kind: 'reset' }
  )

/** A complete model turn. */
export function reply(reply: Reply, delivery: Delivery & { as?: 'json' | 'sse' } = {}): Step {
  return { kind: 'reply', reply, ...delivery }
}

export function text(content: string, delivery: Delivery = {}): Step {
  return reply({ text: content }, delivery)
}

/** Returns a vendor's error answer. */
export function fail(status: number, detail: { message?: string; code?: string; param?: string } & Delivery = {}): Step {
  const { message = `scripted ${status}`, ...rest } = detail
  return { kind: 'fail', status, message, ...rest }
}

export function raw(status: number, body: string | Uint8Array, delivery: Delivery = {}): Step {
  return { kind: 'raw', status, body, ...delivery }
}

/** Returns exactly these SSE frames. */
export function frames(list: readonly string[], delivery: Delivery = {}): Step {
  return { kind: 'frames', frames: list, ...delivery }
}

export function broken(content: Reply, after: number, detail: { message?: string; status?: number } & Delivery = {}): Step {
  const { message = 'scripted break', ...rest } = detail
  return { kind: 'broken', reply: content, after, message, ...rest }
}

/** Returns a step that depends on the request, for example a model that reacts to tool results. */
export function choose(by: (request: RecordedRequest) => Step): Step {
  return { kind: 'choose', choose: by }
}

/** Accepts and never answers. */
export function hang(): Step {
  return { kind: 'hang' }
}

/** Sends RST before any byte. */
export function reset(): Step {
  return { kind: 'reset' }
}

// Sends the answer of one run over a socket: each event of its stream as one message, a refusal as one `error` message.
import { createSseSplitter } from '../../core/stream/sse.ts'
import { concatBytes, decodeUtf8, encodeUtf8 } from '../../core/text/bytes.ts'
import type { Sink } from '../../core/types/ports/ports.ts'
import type { SseFrame } from '../../core/types/request/dialect.ts'

/** A connection that takes whole text messages. */
export interface MessageOut {
  /** Returns false when too many bytes wait to be sent: await drained() before the next message. */
  send(text: string): boolean
  /** Resolves when the bytes are sent or the client is gone. */
  drained(): Promise<void>
}

/** Headers of an answer that an `error` message repeats. */
const REPEATED = ['retry-after', 'x-gateway-request-id', 'x-gateway-warnings']

export class SocketSink implements Sink {
  readonly #out: MessageOut
  readonly #onEvent: (frame: SseFrame) => void
  readonly #splitter = createSseSplitter()
  readonly #whole: Uint8Array[] = []
  #status = 200
  #headers: readonly string[] = []
  #stream = false
  #drain: Promise<void> | undefined
  #ended = false
  #gone = false
  #leave: (() => void) | null = null

  /** @param onEvent gets each event of the stream before it is sent. */
  constructor(out: MessageOut, onEvent: (frame: SseFrame) => void) {
    this.#out = out
    this.#onEvent = onEvent
  }

  get status(): number {
    return this.#status
  }

  get gone(): boolean {
    return this.#gone
  }

  head(status: number, headers: readonly string[]): void {
    this.#status = status
    this.#headers = headers
    this.#stream = status === 200 && (this.#header('content-type') ?? '').startsWith('text/event-stream')
  }

  write(chunk: Uint8Array | string): boolean {
    if (this.#gone) return true
    const bytes = typeof chunk === 'string' ? encodeUtf8(chunk) : chunk
    if (!this.#stream) {
      this.#whole.push(bytes)
      return true
    }
    this.#splitter.push(bytes, this.#forward)
    return this.#drain === undefined
  }

  drained(): Promise<void> | undefined {
    return this.#gone ? undefined : this.#drain
  }

  end(chunk?: Uint8Array | string): void {
    if (this.#ended) return
    if (chunk !== undefined && chunk.length > 0) this.write(chunk)
    this.#ended = true
    if (this.#gone) return
    if (this.#stream) this.#splitter.end(this.#forward)
    else this.#out.send(this.#refusal())
  }

  /** Ends the exchange. A run that was cut without an end is an error on the socket, which stays open. */
  release(): void {
    if (this.#ended || this.#gone) return
    this.#ended = true
    this.#out.send(errorMessage(502, { type: 'api_error', code: 'answer_cut', message: 'The answer was cut.', param: null }))
  }

  /** The client left: the run ends. */
  leave(): void {
    if (this.#gone || this.#ended) return
    this.#gone = true
    this.#leave?.()
  }

  onGone(fn: () => void): void {
    this.#leave = fn
    if (this.#gone) fn()
  }

  readonly #forward = (frame: SseFrame): void => {
    const { data } = frame
    // Heartbeats are comments: the socket has its own.
    if (data === '' || data === '[DONE]') return
    this.#onEvent(frame)
    if (this.#out.send(data)) return
    this.#drain ??= this.#out.drained().finally(() => {
      this.#drain = undefined
    })
  }

  #refusal(): string {
    const headers = Object.fromEntries(
      REPEATED.map((name) => [name, this.#header(name)]).filter(([, value]) => value !== undefined),
    )
    return errorMessage(this.#status, errorIn(decodeUtf8(concatBytes(this.#whole))), headers)
  }

  #header(name: string): string | undefined {
    const list = this.#headers
    for (let i = 0; i < list.length; i += 2) if ((list[i] as string).toLowerCase() === name) return list[i + 1]
    return undefined
  }
}

export interface ErrorBody {
  readonly type: string
  readonly code: string
  readonly message: string
  readonly param: string | null
}

/** @param headers those of an HTTP answer that a client needs: when to try again. */
export function errorMessage(status: number, error: unknown, headers: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify({ type: 'error', status, error, ...(Object.keys(headers).length === 0 ? {} : { headers }) })
}

function errorIn(body: string): unknown {
  try {
    const { error } = JSON.parse(body) as { error?: unknown }
    // On a socket, an error always has a code.
    if (typeof error === 'object' && error !== null) return { ...error, code: codeOf(error) }
  } catch {
    // Only a plugin's raw answer has another form.
  }
  return { type: 'api_error', code: 'api_error', message: body.slice(0, 500), param: null } satisfies ErrorBody
}

function codeOf({ code, type }: { code?: unknown; type?: unknown }): string {
  return typeof code === 'string' ? code : typeof type === 'string' ? type : 'api_error'
}

// Writes the caller's side of one exchange: tracks what was sent, adds the gateway's headers, keeps a quiet stream alive, and sends a
// failure in the form that is still possible.
import { asCallerError } from '../errors/classify.ts'
import { envelope, GatewayError } from '../errors/gateway-error.ts'
import { heartbeatText, PING } from '../heartbeat.ts'
import { exposedNames } from '../http/cross-origin.ts'
import { encodeUtf8 } from '../text/bytes.ts'
import { errorText } from '../text/error-text.ts'
import { sanitizeMessage } from '../text/sanitize.ts'
import { catchRejection } from '../timing/catch-rejection.ts'
import type { GatewayErrorShape } from '../types/error.ts'
import type { Sink } from '../types/ports/ports.ts'
import type { Dialect } from '../types/request/canonical.ts'
import type { RequestState } from './context.ts'
import type { Runtime } from './runtime.ts'

/** A reader that accepts no bytes for this time counts as gone. */
const WRITE_STALL_MS = 120_000

export class ReplyWriter {
  readonly #runtime: Runtime
  readonly #sink: Sink
  readonly #forPages: readonly string[] | null
  #headSent = false
  #framed = true
  #lastWriteAt: number
  #drainingSince: number | null = null
  #status = 0
  #firstByteAt: number | null = null

  /** `now`: monotonic ms. `forPages`: the CORS headers of each answer; null = web pages of other origins may not call. */
  constructor(runtime: Runtime, sink: Sink, now: number, forPages: readonly string[] | null) {
    this.#runtime = runtime
    this.#forPages = forPages
    this.#sink = sink
    this.#lastWriteAt = now
  }

  get headSent(): boolean {
    return this.#headSent
  }

  /** False: the answer is bytes of another type, which cannot carry an error. */
  get framed(): boolean {
    return this.#framed
  }

  get status(): number {
    return this.#status
  }

  /** Monotonic ms of the first content byte; null before it. */
  get firstByteAt(): number | null {
    return this.#firstByteAt
  }

  /** Sends the head of a stream, once. */
  openStream(ctx: RequestState): void {
    if (this.#headSent) return
    this.#head(200, ctx, ctx.dialect, ctx.sse ? SSE_HEAD : JSON_HEAD)
  }

  /** Sends the head of an answer in bytes of another type (audio), once. */
  openBytes(ctx: RequestState, contentType: string): void {
    const sse = contentType.startsWith('text/event-stream')
    this.#framed = sse
    if (!this.#headSent) this.#head(200, ctx, ctx.dialect, sse ? SSE_HEAD : ['content-type', contentType])
  }

  write(chunk: Uint8Array | string): void {
    const now = this.#runtime.clock.monotonic()
    this.#firstByteAt ??= now
    this.#lastWriteAt = now
    this.#sink.write(chunk)
  }

  /** Waits between network reads; undefined = continue at once. */
  drained(): Promise<void> | undefined {
    const waiting = this.#sink.drained()
    if (waiting === undefined) return undefined
    this.#drainingSince ??= this.#runtime.clock.monotonic()
    return waiting.then(() => {
      this.#drainingSince = null
      this.#lastWriteAt = this.#runtime.clock.monotonic()
    })
  }

  end(chunk?: string): void {
    if (chunk) this.#sink.end(chunk)
    else this.#sink.end()
  }

  /** Sends a whole answer. */
  send(ctx: RequestState, status: number, headers: readonly string[], body: Uint8Array | string | null): void {
    this.#firstByteAt ??= this.#runtime.clock.monotonic()
    // Taps run before the head is sent: they may still add a header.
    if (ctx.taps.length > 0) {
      const bytes = typeof body === 'string' ? encodeUtf8(body) : (body ?? new Uint8Array(0))
      const failed = (error: unknown) => this.#runtime.log.error('tap.failed', { requestId: ctx.id, error: errorText(error) })
      for (const tap of ctx.taps) {
        // A tap's error does not fail the answer.
        try {
          catchRejection(tap({ status, headers, body: bytes }), failed)
        } catch (error) {
          failed(error)
        }
      }
    }
    this.#head(status, ctx, ctx.dialect, headers)
    this.#sink.end(body ?? undefined)
  }

  /** Sends an answer without a body. */
  empty(status: number, headers: readonly string[], dialect: Dialect, id: string): void {
    this.#sink.onGone(() => {})
    this.#head(status, null, dialect, headers, id)
    this.#sink.end()
  }

  /** Sends an error before any content: a status and the dialect's envelope. */
  fail(ctx: RequestState | null, thrown: unknown, dialect: Dialect, id: string): GatewayErrorShape {
    const error = this.presentable(thrown, dialect, id)
    const headers = ['content-type', 'application/json; charset=utf-8', ...(error.headers ?? [])]
    if (error.retryAfterMs !== null) headers.push('retry-after', String(Math.max(1, Math.ceil(error.retryAfterMs / 1000))))
    // The gateway has already tried its candidates: a client that retries at once only adds load.
    if (ctx !== null && ctx.attempts.length > 1 && error.status >= 429) headers.push('x-should-retry', 'false')
    this.#head(error.status < 400 ? 500 : error.status, ctx, dialect, headers, id)
    // The host may have passed fewer dialects than there are paths.
    this.#sink.end(this.#runtime.dialects.get(dialect)?.encodeError(error, id) ?? JSON.stringify(envelope(error)))
    return error
  }

  /** Returns the error that the caller sees for a thrown value. */
  presentable(thrown: unknown, dialect: Dialect, requestId: string): GatewayErrorShape {
    const error = asCallerError(GatewayError.from(thrown), dialect)
    const bug = bugBehind(thrown)
    if (bug !== undefined) this.#runtime.log.error('request.failed', { requestId, error: errorText(bug) })
    const message = sanitizeMessage(error.message)
    if (message === error.message) return error
    return error.with({ message, cause: error })
  }

  /** Checks heartbeat and stall on the shared ticker. It runs only between whole frames, because each write is a whole frame. */
  tick(now: number, ctx: RequestState): void {
    if (this.#drainingSince !== null) {
      if (now - this.#drainingSince >= WRITE_STALL_MS) ctx.stop(GatewayError.clientGone())
      return
    }
    const every = this.#runtime.options.heartbeatMs
    if (every <= 0 || !ctx.sse || now - this.#lastWriteAt < every || this.#sink.gone) return
    const { dialects, heartbeatForm } = this.#runtime
    const text = heartbeatText(dialects.get(ctx.dialect), heartbeatForm(ctx.dialect), ctx.headers)
    // After the last frame only a comment may follow.
    if (text === null || (text !== PING && ctx.facts?.terminal)) return
    this.openStream(ctx)
    this.#lastWriteAt = now
    this.#sink.write(text)
  }

  #head(status: number, ctx: RequestState | null, dialect: Dialect, headers: readonly string[], id = ctx?.id ?? ''): void {
    if (this.#headSent) return
    this.#headSent = true
    this.#status = status
    const out = [...headers, 'x-gateway-request-id', id, dialect === 'messages' ? 'request-id' : 'x-request-id', id]
    // Without `no-transform` a middleware or proxy that compresses or buffers would hold the events of a stream back.
    out.push('cache-control', headers === SSE_HEAD ? 'no-store, no-transform' : 'no-store')
    out.push('x-content-type-options', 'nosniff', 'referrer-policy', 'no-referrer')
    if (ctx !== null) addGatewayHeaders(out, ctx, status)
    if (this.#forPages !== null) out.push(...this.#forPages, ...exposedNames(this.#forPages, out))
    this.#sink.head(status, out)
  }
}

const SSE_HEAD = ['content-type', 'text/event-stream; charset=utf-8', 'x-accel-buffering', 'no']
const JSON_HEAD = ['content-type', 'application/json; charset=utf-8']

function addGatewayHeaders(out: string[], ctx: RequestState, status: number): void {
  let sent = 0
  for (const { action } of ctx.attempts) if (action !== 'skipped') sent++
  if (sent > 0) out.push('x-gateway-attempts', String(sent))
  if (status < 400) {
    if (ctx.candidate !== null) {
      out.push(
        'x-gateway-provider',
        headerText(ctx.candidate.connection.provider),
        'x-gateway-model',
        headerText(ctx.candidate.target.model),
      )
    }
  }
  if (ctx.operation === 'chat' || ctx.operation === 'embeddings') {
    out.push('x-gateway-cache', ctx.cached === false ? 'miss' : 'hit')
    if (ctx.cached !== false) out.push('x-gateway-cache-type', ctx.cached)
  }
  if (ctx.warnings !== '') out.push('x-gateway-warnings', ctx.warnings)
  out.push(...ctx.responseHeaders.flat())
}

/** Returns the unexpected error that caused a thrown value. A sink may have wrapped it. */
function bugBehind(thrown: unknown): unknown {
  if (!GatewayError.is(thrown)) return thrown ?? 'undefined'
  return thrown.code === 'internal_error' ? thrown.cause : undefined
}

/** Model names come from callers: this removes every character that could end a header line. */
function headerText(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?')
}

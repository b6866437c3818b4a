// Makes one upstream call: sends the wire request, inspects the response, and returns a Result or a failure. It handles JSON in place of
// a stream, a stream in place of JSON, HTML, and errors under HTTP 200.
import type { Ticket } from '../collections/swap-remove-list.ts'
import { GatewayError } from '../errors/gateway-error.ts'
import { builtBody } from '../json/built-body.ts'
import { judgedFrom } from '../json/json-scan.ts'
import { judgeInTurns } from '../json/scan-in-turns.ts'
import { GatheredBytes } from '../text/gathered-bytes.ts'
import type { Ticking } from '../timing/ticker.ts'
import { LARGE_BODY } from '../timing/yield-queue.ts'
import type { GatewayErrorShape } from '../types/error.ts'
import type { HeaderBag, Transport, WireHandler, WireRequest } from '../types/ports/ports.ts'
import type { WireBody } from '../types/request/dialect.ts'
import type { Result } from '../types/request/result.ts'
import { largeResult } from './large-answer.ts'
import type { Stoppable } from './stoppable.ts'
import type { UpstreamCall } from './upstream-call.ts'
import { hinted, unbuilt } from './upstream-errors.ts'
import { type StreamOwner, UpstreamStream } from './upstream-stream.ts'
import { byteAnswer, collectFrames, parseBody, replaySource } from './whole-answer.ts'

/** Limit of the bytes read from an error body. */
const MAX_ERROR_BYTES = 256 * 1024
/** Limit of the bytes of an answer that is not an event stream, even when a stream was requested. */
const MAX_WHOLE_BYTES = 64 * 1024 * 1024
/** A larger answer is checked and built in several turns of the event loop. */
const MAX_AT_ONCE = 512 * 1024
/** Limit of the wall time of one stream, ms. */
const MAX_STREAM_MS = 30 * 60_000

const NOTHING = new Uint8Array(0)

type Mode = 'unknown' | 'json' | 'stream' | 'collect' | 'error'

/** Resolves at the commit point: with a whole answer, or with a stream whose first content has arrived. */
export function callUpstream(call: UpstreamCall, wire: WireRequest): Promise<Result> {
  return new Promise((resolve, reject) => {
    new UpstreamExchange(call, resolve, reject).send(wire)
  })
}

class UpstreamExchange implements WireHandler, Ticking, Stoppable, StreamOwner {
  readonly #call: UpstreamCall
  #resolve: (result: Result) => void
  #reject: (error: GatewayErrorShape) => void
  /** null: no bytes of a whole answer have arrived. */
  #chunks: GatheredBytes | null = null
  #mode: Mode = 'unknown'
  #status = 0
  #headers: HeaderBag | null = null
  #size = 0
  #stream: UpstreamStream | null = null
  #done = false
  #paused = false
  #sent: ReturnType<Transport['send']> | null = null
  #startedAt = 0
  #ticket: Ticket<Ticking> | null = null

  constructor(call: UpstreamCall, resolve: (result: Result) => void, reject: (error: GatewayErrorShape) => void) {
    this.#call = call
    this.#resolve = resolve
    this.#reject = reject
  }

  send(wire: WireRequest): void {
    const { runtime, ctx } = this.#call
    ctx.lastReadAt = runtime.clock.monotonic()
    ctx.upstreamHeaders = null
    this.#startedAt = ctx.lastReadAt
    this.#sent = runtime.transport.send(wire, this)
    if (this.#done) return
    ctx.bind(this)
    this.#ticket = runtime.ticker.add(this)
  }

  tick(now: number): void {
    const { runtime, ctx } = this.#call
    const { idleTimeoutMs } = runtime.options
    if (!this.#paused && idleTimeoutMs > 0 && now - ctx.lastReadAt >= idleTimeoutMs) {
      this.cancel(GatewayError.timeout(`The upstream was silent for ${idleTimeoutMs} ms.`))
    } else if (now - this.#startedAt >= MAX_STREAM_MS) {
      this.cancel(GatewayError.protocol('The upstream stream ran longer than the limit.'))
    }
  }

  head(status: number, headers: HeaderBag): void {
    const { ctx, runtime } = this.#call
    ctx.lastReadAt = runtime.clock.monotonic()
    ctx.upstreamHeaders = headers
    this.#status = status
    this.#headers = headers
    const declared = Number(headers.get('content-length') ?? 0)
    if (declared > LARGE_BODY && declared <= MAX_WHOLE_BYTES) this.#chunks = new GatheredBytes(declared)
    if (status < 200 || status > 299) this.#mode = 'error'
    else if (this.#call.driver.decodeBytes !== undefined && !/json|html/i.test(headers.get('content-type') ?? ''))
      this.#streamed()
  }

  data(chunk: Uint8Array): Promise<void> | undefined {
    const { ctx, runtime } = this.#call
    ctx.lastReadAt = runtime.clock.monotonic()
    if (this.#done && this.#stream === null) return undefined
    if (this.#mode === 'unknown') this.#sniff(chunk)
    if (this.#mode === 'stream') return this.#paced(this.#stream?.push(chunk))
    this.#size += chunk.length
    if (this.#size <= (this.#mode === 'error' ? MAX_ERROR_BYTES : MAX_WHOLE_BYTES)) {
      this.#chunks ??= new GatheredBytes()
      this.#chunks.add(chunk)
    } else this.#endless()
    return undefined
  }

  end(): void {
    if (this.#stream !== null) this.#stream.end()
    else if (!this.#done) {
      const { answerLimits } = this.#call.runtime.options
      if (this.#mode === 'json' && this.#size > Math.min(judgedFrom(answerLimits), MAX_AT_ONCE)) return void this.#judged()
      this.#whole()
    }
    this.#finish()
  }

  /** Counts the values of a large answer before it is built. Each step takes its own turn of the event loop. */
  async #judged(): Promise<void> {
    const { turns, options } = this.#call.runtime
    const bytes = this.#chunks?.bytes() ?? NOTHING
    // The whole body has arrived: waiting for a turn does not count as upstream silence.
    this.#paused = true
    try {
      await turns.next()
      await judgeInTurns(bytes, options.answerLimits, turns)
      await turns.next()
      const body = this.#done ? null : await builtBody(bytes, turns)
      await turns.next()
      if (!this.#done && body !== null) await this.#large(body)
    } catch (error) {
      this.#fail(GatewayError.protocol(unbuilt(error), error))
    }
    this.#finish()
  }

  async #large(body: WireBody): Promise<void> {
    try {
      const result = await largeResult(this.#call, body)
      if (!this.#done) this.#settle(result)
    } catch (error) {
      this.#unread(error, NOTHING)
    }
  }

  error(error: GatewayErrorShape): void {
    if (this.#stream !== null) this.#stream.fail(error)
    else this.#fail(error)
    this.#finish()
  }

  /** Detects the kind of the body from its first byte that is not white space. */
  #sniff(chunk: Uint8Array): void {
    let at = this.#size === 0 && chunk[0] === 0xef && chunk[1] === 0xbb ? 3 : 0
    while (at < chunk.length && (chunk[at] === 0x20 || chunk[at] === 0x0a || chunk[at] === 0x0d || chunk[at] === 0x09)) at++
    if (at === chunk.length) return
    const byte = chunk[at]
    if (byte === 0x7b || byte === 0x5b) this.#mode = 'json'
    else if (byte === 0x3c) {
      this.#fail(GatewayError.protocol('The upstream answered with HTML instead of an answer.'))
      this.#sent?.abort(GatewayError.protocol('HTML'))
    } else this.#streamed()
  }

  #streamed(): void {
    this.#mode = this.#call.ctx.stream ? 'stream' : 'collect'
    if (this.#mode === 'stream') this.#stream = this.#openStream()
  }

  #openStream(): UpstreamStream {
    const { driver, codec, byteLane, ctx, runtime } = this.#call
    const stages = ctx.stages ?? null
    const bytes = driver.decodeBytes?.(codec) ?? null
    return new UpstreamStream({
      filter: byteLane ? driver.filterStream(codec) : null,
      bytes,
      decoder: byteLane || bytes !== null ? null : driver.decodeStream(codec),
      watch: byteLane && stages !== null && stages.watchers.length > 0 ? { decoder: driver.decodeStream(codec), stages } : null,
      values: runtime.options.answerLimits,
      owner: this,
    })
  }

  committed(): void {
    this.#call.cleaner.rest()
    this.#settle({ kind: 'stream', source: this.#stream as UpstreamStream })
  }

  clean(error: GatewayErrorShape): GatewayErrorShape {
    return this.#call.cleaner.clean(error)
  }

  failed(error: GatewayErrorShape): void {
    this.#fail(error)
  }

  abort(reason: GatewayErrorShape): void {
    this.#sent?.abort(reason)
    this.#finish()
  }

  /** Applies back-pressure: while the caller does not read, the upstream is paused and does not count as idle. */
  #paced(ready: Promise<void> | undefined): Promise<void> | undefined {
    if (ready === undefined) return undefined
    this.#paused = true
    const { ctx, runtime } = this.#call
    return ready.then(() => {
      this.#paused = false
      ctx.lastReadAt = runtime.clock.monotonic()
    })
  }

  /** Handles a body over its limit. An error body keeps what arrived so far; any other answer fails. */
  #endless(): void {
    const reason = GatewayError.protocol('The upstream answer is larger than the limit.')
    if (this.#mode === 'error') this.#whole()
    else this.#fail(reason)
    this.abort(reason)
  }

  #whole(): void {
    const { driver, ctx, codec, byteLane, runtime } = this.#call
    const bytes = this.#chunks?.bytes() ?? NOTHING
    try {
      if (this.#mode === 'error') throw this.#errorOf(bytes)
      if (this.#mode === 'unknown') throw GatewayError.protocol('The upstream sent an empty answer.')
      if (this.#mode === 'collect')
        return this.#settle({ kind: 'full', response: collectFrames(bytes, driver, codec, runtime.options.answerLimits) })
      const body = parseBody(bytes)
      if (ctx.stream) {
        const response = driver.decodeResponse(body, codec)
        return this.#settle({ kind: 'stream', source: replaySource(response) })
      }
      if (!byteLane) return this.#settle({ kind: 'full', response: driver.decodeResponse(body, codec) })
      this.#settle(byteAnswer(body, driver, codec, ctx))
    } catch (error) {
      this.#unread(error, bytes)
    }
  }

  #unread(error: unknown, bytes: Uint8Array): void {
    const own = GatewayError.from(error)
    if (own.status >= 500 || own.upstream !== null) this.#fail(hinted(own, this.#headers, bytes, this.#call.runtime.clock.now()))
    else this.#fail(GatewayError.protocol('The upstream answered something that cannot be understood.', own))
  }

  #errorOf(bytes: Uint8Array): GatewayErrorShape {
    if (this.#status >= 300 && this.#status < 400) {
      return GatewayError.upstream(
        this.#status,
        `The upstream answered with a redirect (${this.#status}), which is not followed. Check the base URL of the connection.`,
      )
    }
    return this.#call.driver.decodeError(this.#status, this.#headers as HeaderBag, bytes)
  }

  #settle(result: Result): void {
    this.#done = true
    this.#resolve(result)
    this.#answered()
  }

  /** The functions would hold their promise as long as a stream is open. */
  #answered(): void {
    this.#resolve = nothing
    this.#reject = nothing
  }

  #fail(error: GatewayErrorShape): void {
    if (this.#done) return
    this.#done = true
    this.#reject(hinted(GatewayError.from(error), this.#headers, NOTHING, this.#call.runtime.clock.now()))
    this.#answered()
  }

  cancel(reason: GatewayErrorShape): void {
    this.#sent?.abort(reason)
    if (this.#stream !== null) this.#stream.fail(reason)
    else this.#fail(reason)
    this.#finish()
  }

  #finish(): void {
    this.#call.ctx.unbind(this)
    if (this.#ticket !== null) this.#call.runtime.ticker.remove(this.#ticket)
  }
}

function nothing(): void {}

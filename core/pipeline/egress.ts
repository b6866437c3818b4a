// From a Result to the caller: encodes in the caller's dialect, or forwards bytes, one write per network read.
import { GatewayError } from '../errors/gateway-error.ts'
import { concatBytes } from '../lib/bytes.ts'
import type { CanonicalResponse } from '../types/answer.ts'
import type { Awaitable, Frozen } from '../types/canonical.ts'
import type { StreamEncoder } from '../types/dialect.ts'
import type { GatewayErrorShape } from '../types/error.ts'
import type { Result } from '../types/result.ts'
import type { StreamEvent, StreamSink, StreamSource } from '../types/stream.ts'
import { answerFacts } from './answer-facts.ts'
import { hopOf } from './call-state.ts'
import type { RequestState } from './context.ts'
import { driver, type Kernel } from './kernel.ts'
import type { ReplyWriter } from './reply.ts'

/** Sends the result. A stream's failure after its start is in `ctx.facts.error`; everything earlier is thrown. */
export function sendResult(kernel: Kernel, ctx: RequestState, result: Result, reply: ReplyWriter): Awaitable<void> {
  if (result.kind === 'stream') return sendStream(kernel, ctx, result.source, reply)
  return result.kind === 'full' ? sendFull(kernel, ctx, result, reply) : sendRaw(ctx, result, reply)
}

async function sendRaw(ctx: RequestState, result: Extract<Result, { kind: 'raw' }>, reply: ReplyWriter): Promise<void> {
  const { status, headers, body } = result
  if (body === null || body instanceof Uint8Array) return reply.send(ctx, status, headers, body)
  reply.openStream(ctx)
  const unbind = ctx.onStop((reason) => body.cancel(reason))
  const write = (chunk: Uint8Array | string): boolean => {
    reply.write(chunk)
    return true
  }
  await body.pump({ write, drained: () => reply.drained() })
  unbind()
  reply.end()
}

type FullResult = Extract<Result, { kind: 'full' }>

function sendFull(kernel: Kernel, ctx: RequestState, result: FullResult, reply: ReplyWriter): Awaitable<void> {
  const { hooks } = ctx.generation
  if (hooks.response === null || transformed.has(result) || !hooks.applies('response', ctx))
    return sendWhole(kernel, ctx, result, reply)
  const { response } = result
  const changing = hooks.response(ctx, response)
  const send = (changed: Frozen<CanonicalResponse>): void =>
    sendWhole(kernel, ctx, changed === response ? result : { kind: 'full', response: changed }, reply)
  return changing instanceof Promise ? changing.then(send) : send(changing)
}

function sendWhole(kernel: Kernel, ctx: RequestState, result: FullResult, reply: ReplyWriter): void {
  const { wire } = result
  if (wire !== undefined && wire.dialect === ctx.dialect) {
    return reply.send(ctx, 200, JSON_TYPE, concatBytes(wire.body.toBytes()))
  }
  const { response } = result
  ctx.facts ??= answerFacts(response)
  reply.send(ctx, 200, JSON_TYPE, driver(kernel, ctx.dialect).encodeResponse(response, hopOf(kernel, ctx)))
}

/** Answers of internal calls that have been through the response hooks already: they run once, where the answer arose. */
export const transformed = new WeakSet<Result>()

const JSON_TYPE = ['content-type', 'application/json; charset=utf-8']

async function sendStream(kernel: Kernel, ctx: RequestState, source: StreamSource, reply: ReplyWriter): Promise<void> {
  ctx.facts = source.facts
  const unbind = ctx.onStop((reason) => source.cancel(reason))
  let sink: ByteSink | EventSink
  try {
    sink =
      source.lane === 'bytes'
        ? new ByteSink(reply)
        : new EventSink(ctx, driver(kernel, ctx.dialect).encodeStream(hopOf(kernel, ctx)), reply)
  } catch (thrown) {
    // A transform's factory refused: nothing is on the wire yet, and the upstream must not go on.
    unbind()
    source.cancel(GatewayError.from(thrown))
    throw thrown
  }
  reply.openStream(ctx)
  sink.onFailure = (error) => source.cancel(error)
  try {
    await source.pump(sink)
    if (source.facts.error === null) await sink.finish()
  } finally {
    unbind()
  }
  const error = sink.failure ?? source.facts.error
  source.facts.error = error
  if (ctx.stopped !== null && ctx.stopped.status === 499) return
  if (error === null) return reply.end()
  const shown = reply.presentable(error, ctx.dialect)
  await sink.settled()
  reply.end(source.lane === 'bytes' ? source.errorFrame?.(shown) : (sink as EventSink).error(shown))
}

interface FinishingSink extends StreamSink {
  failure: GatewayErrorShape | null
  onFailure: (error: GatewayErrorShape) => void
  /** After the last read: what stages still hold. */
  finish(): Promise<void>
  /** Resolves when nothing is being written any more. */
  settled(): Promise<void>
}

/** Bytes lane: the frames of one read leave in one write; frames that lie side by side are not even copied. */
class ByteSink implements FinishingSink {
  failure: GatewayErrorShape | null = null
  onFailure: (error: GatewayErrorShape) => void = () => {}
  readonly #reply: ReplyWriter
  readonly #pieces: (Uint8Array | string)[] = []

  constructor(reply: ReplyWriter) {
    this.#reply = reply
  }

  event(): void {}

  frame(piece: Uint8Array | string): void {
    const last = this.#pieces[this.#pieces.length - 1]
    if (
      last instanceof Uint8Array &&
      piece instanceof Uint8Array &&
      last.buffer === piece.buffer &&
      last.byteOffset + last.length === piece.byteOffset
    ) {
      // Buffer.subarray keeps Buffers Buffers; the joined view must be of the same kind.
      this.#pieces[this.#pieces.length - 1] = joined(last, piece)
    } else this.#pieces.push(piece)
  }

  ready(): Promise<void> | undefined {
    this.#flush()
    return this.#reply.drained()
  }

  async finish(): Promise<void> {
    this.#flush()
  }

  async settled(): Promise<void> {
    this.#flush()
  }

  #flush(): void {
    if (this.#pieces.length === 0) return
    for (const piece of this.#pieces) this.#reply.write(piece)
    this.#pieces.length = 0
  }
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  return new Uint8Array(first.buffer, first.byteOffset, first.length + second.length)
}

/** Events lane: transforms → batch stage → encoder; one write per read. */
class EventSink implements FinishingSink {
  failure: GatewayErrorShape | null = null
  onFailure: (error: GatewayErrorShape) => void = () => {}
  readonly #ctx: RequestState
  readonly #encoder: StreamEncoder
  readonly #reply: ReplyWriter
  readonly #batch: boolean
  #events: StreamEvent[] = []
  #text = ''
  #writing: Promise<void> = Promise.resolve()

  constructor(ctx: RequestState, encoder: StreamEncoder, reply: ReplyWriter) {
    this.#ctx = ctx
    this.#encoder = encoder
    this.#reply = reply
    const { hooks } = ctx.generation
    if (ctx.stages === undefined) ctx.stages = hooks.stream === null ? null : hooks.stream(ctx)
    this.#batch = hooks.batch !== null && hooks.applies('stream:batch', ctx)
  }

  event(event: StreamEvent): void {
    if (this.failure !== null) return
    try {
      const { stages } = this.#ctx
      // Stages flush before the end, so that what they hold comes before the terminal events.
      if (event.e === 'end' && stages) stages.flush(this.#out)
      if (stages) stages.event(event, this.#out)
      else this.#out(event)
    } catch (error) {
      this.#fail(error)
    }
  }

  frame(): void {}

  ready(): Promise<void> | undefined {
    if (this.failure !== null) return undefined
    if (!this.#batch) {
      this.#flush()
      return this.#reply.drained()
    }
    this.#writing = this.#writing.then(() => this.#runBatch())
    return this.#writing
  }

  async finish(): Promise<void> {
    await this.ready()
  }

  async settled(): Promise<void> {
    await this.#writing
    this.#flush()
  }

  error(error: GatewayErrorShape): string {
    return this.#encoder.error(error)
  }

  async #runBatch(): Promise<void> {
    const events = this.#events
    this.#events = []
    if (events.length === 0) return
    try {
      for (const event of await (this.#ctx.generation.hooks.batch?.(this.#ctx, events) ?? events))
        this.#text += this.#encoder.event(event)
    } catch (error) {
      return this.#fail(error)
    }
    this.#flush()
    await this.#reply.drained()
  }

  readonly #out = (event: StreamEvent): void => {
    if (this.#batch) this.#events.push(event)
    else this.#text += this.#encoder.event(event)
  }

  #flush(): void {
    if (this.#text === '') return
    const text = this.#text
    this.#text = ''
    this.#reply.write(text)
  }

  #fail(thrown: unknown): void {
    this.failure ??= GatewayError.from(thrown)
    this.onFailure(this.failure)
  }
}

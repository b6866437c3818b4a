// Sends a Result to the caller: encodes it in the caller's dialect or forwards bytes, with one write per network read.
import { GatewayError } from '../errors/gateway-error.ts'
import { restBody } from '../json/wire-body.ts'
import { bodyText, concatBytes, decodeUtf8, encodeUtf8 } from '../text/bytes.ts'
import type { GatewayErrorShape } from '../types/error.ts'
import type { CanonicalResponse } from '../types/request/answer.ts'
import type { Awaitable, Frozen } from '../types/request/canonical.ts'
import type { AnswerRewriter } from '../types/request/context.ts'
import type { StreamEncoder } from '../types/request/dialect.ts'
import type { Result } from '../types/request/result.ts'
import type { StreamEvent, StreamSink, StreamSource } from '../types/request/stream.ts'
import { answerName, frameRenamer, type Rename, renamedBody } from './answer-name.ts'
import { codecContextOf } from './call-state.ts'
import type { RequestState } from './context.ts'
import { largeBytes } from './large-answer.ts'
import { sendAnswer } from './operations/egress.ts'
import type { ReplyWriter } from './reply.ts'
import { driver, type Runtime } from './runtime.ts'
import { type StagedSink, stagedSink, transformed } from './staged-sink.ts'
import { answerFacts } from './whole-answer.ts'

/** Sends the result. A stream's failure after its start is stored in `ctx.facts.error`; every earlier failure is thrown. */
export function sendResult(runtime: Runtime, ctx: RequestState, result: Result, reply: ReplyWriter): Awaitable<void> {
  if (result.kind === 'stream') return sendStream(runtime, ctx, result.source, reply)
  if (result.kind === 'answer') return sendAnswer(runtime, ctx, result, reply)
  return result.kind === 'full' ? sendFull(runtime, ctx, result, reply) : sendRaw(ctx, result, reply)
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

function sendFull(runtime: Runtime, ctx: RequestState, result: FullResult, reply: ReplyWriter): Awaitable<void> {
  const { hooks } = ctx
  // The usage that the upstream reported is billed, also when a plugin refuses to pass the answer on.
  ctx.facts ??= answerFacts(result.response)
  if (hooks.response === null || transformed.has(result) || !hooks.applies('response', ctx))
    return sendWhole(runtime, ctx, result, reply)
  const { response } = result
  const changing = hooks.response(ctx, response)
  const send = (changed: Frozen<CanonicalResponse>): Awaitable<void> =>
    sendWhole(runtime, ctx, changed === response ? result : { kind: 'full', response: changed }, reply)
  return changing instanceof Promise ? changing.then(send) : send(changing)
}

function sendWhole(runtime: Runtime, ctx: RequestState, result: FullResult, reply: ReplyWriter): Awaitable<void> {
  if (ctx.answerBytes > 0) return sendLarge(runtime, ctx, result, reply)
  return sendBody(ctx, wholeBody(runtime, ctx, result), reply)
}

async function sendLarge(runtime: Runtime, ctx: RequestState, result: FullResult, reply: ReplyWriter): Promise<void> {
  const bytes = await largeBytes(runtime, ctx, result)
  ctx.throwIfStopped()
  if (bytes === null) return sendBody(ctx, wholeBody(runtime, ctx, result), reply)
  reply.send(ctx, 200, JSON_TYPE, bytes)
  await ctx.rewriter?.end()
}

function sendBody(ctx: RequestState, body: Uint8Array | string, reply: ReplyWriter): Awaitable<void> {
  const { rewriter } = ctx
  if (rewriter === null) return reply.send(ctx, 200, JSON_TYPE, body)
  reply.send(ctx, 200, JSON_TYPE, rewriter.whole(typeof body === 'string' ? body : bodyText(body)))
  return rewriter.end()
}

function wholeBody(runtime: Runtime, ctx: RequestState, result: FullResult): Uint8Array | string {
  const { wire } = result
  const name = answerName(runtime, ctx)
  if (wire !== undefined && wire.dialect === ctx.dialect) {
    const places = driver(runtime, ctx.dialect).modelPlaces
    return name === null || !places ? wire.body.whole() : renamedBody(wire.body, places, name)
  }
  const response = name === null ? result.response : { ...result.response, model: name }
  return driver(runtime, ctx.dialect).encodeResponse(response, codecContextOf(runtime, ctx))
}

const JSON_TYPE = ['content-type', 'application/json; charset=utf-8']

async function sendStream(runtime: Runtime, ctx: RequestState, source: StreamSource, reply: ReplyWriter): Promise<void> {
  ctx.facts = source.facts
  ctx.bind(source)
  const name = answerName(runtime, ctx)
  let end: ByteSink | EncodingSink
  let staged: StagedSink | null = null
  try {
    const dialect = driver(runtime, ctx.dialect)
    if (source.lane === 'bytes')
      end = new ByteSink(
        reply,
        name === null || !dialect.modelPlaces ? null : frameRenamer(dialect.modelPlaces, name),
        ctx.rewriter,
      )
    else {
      end = new EncodingSink(dialect.encodeStream(codecContextOf(runtime, ctx)), reply, source, name, ctx.rewriter)
      if (!transformed.has(source)) staged = stagedSink(ctx, end, (error) => source.cancel(error))
    }
  } catch (thrown) {
    // The factory of a transform refused. No byte has been sent yet, and the upstream call must be aborted.
    ctx.unbind(source)
    source.cancel(GatewayError.from(thrown))
    throw thrown
  }
  reply.openStream(ctx)
  if (ctx.body !== null) restBody(ctx.body)
  const first: StreamSink = staged ?? end
  try {
    await source.pump(first)
    // Flush the events that the stages still hold after the last read.
    if (source.facts.error === null && end instanceof EncodingSink) await first.ready()
  } finally {
    ctx.unbind(source)
  }
  const error = staged?.failure ?? end.failure ?? source.facts.error
  source.facts.error = error
  if (ctx.stopped !== null && ctx.stopped.status === 499) return
  if (error !== null) await staged?.settled()
  end.flush()
  if (error === null) {
    await ctx.rewriter?.end()
    return reply.end()
  }
  const shown = reply.presentable(error, ctx.dialect, ctx.id)
  const last = end instanceof EncodingSink ? end.error(shown) : end.named(source.errorFrame?.(shown) ?? '')
  reply.end(ctx.rewriter?.frames(last) ?? last)
}

/** The byte lane: the frames of one read leave in one write. Adjacent frames are not copied. */
class ByteSink implements StreamSink {
  readonly failure = null
  readonly #reply: ReplyWriter
  readonly #rename: Rename | null
  readonly #rewriter: AnswerRewriter | null
  readonly #pieces: (Uint8Array | string)[] = []

  constructor(reply: ReplyWriter, rename: Rename | null, rewriter: AnswerRewriter | null) {
    this.#reply = reply
    this.#rename = rename
    this.#rewriter = rewriter
  }

  event(): void {}

  named(text: string): string {
    return (this.#rename?.(text) as string | undefined) ?? text
  }

  frame(given: Uint8Array | string): void {
    const piece = this.#rename === null ? given : this.#rename(given)
    const last = this.#pieces[this.#pieces.length - 1]
    if (
      last instanceof Uint8Array &&
      piece instanceof Uint8Array &&
      last.buffer === piece.buffer &&
      last.byteOffset + last.length === piece.byteOffset
    ) {
      // Buffer.subarray returns a Buffer; the joined view must be of the same class.
      this.#pieces[this.#pieces.length - 1] = joined(last, piece)
    } else this.#pieces.push(piece)
  }

  ready(): Promise<void> | undefined {
    this.flush()
    return this.#reply.drained()
  }

  flush(): void {
    if (this.#pieces.length === 0) return
    if (this.#rewriter === null) this.#reply.write(whole(this.#pieces))
    else this.#reply.write(this.#rewriter.frames(this.#pieces.map(textOf).join('')))
    this.#pieces.length = 0
  }
}

function textOf(piece: Uint8Array | string): string {
  return typeof piece === 'string' ? piece : decodeUtf8(piece)
}

/** Adjacent frames are one piece already. */
function whole(pieces: readonly (Uint8Array | string)[]): Uint8Array | string {
  return pieces.length === 1
    ? (pieces[0] as Uint8Array | string)
    : concatBytes(pieces.map((piece) => (typeof piece === 'string' ? encodeUtf8(piece) : piece)))
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  return new Uint8Array(first.buffer, first.byteOffset, first.length + second.length)
}

/** The events lane: encodes in the caller's dialect, one write per read. */
class EncodingSink implements StreamSink {
  failure: GatewayErrorShape | null = null
  readonly #encoder: StreamEncoder
  readonly #reply: ReplyWriter
  readonly #source: StreamSource
  /** The model name to show instead of the upstream's. */
  readonly #name: string | null
  readonly #rewriter: AnswerRewriter | null
  #text = ''

  constructor(
    encoder: StreamEncoder,
    reply: ReplyWriter,
    source: StreamSource,
    name: string | null,
    rewriter: AnswerRewriter | null,
  ) {
    this.#name = name
    this.#rewriter = rewriter
    this.#encoder = encoder
    this.#reply = reply
    this.#source = source
  }

  event(event: StreamEvent): void {
    if (this.failure !== null) return
    try {
      const named = event.e === 'start' && this.#name !== null ? { ...event, model: this.#name } : event
      this.#text += this.#encoder.event(named)
    } catch (error) {
      this.failure = GatewayError.from(error)
      this.#source.cancel(this.failure)
    }
  }

  frame(): void {}

  ready(): Promise<void> | undefined {
    if (this.failure !== null) return undefined
    this.flush()
    return this.#reply.drained()
  }

  error(error: GatewayErrorShape): string {
    return this.#encoder.error(error)
  }

  flush(): void {
    if (this.#text === '') return
    const text = this.#text
    this.#text = ''
    this.#reply.write(this.#rewriter === null ? text : this.#rewriter.frames(text))
  }
}

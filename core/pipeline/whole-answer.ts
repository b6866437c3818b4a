// Handles an answer in one piece: parsed from JSON, passed on as bytes, collected from a stream, or replayed as a stream.
import { GatewayError } from '../errors/gateway-error.ts'
import type { ValueLimits } from '../json/json-scan.ts'
import { parsedBody } from '../json/wire-body.ts'
import { isReported } from '../models/token-estimate.ts'
import { collector, replay } from '../stream/collect.ts'
import { createSseSplitter, MAX_EVENT_BYTES } from '../stream/sse.ts'
import { byteLength } from '../text/bytes.ts'
import type { Turns } from '../timing/yield-queue.ts'
import type { CanonicalResponse, Usage } from '../types/request/answer.ts'
import type { Dialect, Frozen } from '../types/request/canonical.ts'
import type { CodecContext, DialectDriver, WireBody } from '../types/request/dialect.ts'
import type { Result } from '../types/request/result.ts'
import type { StreamEvent, StreamFacts, StreamSink, StreamSource } from '../types/request/stream.ts'
import type { RequestState } from './context.ts'

/** @throws GatewayError 502 when the text is not JSON. */
export function parseBody(bytes: Uint8Array, text?: string): WireBody {
  try {
    return parsedBody(bytes, text)
  } catch (error) {
    throw GatewayError.protocol('The upstream answered with broken JSON.', error)
  }
}

/** Collects a stream that came in place of JSON. @throws GatewayError when it ended without an answer. */
export function collectFrames(
  bytes: Uint8Array,
  driver: DialectDriver,
  codec: CodecContext,
  values: ValueLimits,
): CanonicalResponse {
  const whole = collector()
  const read = driver.decodeBytes?.(codec)
  if (read !== undefined) {
    read.chunk(bytes, whole.event)
    read.end(whole.event)
    return whole.response()
  }
  const decoder = driver.decodeStream(codec)
  const splitter = createSseSplitter({ maxEventBytes: MAX_EVENT_BYTES, values })
  splitter.push(bytes, (frame) => decoder.frame(frame, whole.event))
  splitter.end((frame) => decoder.frame(frame, whole.event))
  decoder.end(whole.event)
  return whole.response()
}

/** Returns the facts of an answer. The content is measured only when an estimate is needed; `measured`: its bytes, if they are known. */
export function answerFacts(response: Frozen<CanonicalResponse>, measured: number | null = null): StreamFacts {
  const usage = response.usage as Usage
  return {
    content: true,
    contentBytes: isReported(usage) ? 0 : (measured ?? contentBytes(response)),
    terminal: true,
    usage,
    finish: response.choices[0]?.finish ?? null,
    error: null,
  }
}

/** Returns the UTF-8 bytes of an answer that a caller sees: text, reasoning, refusals, arguments. */
function contentBytes(response: Frozen<CanonicalResponse>): number {
  let bytes = 0
  for (const text of contentTexts(response)) bytes += byteLength(text)
  return bytes
}

export function contentTexts(response: Frozen<CanonicalResponse>): string[] {
  return response.choices.flatMap(({ parts }) =>
    parts.map((part) => {
      if (part.t === 'text' || part.t === 'reasoning' || part.t === 'refusal') return part.text
      return part.t === 'tool_call' ? part.args : ''
    }),
  )
}

/**
 * Returns the upstream's bytes as the answer: both sides speak the same dialect. @throws the error that an answer with status 200
 * contains.
 */
export function byteAnswer(body: WireBody, driver: DialectDriver, codec: CodecContext, ctx: RequestState): Result {
  const facts = driver.inspectResponse(body, codec)
  if (facts.error !== null) throw facts.error
  const answer = new ByteAnswer(body, driver, codec)
  // The members are written out: a spread followed by members gives every object its own hidden class.
  ctx.facts =
    ctx.operation === 'chat' && !isReported(facts.usage)
      ? answerFacts(answer.response)
      : { content: facts.content, contentBytes: 0, terminal: true, usage: facts.usage, finish: facts.finish, error: null }
  return answer
}

/**
 * The upstream's own bytes; parsed on first use. It is a class, because an object literal with a getter gets a new hidden class each
 * time, and hidden classes outlive the request.
 */
export class ByteAnswer {
  readonly kind = 'full'
  readonly wire: { dialect: Dialect; body: WireBody }
  readonly #driver: DialectDriver
  readonly #codec: CodecContext
  #decoded: Frozen<CanonicalResponse> | null = null

  constructor(body: WireBody, driver: DialectDriver, codec: CodecContext) {
    this.wire = { dialect: driver.id, body }
    this.#driver = driver
    this.#codec = codec
  }

  get response(): Frozen<CanonicalResponse> {
    this.#decoded ??= this.#driver.decodeResponse(this.wire.body, this.#codec)
    return this.#decoded
  }
}

/** Emits every event at once; back-pressure applies after the whole answer. With `turns`, the events of each turn are sent before the next. */
export function replaySource(
  response: Frozen<CanonicalResponse>,
  facts = answerFacts(response),
  turns: Turns | null = null,
): StreamSource {
  return {
    lane: 'events',
    facts,
    async pump(sink) {
      if (turns === null) replay(response, (event) => sink.event(event))
      else await replayInTurns(response, sink, turns)
      await sink.ready()
    },
    cancel() {},
  }
}

/** A long text is several events of 64 KiB. */
const EVENTS_A_TURN = 8

async function replayInTurns(response: Frozen<CanonicalResponse>, sink: StreamSink, turns: Turns): Promise<void> {
  const events: StreamEvent[] = []
  replay(response, (event) => void events.push(event))
  for (const [index, event] of events.entries()) {
    sink.event(event)
    if (index % EVENTS_A_TURN !== EVENTS_A_TURN - 1) continue
    await sink.ready()
    await turns.next()
  }
}

// An upstream's answer in one piece: its JSON, its bytes unchanged, or a stream collected into one.
import { GatewayError } from '../errors/gateway-error.ts'
import type { ValueLimits } from '../json/json-scan.ts'
import { parsedBody } from '../json/wire-body.ts'
import { isReported } from '../models/token-estimate.ts'
import { collector } from '../stream/collect.ts'
import { createSseSplitter, MAX_EVENT_BYTES } from '../stream/sse.ts'
import type { CanonicalResponse } from '../types/answer.ts'
import type { Dialect, Frozen } from '../types/canonical.ts'
import type { CodecContext, DialectDriver, WireBody } from '../types/dialect.ts'
import type { Result } from '../types/result.ts'
import { answerFacts } from './answer-facts.ts'
import type { RequestState } from './context.ts'

/** @throws GatewayError 502 for anything but JSON. */
export function parseBody(bytes: Uint8Array, text?: string): WireBody {
  try {
    return parsedBody(bytes, text)
  } catch (error) {
    throw GatewayError.protocol('The upstream answered with broken JSON.', error)
  }
}

/** A stream where JSON was asked for. @throws GatewayError when it ended without an answer. */
export function collectFrames(
  bytes: Uint8Array,
  driver: DialectDriver,
  codec: CodecContext,
  values: ValueLimits,
): CanonicalResponse {
  const decoder = driver.decodeStream(codec)
  const whole = collector()
  const splitter = createSseSplitter({ maxEventBytes: MAX_EVENT_BYTES, values })
  splitter.push(bytes, (frame) => decoder.frame(frame, whole.event))
  splitter.end((frame) => decoder.frame(frame, whole.event))
  decoder.end(whole.event)
  return whole.response()
}

/** Same dialect both ways: the upstream's bytes are the answer. @throws the error it carries in disguise. */
export function byteAnswer(body: WireBody, driver: DialectDriver, codec: CodecContext, ctx: RequestState): Result {
  const facts = driver.inspectResponse(body, codec)
  if (facts.error !== null) throw facts.error
  const answer = new ByteAnswer(body, driver, codec)
  // Written out: a spread followed by members gives a hidden class of its own to every object it makes.
  ctx.facts =
    ctx.operation === 'chat' && !isReported(facts.usage)
      ? answerFacts(answer.response)
      : { content: facts.content, contentBytes: 0, terminal: true, usage: facts.usage, finish: facts.finish, error: null }
  return answer
}

/**
 * The upstream's own bytes; parsed on first use. A class, because an object literal with a getter gets a new hidden class each time, and
 * hidden classes outlive the request.
 */
class ByteAnswer {
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

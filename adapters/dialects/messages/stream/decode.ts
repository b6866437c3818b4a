// Decodes an upstream's SSE frames into canonical events: one part per block, one finish, one end. It ignores events after stop_reason,
// and a second message_start with its repeated blocks.
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import { PartWriter } from '../../../../core/stream/part-writer.ts'
import type { GatewayErrorShape } from '../../../../core/types/error.ts'
import type { Json, JsonObject } from '../../../../core/types/request/canonical.ts'
import type { CodecContext, SseFrame, StreamDecoder } from '../../../../core/types/request/dialect.ts'
import type { Emit } from '../../../../core/types/request/stream.ts'
import { isObject, loose, others } from '../../shared/fields.ts'
import { inBandError } from '../errors.ts'
import { decodeFinish } from '../finish.ts'
import { KNOWN } from '../response/decode.ts'
import { BlockReplay } from './block-replay.ts'
import { BlockReceiver } from './decode-block.ts'
import { UsageLatch } from './usage-latch.ts'

const DELTA_EVENT: ReadonlySet<string> = new Set(['type', 'delta', 'usage'])
const DELTA: ReadonlySet<string> = new Set(['stop_reason', 'stop_sequence', 'stop_details'])

export function decodeStream(codec: CodecContext): StreamDecoder {
  return new MessageStreamDecoder(codec)
}

/** Returns the event of a frame; null for a comment or a foreign terminator. @throws SyntaxError for broken JSON. */
export function parseFrame(frame: SseFrame): JsonObject | null {
  const data = frame.data.trim()
  if (data === '' || data === '[DONE]') return null
  const parsed = JSON.parse(data) as Json
  if (!isObject(parsed)) return null
  return typeof parsed.type === 'string' || frame.event === null ? parsed : { ...parsed, type: frame.event }
}

class MessageStreamDecoder implements StreamDecoder {
  readonly #codec: CodecContext
  readonly #writer = new PartWriter()
  readonly #blocks: BlockReceiver
  readonly #replay = new BlockReplay()
  readonly #latch = new UsageLatch()
  /** Members that only this dialect has and that arrive after the message's start. */
  #later: JsonObject | null = null
  #started = false
  #finished = false
  #over = false

  constructor(codec: CodecContext) {
    this.#codec = codec
    this.#blocks = new BlockReceiver(this.#writer, codec)
  }

  frame(frame: SseFrame, emit: Emit): void {
    if (this.#over) return
    let event: JsonObject | null
    try {
      event = parseFrame(frame)
    } catch {
      return this.#fail(GatewayError.protocol('The upstream sent a stream event that is not JSON.'), emit)
    }
    if (event === null) return
    const error = event.type === 'error' || event.type === undefined ? inBandError(event, 'stream') : null
    if (error !== null) return this.#fail(error, emit)
    this.#event(event, emit)
  }

  end(emit: Emit): void {
    if (this.#over) return
    if (this.#finished) return this.#end(emit)
    this.#fail(GatewayError.protocol('The upstream closed the stream before it was complete.'), emit)
  }

  #event(event: JsonObject, emit: Emit): void {
    switch (event.type) {
      case 'message_start':
        if (this.#started) this.#replay.restart()
        return this.#start(isObject(event.message) ? event.message : {}, emit)
      case 'message_delta':
        return this.#delta(event, emit)
      case 'message_stop':
        this.#start({}, emit)
        if (!this.#finished) this.#finish('', {}, emit)
        return this.#end(emit)
      case 'content_block_start':
      case 'content_block_delta':
      case 'content_block_stop':
        if (this.#finished) return
        this.#start({}, emit)
        return this.#block(this.#replay.event(event), emit)
    }
  }

  #block(event: JsonObject | null, emit: Emit): void {
    if (event !== null) this.#blocks.event(event, emit)
  }

  #start(message: JsonObject, emit: Emit): void {
    if (this.#started) return
    this.#started = true
    this.#latch.observe(message.usage)
    const usage = this.#latch.result()
    const own = others(message, KNOWN)
    emit({
      e: 'start',
      id: loose(message.id) || this.#codec.id('msg_'),
      model: loose(message.model) || this.#codec.model,
      created: Math.floor(this.#codec.now() / 1000),
      ...(usage === null ? {} : { usage }),
      ...(own === null ? {} : { ext: { messages: own } }),
    })
  }

  #delta(event: JsonObject, emit: Emit): void {
    this.#start({}, emit)
    this.#latch.observe(event.usage)
    const usage = isObject(event.usage) ? this.#latch.result() : null
    const delta = isObject(event.delta) ? event.delta : {}
    const own = others(event, DELTA_EVENT)
    const more = others(delta, DELTA)
    if (own !== null || more !== null) this.#later = { ...this.#later, ...own, ...more }
    const reason = loose(delta.stop_reason)
    if (reason !== '') this.#blocks.close(emit)
    if (usage !== null) emit({ e: 'usage', usage })
    if (reason !== '' && !this.#finished) this.#finish(reason, delta, emit)
  }

  #finish(reason: string, { stop_sequence: sequence, stop_details: details }: JsonObject, emit: Emit): void {
    this.#blocks.close(emit)
    this.#finished = true
    const finish = decodeFinish(reason, this.#blocks.hasToolCall)
    emit({
      e: 'finish',
      choice: 0,
      finish,
      native: reason,
      ...(typeof sequence === 'string' ? { stopSequence: sequence } : {}),
      ...(isObject(details) ? { safety: details } : {}),
    })
  }

  #end(emit: Emit): void {
    this.#over = true
    emit({ e: 'end', ...(this.#later === null ? {} : { ext: { messages: this.#later } }) })
  }

  #fail(error: GatewayErrorShape, emit: Emit): void {
    this.#over = true
    const { status, message } = error
    const code = error.code ?? (error.upstream?.kind === 'stream' ? error.type : 'upstream_error')
    emit({ e: 'error', status, code, message, retryable: status === 429 || status >= 500 })
  }
}

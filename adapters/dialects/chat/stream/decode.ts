// Decodes an upstream's chat stream into canonical events.
import type { GatewayError } from '../../../../core/errors/gateway-error.ts'
import { PartWriter } from '../../../../core/stream/part-writer.ts'
import type { Json, JsonObject } from '../../../../core/types/request/canonical.ts'
import type { CodecContext, SseFrame, StreamDecoder } from '../../../../core/types/request/dialect.ts'
import type { Emit } from '../../../../core/types/request/stream.ts'
import { inBandError } from '../errors.ts'
import { OwnMembers } from '../own-members.ts'
import { isObject, text } from '../read.ts'
import { failedAnswer } from '../response/decode.ts'
import { decodeUsage, findUsage } from '../usage.ts'
import { ChoiceDecoder } from './decode-delta.ts'

export function decodeStream(codec: CodecContext): StreamDecoder {
  return new ChatStreamDecoder(codec)
}

class ChatStreamDecoder implements StreamDecoder {
  readonly #codec: CodecContext
  readonly #writer = new PartWriter()
  readonly #choices = new Map<number, ChoiceDecoder>()
  /** Null when the caller speaks another dialect. */
  readonly #own: OwnMembers | null
  #started = false
  #over = false

  constructor(codec: CodecContext) {
    this.#codec = codec
    this.#own = codec.caller === 'chat' ? new OwnMembers() : null
  }

  frame(frame: SseFrame, emit: Emit): void {
    const { data } = frame
    if (this.#over || data === '') return
    if (data.startsWith('[DONE]')) {
      this.#done(emit)
      return
    }
    const chunk = parseObject(data)
    if (chunk === null) {
      this.#fail(502, 'The upstream sent a stream event that is not valid JSON.', emit)
      return
    }
    const error = inBandError(chunk, 'stream')
    if (error !== null) {
      this.#failWith(error, emit)
      return
    }
    this.#chunk(chunk, emit)
  }

  end(emit: Emit): void {
    if (this.#over) return
    const open = [...this.#choices.values()].some((choice) => !choice.finished)
    if (open || this.#choices.size === 0) this.#fail(502, 'The upstream closed the stream before it was complete.', emit)
    else this.#end(emit)
  }

  #chunk(chunk: JsonObject, emit: Emit): void {
    const choices = Array.isArray(chunk.choices) ? chunk.choices.filter(isObject) : []
    const usage = decodeUsage(findUsage(chunk), this.#codec.quirks)
    this.#own?.observe(chunk, this.#started)
    // Azure's first chunk has neither, and no id.
    if (choices.length === 0 && usage === null) return
    this.#start(chunk, emit)
    choices.forEach((choice, position) => {
      if (!this.#over) this.#choice(choice, position, emit)
    })
    if (usage !== null && !this.#over) emit({ e: 'usage', usage })
  }

  #start(chunk: JsonObject, emit: Emit): void {
    if (this.#started) return
    this.#started = true
    const created = typeof chunk.created === 'number' ? Math.floor(chunk.created) : Math.floor(this.#codec.now() / 1000)
    const model = text(chunk.model) ?? this.#codec.model
    emit({ e: 'start', id: text(chunk.id) ?? '', model, created, ...this.#own?.first() })
  }

  #choice(wire: JsonObject, position: number, emit: Emit): void {
    const index = typeof wire.index === 'number' ? wire.index : position
    let choice = this.#choices.get(index)
    if (choice === undefined) {
      choice = new ChoiceDecoder(index, this.#writer, this.#codec)
      this.#choices.set(index, choice)
    }
    if (choice.finished) return
    const delta = isObject(wire.delta) ? wire.delta : isObject(wire.message) ? wire.message : {}
    choice.delta(delta, wire.logprobs, emit)
    if (this.#own !== null) choice.owns(wire)
    const native = text(wire.finish_reason)
    if (native !== undefined && choice.finish(native, emit) === null) this.#failWith(failedAnswer(native), emit)
  }

  /** Ends the answer. A choice without a finish reason counts as stopped. */
  #done(emit: Emit): void {
    if (this.#choices.size === 0) {
      this.#fail(502, 'The upstream ended the stream without an answer.', emit)
      return
    }
    for (const choice of this.#choices.values()) if (!choice.finished) choice.finish(undefined, emit)
    this.#end(emit)
  }

  #end(emit: Emit): void {
    this.#over = true
    emit({ e: 'end', ...this.#own?.later() })
  }

  #failWith(error: GatewayError, emit: Emit): void {
    this.#fail(error.upstream?.status || 502, error.message, emit, error.code)
  }

  #fail(status: number, message: string, emit: Emit, code: string | null = 'upstream_error'): void {
    this.#over = true
    emit({ e: 'error', status, ...(code === null ? {} : { code }), message, retryable: status === 429 || status >= 500 })
  }
}

export function parseObject(data: string): JsonObject | null {
  try {
    const parsed = JSON.parse(data) as Json
    return isObject(parsed) ? parsed : null
  } catch {
    return null
  }
}

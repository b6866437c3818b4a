// Decodes an upstream's event stream. It uses deltas first. Content that is only in a `.done` event, in a whole item or in the final
// response is added, never twice.
import { PartWriter } from '../../../../core/stream/part-writer.ts'
import type { Json, JsonObject } from '../../../../core/types/request/canonical.ts'
import type { CodecContext, SseFrame, StreamDecoder } from '../../../../core/types/request/dialect.ts'
import type { Emit, StreamEvent } from '../../../../core/types/request/stream.ts'
import { isObject, loose } from '../../shared/fields.ts'
import { innerError } from '../errors.ts'
import { decodeAnnotation } from '../response/annotations.ts'
import { failureOf, outcome, ownMembers } from '../response/decode.ts'
import { decodeUsage } from '../usage.ts'
import { ItemReader } from './item-reader.ts'

const CUT = 'The upstream closed the stream before it was complete.'

export function decodeStream(codec: CodecContext): StreamDecoder {
  return new ResponseStreamDecoder(codec)
}

class ResponseStreamDecoder implements StreamDecoder {
  readonly #codec: CodecContext
  readonly #writer = new PartWriter()
  readonly #items: ItemReader
  #started = false
  #over = false
  /** The part that started last: log probabilities belong to it. */
  #part = 0
  #emit: Emit = () => {}
  readonly #watched: Emit = (event) => {
    if (event.e === 'part_start') this.#part = event.part
    this.#emit(event)
  }

  constructor(codec: CodecContext) {
    this.#codec = codec
    this.#items = new ItemReader(codec, this.#writer)
  }

  frame(frame: SseFrame, emit: Emit): void {
    const { data } = frame
    if (this.#over || data === '' || data.startsWith('[DONE]')) return
    const event = parse(data)
    if (event === null) {
      this.#fail(
        {
          e: 'error',
          status: 502,
          code: 'upstream_error',
          message: 'The upstream sent a malformed stream event.',
          retryable: true,
        },
        emit,
      )
      return
    }
    this.#emit = emit
    this.#event(loose(event.type) || (frame.event ?? ''), event, this.#watched)
  }

  end(emit: Emit): void {
    if (!this.#over) this.#fail({ e: 'error', status: 502, code: 'upstream_error', message: CUT, retryable: true }, emit)
  }

  #event(type: string, event: JsonObject, emit: Emit): void {
    switch (type) {
      case 'response.created':
      case 'response.queued':
      case 'response.in_progress':
        if (isObject(event.response)) this.#start(event.response, emit)
        return
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
      case 'response.cancelled':
        this.#terminal(type, isObject(event.response) ? event.response : {}, emit)
        return
      case 'error':
        this.#failWith(isObject(event.error) ? event.error : event, emit)
        return
      case '':
        if (event.error !== undefined && event.error !== null) this.#failWith(event.error, emit)
        return
    }
    if (!type.startsWith('response.')) return
    this.#start({}, emit)
    this.#content(type, event, emit)
  }

  #content(type: string, event: JsonObject, emit: Emit): void {
    const items = this.#items
    switch (type) {
      case 'response.output_item.added':
        items.added(event, emit)
        break
      case 'response.output_item.done':
        items.done(event, emit)
        break
      case 'response.content_part.added':
        this.#writer.closeCurrent(0, emit)
        break
      case 'response.content_part.done':
        items.contentDone(event, isObject(event.part) ? event.part : {}, emit)
        break
      case 'response.output_text.delta':
        items.said(event, 'text', loose(event.delta), emit)
        this.#logprobs(event.logprobs, emit)
        break
      case 'response.output_text.done':
        items.saidWhole(event, 'text', loose(event.text), emit)
        break
      case 'response.output_text.annotation.added': {
        const annotation = decodeAnnotation(event.annotation ?? null)
        if (annotation !== null) items.annotated(event, [annotation], emit)
        return
      }
      case 'response.refusal.delta':
        items.said(event, 'refusal', loose(event.delta), emit)
        break
      case 'response.refusal.done':
        items.saidWhole(event, 'refusal', loose(event.refusal), emit)
        break
      case 'response.reasoning_summary_text.delta':
        items.summary(event, loose(event.delta), emit)
        break
      case 'response.reasoning_summary_text.done':
        items.summaryWhole(event, loose(event.text), emit)
        break
      case 'response.reasoning_summary_part.done':
        items.summaryWhole(event, isObject(event.part) ? loose(event.part.text) : '', emit)
        break
      case 'response.reasoning_text.delta':
        items.thought(event, loose(event.delta), emit)
        break
      case 'response.reasoning_text.done':
        items.thoughtWhole(event, loose(event.text), emit)
        break
      case 'response.function_call_arguments.delta':
        items.args(event, loose(event.delta), emit)
        break
      case 'response.function_call_arguments.done':
        items.argsWhole(event, event.arguments, emit)
        break
      case 'response.custom_tool_call_input.delta':
        items.args(event, loose(event.delta), emit)
        break
      case 'response.custom_tool_call_input.done':
        items.argsWhole(event, event.input, emit)
        break
    }
  }

  #start(response: JsonObject, emit: Emit): void {
    if (this.#started) return
    this.#started = true
    const created = typeof response.created_at === 'number' ? response.created_at : this.#codec.now() / 1000
    emit({ e: 'start', id: loose(response.id), model: loose(response.model) || this.#codec.model, created: Math.floor(created) })
  }

  #terminal(type: string, response: JsonObject, emit: Emit): void {
    const status = type.slice('response.'.length)
    const usage = decodeUsage(response.usage, this.#codec.quirks)
    const failure = failureOf({ ...response, status })
    if (failure !== null) {
      if (usage !== null) {
        this.#start(response, emit)
        emit({ e: 'usage', usage })
      }
      this.#failWith(response.error ?? { code: 'server_error', message: failure.message }, emit)
      return
    }
    this.#start(response, emit)
    if (Array.isArray(response.output)) this.#items.missed(response.output, emit)
    this.#writer.closeAll(0, emit)
    if (usage !== null) emit({ e: 'usage', usage })
    const { finish, native } = outcome({ ...response, status }, this.#items.called, this.#items.refused)
    emit({ e: 'finish', choice: 0, finish, native })
    this.#over = true
    const own = this.#codec.caller === 'responses' ? ownMembers(response) : null
    emit({ e: 'end', ...(own === null ? {} : { ext: { responses: own } }) })
  }

  #failWith(error: Json, emit: Emit): void {
    const { status, code, message } = innerError(error, 'stream')
    this.#fail(
      {
        e: 'error',
        status,
        ...(code === null ? {} : { code }),
        message,
        retryable: status >= 500 || status === 429 || status === 408,
      },
      emit,
    )
  }

  #fail(event: StreamEvent, emit: Emit): void {
    this.#start({}, emit)
    this.#over = true
    emit(event)
  }

  #logprobs(list: Json | undefined, emit: Emit): void {
    if (Array.isArray(list) && list.length > 0)
      emit({ e: 'delta', choice: 0, part: this.#part, d: { logprobs: { content: list, refusal: null } } })
  }
}

function parse(data: string): JsonObject | null {
  try {
    const event: unknown = JSON.parse(data)
    return isObject(event) ? event : null
  } catch {
    return null
  }
}

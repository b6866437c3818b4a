// Filters streams on the byte lane: forwards a vendor's frames unchanged to a caller of the same dialect. It changes only what breaks an
// SDK: it drops a second message_start and content after stop_reason, and adds missing event names and usage objects.
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import { byteLength, decodeUtf8 } from '../../../../core/text/bytes.ts'
import type { GatewayErrorShape } from '../../../../core/types/error.ts'
import type { JsonObject } from '../../../../core/types/request/canonical.ts'
import type { FrameFilter, SseFrame } from '../../../../core/types/request/dialect.ts'
import type { StreamFacts } from '../../../../core/types/request/stream.ts'
import { isObject, loose } from '../../shared/fields.ts'
import { errorFrame, inBandError } from '../errors.ts'
import { finishWord } from '../finish.ts'
import { BlockReplay } from './block-replay.ts'
import { parseFrame } from './decode.ts'
import { MESSAGE_STOP } from './encode.ts'
import { UsageLatch } from './usage-latch.ts'

export function filterStream(): FrameFilter {
  return new MessageFrameFilter()
}

class MessageFrameFilter implements FrameFilter {
  readonly facts: StreamFacts = { content: false, contentBytes: 0, terminal: false, usage: null, finish: null, error: null }
  readonly #replay = new BlockReplay()
  readonly #latch = new UsageLatch()
  #started = false
  #stopped = false

  frame(frame: SseFrame): Uint8Array | string | null {
    if (this.facts.error !== null || this.#stopped) return null
    if (frame.event === 'ping' || frame.data === '') return frame.bytes
    let event: JsonObject | null
    try {
      event = parseFrame(frame)
    } catch {
      this.facts.error = GatewayError.protocol('The upstream sent a stream event that is not JSON.')
      return null
    }
    if (event === null) return null
    const type = loose(event.type)
    if (type === 'error' || type === '') {
      this.facts.error = inBandError(event, 'stream')
      return null
    }
    const kept = this.#event(type, event)
    if (kept === null) return null
    if (kept !== event) return sse(type, kept)
    return frame.event === null ? `event: ${type}\n${decodeUtf8(frame.bytes)}` : frame.bytes
  }

  end(): string {
    const { facts } = this
    if (facts.error !== null || this.#stopped) return ''
    if (!facts.terminal) {
      facts.error = GatewayError.network('reset', 'The upstream closed the stream before it was complete.')
      return ''
    }
    this.#stopped = true
    return MESSAGE_STOP
  }

  error(error: GatewayErrorShape): string {
    return errorFrame(error)
  }

  /** Returns the event itself to forward its bytes, a changed copy, or null to drop it. */
  #event(type: string, event: JsonObject): JsonObject | null {
    switch (type) {
      case 'message_start':
        return this.#start(event)
      case 'content_block_start':
      case 'content_block_delta':
      case 'content_block_stop':
        return this.facts.finish === null ? this.#content(this.#replay.event(event)) : null
      case 'message_delta':
        return this.#delta(event)
      case 'message_stop':
        this.#stopped = true
        this.facts.terminal = true
        this.facts.finish ??= 'stop'
        return event
      default:
        return event
    }
  }

  #content(event: JsonObject | null): JsonObject | null {
    if (isObject(event?.content_block)) this.#block(event.content_block)
    if (isObject(event?.delta)) this.#count(event.delta)
    return event
  }

  #start(event: JsonObject): JsonObject | null {
    if (this.#started) {
      this.#replay.restart()
      return null
    }
    this.#started = true
    const message = isObject(event.message) ? event.message : {}
    this.#observe(message)
    return isObject(message.usage) ? event : { ...event, message: { ...message, usage: { input_tokens: 0, output_tokens: 0 } } }
  }

  #delta(event: JsonObject): JsonObject | null {
    this.#observe(event)
    const reason = isObject(event.delta) ? loose(event.delta.stop_reason) : ''
    // A later event would overwrite the reason in the caller's snapshot.
    if (this.facts.finish !== null && reason === '') return null
    if (reason !== '') {
      this.facts.finish = finishWord(reason)
      this.facts.terminal = true
    }
    return isObject(event.usage) ? event : { ...event, usage: { output_tokens: this.facts.usage?.outputTotal ?? 0 } }
  }

  #observe(owner: JsonObject): void {
    if (!isObject(owner.usage)) return
    this.#latch.observe(owner.usage)
    this.facts.usage = this.#latch.result()
  }

  #block(block: JsonObject): void {
    if (block.type === 'text') this.#add(loose(block.text))
    else if (block.type === 'thinking') this.#add(loose(block.thinking))
    else this.facts.content = true
  }

  #count(delta: JsonObject): void {
    if (delta.type === 'text_delta') this.#add(loose(delta.text))
    else if (delta.type === 'thinking_delta') this.#add(loose(delta.thinking))
    else if (delta.type === 'input_json_delta') this.#add(loose(delta.partial_json))
    else if (delta.type === 'compaction_delta') this.#add(loose(delta.content))
  }

  #add(text: string): void {
    if (text === '') return
    this.facts.content = true
    this.facts.contentBytes += byteLength(text)
  }
}

function sse(type: string, event: JsonObject): string {
  return `event: ${type}\ndata: ${JSON.stringify(event)}\n\n`
}

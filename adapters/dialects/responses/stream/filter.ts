// Filters streams on the byte lane: forwards an upstream's frames unchanged to a caller of the same dialect. Delta frames are measured
// without parsing. The final response is parsed for usage, and completed when strict clients would refuse it.
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import { byteLength } from '../../../../core/text/bytes.ts'
import type { GatewayErrorShape } from '../../../../core/types/error.ts'
import type { JsonObject } from '../../../../core/types/request/canonical.ts'
import type { CodecContext, FrameFilter, SseFrame } from '../../../../core/types/request/dialect.ts'
import type { StreamFacts } from '../../../../core/types/request/stream.ts'
import { isObject, loose } from '../../shared/fields.ts'
import { failureCode, innerError } from '../errors.ts'
import { failureOf, outcome } from '../response/decode.ts'
import { completedUsage, decodeUsage } from '../usage.ts'
import { encodeStream } from './encode.ts'
import { PartialOutput } from './partial-output.ts'

export function filterStream(codec: CodecContext): FrameFilter {
  return new ResponseStreamFilter(codec)
}

class ResponseStreamFilter implements FrameFilter {
  readonly facts: StreamFacts = { content: false, contentBytes: 0, terminal: false, usage: null, finish: null, error: null }
  readonly #codec: CodecContext
  readonly #partial = new PartialOutput()
  #created: JsonObject | null = null
  #failed: JsonObject | null = null
  #last = ''

  constructor(codec: CodecContext) {
    this.#codec = codec
  }

  frame(frame: SseFrame): Uint8Array | string | null {
    const { facts } = this
    if (facts.error !== null) return null
    const { data } = frame
    if (data === '') return frame.bytes
    // [DONE] is not part of this dialect, but some upstreams send it.
    if (facts.terminal || data.startsWith('[DONE]')) return null
    if (frame.event?.endsWith('.delta')) {
      const size = deltaBytes(data)
      if (size >= 0) {
        this.#delta(data, size)
        return frame.bytes
      }
    }
    const event = parse(data)
    if (event === null) {
      facts.error = GatewayError.protocol('The upstream sent a malformed stream event.')
      return null
    }
    return this.#event(loose(event.type) || (frame.event ?? ''), event, frame)
  }

  end(): string {
    if (!this.facts.terminal)
      this.facts.error ??= GatewayError.network('reset', 'The upstream closed the stream before it was complete.')
    return ''
  }

  error(error: GatewayErrorShape): string {
    if (this.#created === null) return encodeStream(this.#codec).error(error)
    const failed = isObject(this.#failed?.response) ? this.#failed.response : {}
    const said = isObject(failed.error) ? failed.error : {}
    const output = Array.isArray(failed.output) && failed.output.length > 0 ? failed.output : this.#partial.items()
    const response = {
      ...this.#created,
      ...failed,
      status: 'failed',
      completed_at: null,
      error: { code: loose(said.code) || failureCode(error), message: error.message },
      incomplete_details: null,
      output,
      usage: completedUsage(failed.usage) ?? failed.usage ?? null,
    }
    const last = parse(this.#last)?.sequence_number
    const sequence = typeof last === 'number' ? last + 1 : 0
    return `event: response.failed\ndata: ${JSON.stringify({ type: 'response.failed', sequence_number: sequence, response })}\n\n`
  }

  #delta(data: string, size: number): void {
    this.facts.content = true
    this.facts.contentBytes += size
    this.#partial.delta(data)
    this.#last = data
  }

  #event(type: string, event: JsonObject, frame: SseFrame): Uint8Array | string | null {
    const { facts } = this
    if (type.endsWith('.delta')) {
      this.#delta(frame.data, byteLength(loose(event.delta)))
      return frame.bytes
    }
    if (type === 'error' || (type === '' && event.error !== undefined && event.error !== null)) {
      facts.error = innerError(isObject(event.error) ? event.error : event, 'stream')
      return null
    }
    if (type === 'response.created' && isObject(event.response)) this.#created = event.response
    else if (type === 'response.output_item.added') {
      this.#partial.added(event)
      if (isObject(event.item) && loose(event.item.type).endsWith('_call')) facts.content = true
    } else if (type === 'response.output_item.done') this.#itemDone(event)
    else if (/^response\.(completed|incomplete|failed|cancelled)$/.test(type)) return this.#terminal(type.slice(9), event, frame)
    this.#last = frame.data
    return frame.bytes
  }

  #itemDone(event: JsonObject): void {
    const streamed = this.#partial.done(event)
    this.facts.content = true
    if (!streamed && isObject(event.item)) this.facts.contentBytes += contentBytes(event.item)
  }

  #terminal(status: string, event: JsonObject, frame: SseFrame): Uint8Array | string | null {
    const { facts } = this
    const response = isObject(event.response) ? event.response : {}
    facts.usage = decodeUsage(response.usage, this.#codec.quirks)
    const failure = failureOf({ ...response, status })
    if (failure !== null) {
      this.#failed = event
      facts.error = innerError(response.error ?? { code: 'server_error', message: failure.message }, 'stream')
      return null
    }
    const output = Array.isArray(response.output) ? response.output : this.#partial.items()
    facts.terminal = true
    facts.finish = outcome({ ...response, status }, output.some(isCall), output.some(refuses)).finish
    const usage = completedUsage(response.usage)
    if (usage === null) return frame.bytes
    return `event: ${loose(event.type) || frame.event}\ndata: ${JSON.stringify({ ...event, response: { ...response, usage } })}\n\n`
  }
}

/** Returns the approximate UTF-8 bytes of the `delta` member (escapes count as written); -1 when parsing would be needed. */
function deltaBytes(data: string): number {
  // The quote before the name is not escaped, so the match is a member, never content.
  const at = data.indexOf('"delta":"')
  if (at === -1 || !data.endsWith('}')) return -1
  let end = data.indexOf('"', at + 9)
  while (end !== -1 && data[end - 1] === '\\' && slashes(data, end) % 2 === 1) end = data.indexOf('"', end + 1)
  return end === -1 ? -1 : byteLength(data.slice(at + 9, end))
}

function slashes(data: string, before: number): number {
  let count = 0
  while (data[before - 1 - count] === '\\') count++
  return count
}

function contentBytes(item: JsonObject): number {
  const texts = [
    item.arguments,
    item.input,
    ...(Array.isArray(item.content) ? item.content.map((part) => (isObject(part) ? (part.text ?? part.refusal) : '')) : []),
  ]
  return texts.reduce<number>((sum, text) => sum + byteLength(loose(text ?? '')), 0)
}

function isCall(item: unknown): boolean {
  return isObject(item) && (item.type === 'function_call' || item.type === 'custom_tool_call')
}

function refuses(item: unknown): boolean {
  return isObject(item) && Array.isArray(item.content) && item.content.some((part) => isObject(part) && part.type === 'refusal')
}

function parse(data: string): JsonObject | null {
  try {
    const event: unknown = JSON.parse(data)
    return isObject(event) ? event : null
  } catch {
    return null
  }
}

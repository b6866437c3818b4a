// Passes the chunks of a completion on, and counts what they hold. The usage chunk is left out when the caller did not ask for it.
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { createSseSplitter } from '../../../core/stream/sse.ts'
import { byteLength } from '../../../core/text/bytes.ts'
import type { UpstreamStreamAnswer } from '../../../core/types/operations/operation.ts'
import type { ByteSource } from '../../../core/types/ports/ports.ts'
import type { Json, JsonObject } from '../../../core/types/request/canonical.ts'
import type { SseFrame } from '../../../core/types/request/dialect.ts'
import { isObject, loose } from '../../dialects/shared/fields.ts'
import { refuseError } from '../shared/answers.ts'

export interface Counted {
  /** The last usage object; null: none was sent. */
  readonly reported: Json
  /** UTF-8 bytes of text so far. */
  readonly bytes: number
}

export function passedChunks(
  { chunks, cancel }: UpstreamStreamAnswer,
  includeUsage: boolean,
): { source: ByteSource; counted(): Counted } {
  let failure: GatewayError | null = null
  let reported: Json = null
  let bytes = 0
  let done = false

  /** Returns whether the frame is sent. @throws GatewayError for an error event. */
  const read = ({ data }: SseFrame): boolean => {
    if (data === '[DONE]') done = true
    const json = data.startsWith('{') ? jsonOf(data) : null
    if (json === null) return true
    refuseError(json.error)
    if (isObject(json.usage)) reported = json.usage
    const choices = Array.isArray(json.choices) ? json.choices : []
    for (const choice of choices) if (isObject(choice)) bytes += byteLength(loose(choice.text))
    return includeUsage || choices.length > 0 || !isObject(json.usage)
  }

  return {
    counted: () => ({ reported, bytes }),
    source: {
      failure: () => failure,
      cancel,
      async pump(sink) {
        const splitter = createSseSplitter()
        const onFrame = (frame: SseFrame): void => {
          if (read(frame)) sink.write(frame.bytes)
        }
        try {
          for await (const chunk of chunks) {
            splitter.push(chunk, onFrame)
            const waiting = sink.drained()
            if (waiting !== undefined) await waiting
          }
          splitter.end(onFrame)
          if (!done) throw GatewayError.protocol('The upstream ended the stream early.')
        } catch (thrown) {
          failure = GatewayError.from(thrown)
          cancel(failure)
          const { message, type, code } = failure
          sink.write(`data: ${JSON.stringify({ error: { message, type, code, param: null } })}\n\n`)
        }
      },
    },
  }
}

function jsonOf(data: string): JsonObject | null {
  try {
    const json: unknown = JSON.parse(data)
    return isObject(json) ? json : null
  } catch {
    return null
  }
}

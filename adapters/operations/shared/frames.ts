// Passes an upstream's stream on, and reads the JSON of its SSE events beside it.
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { concatBytes, decodeUtf8, encodeUtf8 } from '../../../core/text/bytes.ts'
import type { JsonObject } from '../../../core/types/canonical.ts'
import type { UpstreamStreamAnswer } from '../../../core/types/operation.ts'
import type { ByteSource } from '../../../core/types/ports.ts'
import { isObject } from '../../dialects/shared/fields.ts'

/** Only the last part of a stream is searched for its usage. */
const KEPT_BYTES = 64 * 1024

/** Forwards the bytes. A failure in mid-stream ends the stream with an error event when `sse` is true, and without one otherwise. */
export function passedOn({ chunks, cancel }: UpstreamStreamAnswer, sse: boolean, seen?: (chunk: Uint8Array) => void): ByteSource {
  return {
    async pump(sink) {
      try {
        for await (const chunk of chunks) {
          seen?.(chunk)
          sink.write(chunk)
          const waiting = sink.drained()
          if (waiting !== undefined) await waiting
        }
      } catch (thrown) {
        if (!sse) throw thrown
        const { message, type, code } = GatewayError.from(thrown)
        const error = { type: 'error', error: { message, type, code, param: null } }
        sink.write(encodeUtf8(`event: error\ndata: ${JSON.stringify(error)}\n\n`))
      }
    },
    cancel,
  }
}

/** The most bytes of a whole answer in place of a stream. */
const MOST_BYTES = 64 * 1024 * 1024

/** Returns the whole answer. @throws GatewayError 502 over the limit. */
export async function collected(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const list: Uint8Array[] = []
  let size = 0
  for await (const chunk of chunks) {
    size += chunk.length
    if (size > MOST_BYTES) throw GatewayError.protocol('The upstream answer is larger than the limit.')
    list.push(chunk)
  }
  return concatBytes(list)
}

/** Collects the end of a stream; `last` returns the newest event that has a `usage`. */
export function tail(): { seen(chunk: Uint8Array): void; last(): JsonObject | null } {
  let text = ''
  return {
    seen(chunk) {
      text = (text + decodeUtf8(chunk)).slice(-KEPT_BYTES)
    },
    last() {
      const lines = text.split('\n').filter((line) => line.startsWith('data:') && line.includes('"usage"'))
      for (const line of lines.reverse()) {
        try {
          const json: unknown = JSON.parse(line.slice(5))
          if (isObject(json) && isObject(json.usage)) return json
        } catch {
          // A cut event has no usage.
        }
      }
      return null
    },
  }
}

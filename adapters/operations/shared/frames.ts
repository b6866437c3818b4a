// Passes an upstream's stream on, and reads the JSON of its SSE events beside it.
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { concatBytes, decodeUtf8, encodeUtf8 } from '../../../core/text/bytes.ts'
import type { UpstreamStreamAnswer } from '../../../core/types/operations/operation.ts'
import type { ByteSource } from '../../../core/types/ports/ports.ts'
import type { JsonObject } from '../../../core/types/request/canonical.ts'
import { isObject } from '../../dialects/shared/fields.ts'
import { refuseError } from './answers.ts'

/** Only the last part of a stream is searched for its usage. */
const KEPT_BYTES = 64 * 1024

/** Forwards the bytes. A failure in mid-stream ends the stream with an error event when `sse` is true, and without one otherwise. */
export function passedOn({ chunks, cancel }: UpstreamStreamAnswer, sse: boolean, seen?: (chunk: Uint8Array) => void): ByteSource {
  let failure: GatewayError | null = null
  return {
    failure: () => failure,
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
        failure = GatewayError.from(thrown)
        const { message, type, code } = failure
        const error = { type: 'error', error: { message, type, code, param: null } }
        sink.write(encodeUtf8(`event: error\ndata: ${JSON.stringify(error)}\n\n`))
      }
    },
    cancel,
  }
}

/**
 * Waits for the first bytes of a stream: until then another connection may still answer.
 * @throws GatewayError 502 for an empty answer, and for JSON or HTML in place of the stream.
 */
export async function begun(answer: UpstreamStreamAnswer): Promise<UpstreamStreamAnswer> {
  if (/\b(?:json|html)\b/i.test(answer.headers.get('content-type') ?? '')) throw refusalIn(await collected(answer.chunks))
  const iterator = answer.chunks[Symbol.asyncIterator]()
  const first = await iterator.next()
  if (first.done) throw GatewayError.protocol('The upstream sent an empty answer.')
  return { ...answer, chunks: continued(first.value, iterator) }
}

async function* continued(first: Uint8Array, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield first
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value
  } finally {
    await rest.return?.()
  }
}

function refusalIn(bytes: Uint8Array): GatewayError {
  try {
    refuseError((JSON.parse(decodeUtf8(bytes)) as JsonObject).error)
  } catch (error) {
    if (GatewayError.is(error)) return error
  }
  return GatewayError.protocol('The upstream answered with a text in place of the stream.')
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

// Passes an upstream's stream on, or collects it.
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { concatBytes, decodeUtf8 } from '../../../core/text/bytes.ts'
import type { UpstreamAnswer, UpstreamStreamAnswer } from '../../../core/types/operations/operation.ts'
import type { ByteSource } from '../../../core/types/ports/ports.ts'
import type { JsonObject } from '../../../core/types/request/canonical.ts'
import { refuseError, scanned } from './answers.ts'

/** Forwards the bytes. They cannot carry an error: a failure in mid-stream ends the stream. */
export function passedOn({ chunks, cancel }: UpstreamStreamAnswer): ByteSource {
  return {
    async pump(sink) {
      for await (const chunk of chunks) {
        sink.write(chunk)
        const waiting = sink.drained()
        if (waiting !== undefined) await waiting
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

/** Returns the whole answer of a vendor that does not stream it. @throws GatewayError 502 */
export async function wholeOf({ status, headers, chunks }: UpstreamStreamAnswer): Promise<UpstreamAnswer> {
  const bytes = await collected(chunks)
  const answer = { status, headers, bytes }
  return { ...answer, json: () => scanned(answer) }
}

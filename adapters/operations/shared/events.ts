// Passes the events of a stream on, each one whole, and reads them beside it. The data of one event may be a line of megabytes: only
// its two ends are read.
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { createSseSplitter } from '../../../core/stream/sse.ts'
import { decodeUtf8, encodeUtf8 } from '../../../core/text/bytes.ts'
import type { UpstreamStreamAnswer } from '../../../core/types/operations/operation.ts'
import type { ByteSource } from '../../../core/types/ports/ports.ts'
import type { Json } from '../../../core/types/request/canonical.ts'
import type { SseFrame } from '../../../core/types/request/dialect.ts'
import { isObject, loose } from '../../dialects/shared/fields.ts'
import { refuseError } from './answers.ts'

/** Limit of one event: an image is one. */
const MOST_EVENT_BYTES = 64 * 1024 * 1024
/** The members beside an image are at the ends of its line. */
const HEAD_BYTES = 2 * 1024
const TAIL_BYTES = 8 * 1024

/** Events of OpenAI's streams of images, transcriptions and speech, the last one of each, and its error. */
const KNOWN = /"type"\s*:\s*"(?:image_generation|image_edit|transcript\.text|speech\.audio)\./
const LAST = /"type"\s*:\s*"[a-z_.]+\.(?:completed|done)"|^data: ?\[DONE\]/m
const FAILED = /"type"\s*:\s*"error"|^event: ?error\b|^data: ?\{\s*"error"\s*:\s*[{"]/m
const USAGE = /"usage"\s*:\s*(?=\{)/

/** @param seen gets the text of each event, or the two ends of a long one. */
export function passedEvents({ chunks, cancel }: UpstreamStreamAnswer, seen: (text: string) => void): ByteSource {
  let failure: GatewayError | null = null
  let known = false
  let last = false

  const read = (frame: SseFrame): void => {
    const text = endsOf(frame.bytes)
    known ||= KNOWN.test(text)
    last ||= LAST.test(text)
    if (isError(text)) failure = errorIn(frame.data)
    seen(text)
  }

  return {
    failure: () => failure,
    cancel,
    async pump(sink) {
      const splitter = createSseSplitter({ maxEventBytes: MOST_EVENT_BYTES })
      const onFrame = (frame: SseFrame): void => {
        read(frame)
        sink.write(frame.bytes)
      }
      try {
        for await (const chunk of chunks) {
          splitter.push(chunk, onFrame)
          const waiting = sink.drained()
          if (waiting !== undefined) await waiting
        }
        splitter.end((frame) => {
          if (!isWhole(frame.data)) return
          onFrame(frame)
          sink.write(encodeUtf8('\n\n'))
        })
        if (known && !last && failure === null) throw GatewayError.protocol('The upstream ended the stream early.')
      } catch (thrown) {
        failure = GatewayError.from(thrown)
        cancel(failure)
        const { message, type, code } = failure
        const error = { type: 'error', error: { message, type, code, param: null } }
        sink.write(encodeUtf8(`event: error\ndata: ${JSON.stringify(error)}\n\n`))
      }
    },
  }
}

/** Returns whether the vendor reports an error with this event. */
export function isError(text: string): boolean {
  return FAILED.test(text)
}

/** Keeps the last usage of a stream. */
export function usageWatch(): { seen(text: string): void; last(): Json | undefined } {
  let usage: Json | undefined
  return {
    seen(text) {
      usage = usageAt(text) ?? usage
    },
    last: () => usage,
  }
}

/** Returns the object after `"usage":`. No string in it has a brace, so they can be counted. */
export function usageAt(text: string): Json | undefined {
  const found = USAGE.exec(text)
  if (found === null) return undefined
  const start = found.index + found[0].length
  let depth = 0
  for (let at = start; at < text.length; at++) {
    if (text[at] === '{') depth++
    else if (text[at] === '}' && --depth === 0) return parsedOrNothing(text.slice(start, at + 1))
  }
  return undefined
}

function endsOf(bytes: Uint8Array): string {
  if (bytes.length <= HEAD_BYTES + TAIL_BYTES) return decodeUtf8(bytes)
  return `${decodeUtf8(bytes, 0, HEAD_BYTES)}\n${decodeUtf8(bytes, bytes.length - TAIL_BYTES, bytes.length)}`
}

/** An event without its blank line counts when nothing of its data is missing. */
function isWhole(data: string): boolean {
  return data === '[DONE]' || parsedOrNothing(data) !== undefined
}

function errorIn(data: string): GatewayError {
  const json = parsedOrNothing(data)
  try {
    if (isObject(json)) refuseError(json.error ?? loose(json.message))
  } catch (error) {
    return GatewayError.from(error)
  }
  return GatewayError.upstream(502, 'The upstream reported an error.')
}

function parsedOrNothing(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

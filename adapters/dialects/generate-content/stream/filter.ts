// Filters streams on the byte lane: forwards Google's frames unchanged. It rewrites frames that Google's SDK would lose (with a comment
// or `event:`, data over several lines, no blank line at the end), and all frames for array callers.
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import { byteLength } from '../../../../core/text/bytes.ts'
import type { GatewayErrorShape } from '../../../../core/types/error.ts'
import type { Usage } from '../../../../core/types/request/answer.ts'
import type { Json, JsonObject } from '../../../../core/types/request/canonical.ts'
import type { CodecContext, FrameFilter, SseFrame } from '../../../../core/types/request/dialect.ts'
import type { StreamFacts } from '../../../../core/types/request/stream.ts'
import { settleFinish } from '../../shared/finish.ts'
import { errorItem, errorOf, isErrorBody } from '../errors.ts'
import { isObject, listField } from '../fields.ts'
import { finishOf, nativeFinish } from '../finish.ts'
import { usageOf } from '../usage.ts'
import { createFraming } from './framing.ts'

const LF = 10
const CR = 13
/** "data:" */
const DATA = [100, 97, 116, 97, 58]

export function filterStream(codec: CodecContext): FrameFilter {
  // Every chunk carries usage, but only the last one applies, so it is parsed on demand.
  let reported: JsonObject | null = null
  let usage: Usage | null = null
  const facts: StreamFacts = {
    content: false,
    contentBytes: 0,
    terminal: false,
    finish: null,
    error: null,
    get usage() {
      if (reported !== null) usage = usageOf(reported) ?? usage
      reported = null
      return usage
    },
    set usage(value) {
      reported = null
      usage = value
    },
  }
  const framing = createFraming(codec.sse)
  let hasCall = false
  let over = false

  const watch = (item: Json): void => {
    if (isErrorBody(item)) {
      facts.error = errorOf(item, 0, 'stream')
      return
    }
    if (!isObject(item)) {
      facts.error = GatewayError.protocol('The upstream sent a stream item that is not an object.')
      return
    }
    for (const candidate of listField(item.candidates).filter(isObject)) {
      const content = isObject(candidate.content) ? candidate.content : {}
      for (const part of listField(content.parts ?? undefined).filter(isObject)) {
        hasCall ||= part.functionCall !== undefined
        const bytes = contentBytes(part)
        facts.contentBytes += bytes
        facts.content ||= bytes > 0
      }
      const native = nativeFinish(candidate.finishReason)
      if (native !== null) facts.finish = finishOf(native)
    }
    const block = isObject(item.promptFeedback) ? item.promptFeedback.blockReason : undefined
    if (typeof block === 'string' && !block.endsWith('_UNSPECIFIED')) facts.finish ??= 'content_filter'
    facts.terminal = facts.finish !== null
    if (facts.finish !== null) facts.finish = settleFinish(facts.finish, hasCall)
    const counts = item.usageMetadata
    if (isObject(counts) && (counts.totalTokenCount ?? counts.promptTokenCount ?? counts.candidatesTokenCount) !== undefined)
      reported = counts
  }

  return {
    facts,
    frame(frame) {
      if (over || facts.error !== null) return null
      const data = frame.data
      // Comments are dropped: the gateway sends its own heartbeats. [DONE] would make Google's SDK throw.
      if (data === '' || data.trim() === '[DONE]') return null
      try {
        watch(JSON.parse(data) as Json)
      } catch (thrown) {
        facts.error = GatewayError.is(thrown) ? thrown : GatewayError.protocol('The upstream sent a malformed stream item.')
      }
      if (facts.error !== null) return null
      if (codec.sse && isPlain(frame)) return frame.bytes
      // In JSON text, line breaks occur only between tokens.
      return framing.item(data.includes('\n') ? data.replaceAll('\n', ' ') : data)
    },
    end() {
      if (over || facts.error !== null) return ''
      if (facts.terminal) {
        over = true
        return framing.close()
      }
      facts.error = GatewayError.network('reset', 'The upstream closed the stream before it was complete.')
      return ''
    },
    error(error: GatewayErrorShape) {
      if (over) return ''
      over = true
      return framing.item(errorItem(error)) + framing.close()
    },
  }
}

/** Returns the UTF-8 bytes of the model's output in this part; media count as some bytes. */
function contentBytes(part: JsonObject): number {
  if (typeof part.text === 'string') return byteLength(part.text)
  if (isObject(part.functionCall)) {
    const { name, args, partialArgs } = part.functionCall
    if (name === undefined && partialArgs === undefined) return 0
    return Math.max(1, byteLength(JSON.stringify(args ?? partialArgs ?? {})))
  }
  return Object.keys(part).some((key) => key !== 'thoughtSignature' && key !== 'thought') ? 1 : 0
}

/** Returns whether a frame is one data line and ends in a blank line, as Google's SDK splits events. */
function isPlain(frame: SseFrame): boolean {
  const { bytes } = frame
  for (let i = 0; i < DATA.length; i++) if (bytes[i] !== DATA[i]) return false
  const end = bytes.length
  let blank = 2
  if (bytes[end - 1] === LF && bytes[end - 2] === CR) {
    if (bytes[end - 3] !== LF || bytes[end - 4] !== CR) return false
    blank = 4
  } else if (bytes[end - 1] !== bytes[end - 2] || (bytes[end - 1] !== LF && bytes[end - 1] !== CR)) return false
  const lineEnd = end - blank
  const lf = bytes.indexOf(LF)
  const cr = bytes.indexOf(CR)
  return (lf === -1 || lf >= lineEnd) && (cr === -1 || cr >= lineEnd)
}

// Reads the events of an image stream beside its passing on. The data of one event is a line of megabytes: only its two ends are kept.
import { decodeUtf8 } from '../../../core/text/bytes.ts'
import type { Json, JsonObject } from '../../../core/types/request/canonical.ts'

/** The members beside the image are at the ends of the line. */
const HEAD_CHARS = 2 * 1024
const TAIL_CHARS = 8 * 1024
const COMPLETED = /"type"\s*:\s*"image_(?:generation|edit)\.completed"/
const FAILED = /"type"\s*:\s*"error"/
const USAGE = /"usage"\s*:\s*(?=\{)/

export interface ImageEvents {
  seen(chunk: Uint8Array): void
  /** Number of finished images. */
  completed(): number
  /** True: the vendor ended the stream with an error. */
  failed(): boolean
  usage(): Json | undefined
  /** `size` and `quality` of the last finished image. */
  made(): JsonObject
}

export function imageEvents(): ImageEvents {
  let head = ''
  let tail = ''
  let length = 0
  let completed = 0
  let failed = false
  let usage: Json | undefined
  let made: JsonObject = {}
  const lineEnded = (): void => {
    const ends = length <= TAIL_CHARS ? tail : `${head}\n${tail}`
    head = ''
    tail = ''
    length = 0
    if (!ends.startsWith('data:')) return
    if (FAILED.test(ends)) failed = true
    if (!COMPLETED.test(ends)) return
    completed++
    usage = usageAt(ends) ?? usage
    made = { size: textAt(ends, 'size'), quality: textAt(ends, 'quality') }
  }
  return {
    seen(chunk) {
      const lines = decodeUtf8(chunk).split('\n')
      for (const [at, line] of lines.entries()) {
        if (at > 0) lineEnded()
        if (head.length < HEAD_CHARS) head += line.slice(0, HEAD_CHARS - head.length)
        tail = (tail + line).slice(-TAIL_CHARS)
        length += line.length
      }
    },
    completed: () => completed,
    failed: () => failed,
    usage: () => usage,
    made: () => made,
  }
}

/** Returns the object after `"usage":`. It has no strings, so its braces can be counted. */
function usageAt(text: string): Json | undefined {
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

function parsedOrNothing(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

function textAt(text: string, name: string): string {
  return new RegExp(`"${name}"\\s*:\\s*"([a-z0-9]{1,20})"`).exec(text)?.[1] ?? ''
}

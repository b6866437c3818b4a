// Replaces the model's name in an answer on the byte lane: one splice in each frame that carries it. All other bytes stay as they are.
import { findSpan, pathSegments } from '../json/json-path.ts'
import { concatBytes, decodeUtf8, encodeUtf8 } from '../text/bytes.ts'
import type { ModelPlaces, WireBody } from '../types/request/dialect.ts'
import type { RequestState } from './context.ts'
import type { Runtime } from './runtime.ts'

/** Returns the model name that the answer to this caller must carry; null: the answer keeps its own. */
export function answerName(runtime: Runtime, { operation, requestedModel, dialect }: RequestState): string | null {
  return operation === 'chat' && requestedModel !== '' && runtime.answersAsRequested(dialect) ? requestedModel : null
}

export type Rename = (piece: Uint8Array | string) => Uint8Array | string

/** Returns a whole answer with the model renamed. */
export function renamedBody(body: WireBody, { whole: path }: ModelPlaces, name: string): Uint8Array {
  const { bytes } = body
  const span = findSpan(bytes, bytes[0] === BOM ? 3 : 0, pathSegments(path))
  if (span === null || bytes[span.start] !== QUOTE) return bytes
  return concatBytes([bytes.subarray(0, span.start), encodeUtf8(JSON.stringify(name)), bytes.subarray(span.end)])
}

/** Returns a function that renames the model in one stream. Each piece it gets consists of whole frames. */
export function frameRenamer({ frame: path, once }: ModelPlaces, name: string): Rename {
  const segments = pathSegments(path)
  const member = `"${segments.at(-1)}"`
  const value = JSON.stringify(name)
  let done = false
  return (piece) => {
    if (done) return piece
    const text = typeof piece === 'string' ? piece : decodeUtf8(piece)
    if (!text.includes(member)) return piece
    let found = false
    const out = text.split(FRAME_END).map((frame) => {
      const renamed = renamedFrame(frame, segments, value)
      found ||= renamed !== null
      return renamed ?? frame
    })
    if (!found) return piece
    done = once
    return out.join('')
  }
}

const FRAME_END = /(?<=\n\r?\n|\r\r)/
const NEXT_DATA = /(\r\n|\n|\r)data: ?/g

/** Returns null when the frame has no model. */
function renamedFrame(frame: string, segments: readonly string[], value: string): string | null {
  const start = frame.indexOf('{')
  if (start === -1) return null
  // In JSON text, line breaks occur only between tokens.
  const head = frame.slice(0, start)
  const body = encodeUtf8(frame.slice(start).replace(NEXT_DATA, ' '))
  const span = findSpan(body, 0, segments)
  if (span === null || body[span.start] !== QUOTE) return null
  return head + decodeUtf8(body, 0, span.start) + value + decodeUtf8(body, span.end)
}

const QUOTE = 0x22
const BOM = 0xef

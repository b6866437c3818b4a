// Recognises a frame that differs from an earlier frame only in one text. Most frames of a stream do. Parsing each of them took a tenth of
// the time of a chunk (docs/performance.md).
import { byteLength, decodeUtf8 } from '../../../core/text/bytes.ts'
import type { SseFrame } from '../../../core/types/request/dialect.ts'

/**
 * How many frames are remembered without a match before it stops. Some vendors add text of random length to each frame, so their frames
 * never match.
 */
const MOST_TRIES = 3
const PROBE = 'a text'
const QUOTE = 0x22
const BACKSLASH = 0x5c
const SPACE = 0x20
/** A text with one of these has escapes, so its end is not its first quote. */
const ESCAPED = /["\\\p{Cc}]/u

export class RepeatedFrame {
  #frame: Uint8Array | null = null
  /** Bytes before and after the text. */
  #before = 0
  #after = 0
  #tries = 0

  /** Returns the number of bytes of the text, if the rest of the frame equals the remembered frame. -1: the frame must be parsed. */
  textBytes(bytes: Uint8Array): number {
    const frame = this.#frame
    if (frame === null) return -1
    const length = bytes.length - this.#before - this.#after
    if (length < 0) return -1
    const end = bytes.length - this.#after
    for (let at = 0; at < this.#before; at++) if (bytes[at] !== frame[at]) return -1
    for (let at = end, own = frame.length - this.#after; at < bytes.length; at++, own++) if (bytes[at] !== frame[own]) return -1
    for (let at = this.#before; at < end; at++) {
      const byte = bytes[at] as number
      if (byte === QUOTE || byte === BACKSLASH || byte < SPACE) return -1
    }
    this.#tries = 0
    return length
  }

  /**
   * Remembers a frame that was passed on unchanged. It skips a frame whose text has escapes, or whose text it does not find.
   * @param textOf reads the text from parsed data. It is called with another text in that place, to check that the place is right.
   */
  learn({ bytes, data }: SseFrame, text: string, textOf: (data: unknown) => unknown): void {
    if (this.#tries === MOST_TRIES || text === '' || ESCAPED.test(text)) return
    this.#tries++
    const place = data.indexOf(`"${text}"`) + 1
    if (place === 0 || data.includes('\n')) return
    const head = data.slice(0, place)
    const tail = data.slice(place + text.length)
    if (textOf(parsed(head + PROBE + tail)) !== PROBE) return
    const line = decodeUtf8(bytes)
    const from = line.startsWith('data: ') ? 6 : 5
    const end = line.slice(from + data.length)
    if (!line.startsWith('data:') || !line.startsWith(data, from) || !BLANK.has(end)) return
    const before = from + byteLength(head)
    const after = byteLength(tail) + end.length
    if (before + byteLength(text) + after !== bytes.length) return
    this.#frame = bytes.slice()
    this.#before = before
    this.#after = after
  }
}

const BLANK: ReadonlySet<string> = new Set(['\n\n', '\r\n\r\n', '\r\r'])

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

// Splits bytes into SSE events incrementally: LF, CRLF and CR lines, any split, BOM, comments. Frames keep their original bytes, so the
// byte lane forwards what it received. Fields are decoded on first use.
import { GatewayError } from '../errors/gateway-error.ts'
import { checkValues, type ValueLimits } from '../json/json-scan.ts'
import { decodeUtf8 } from '../text/bytes.ts'
import type { SseFrame } from '../types/request/dialect.ts'

const LF = 10
const CR = 13
const COLON = 58
const SPACE = 32

export interface SseLimits {
  /** Limit of the bytes of one event; more is a protocol error. Lines have no limit of their own: an image is one line. */
  maxEventBytes: number
  /** Limits of the JSON in one event, checked when its data is read. */
  values?: ValueLimits
}

export interface SseSplitter {
  push(chunk: Uint8Array, onFrame: (frame: SseFrame) => void): void
  /** Call it at EOF: a last event without its blank line still counts. */
  end(onFrame: (frame: SseFrame) => void): void
}

export const MAX_EVENT_BYTES = 8 << 20
const NOTHING_HELD = new Uint8Array(0)

/** Splits a byte stream into complete events; empty ones (keep-alive blank lines) are removed. */
export function createSseSplitter(limits: SseLimits = { maxEventBytes: MAX_EVENT_BYTES }): SseSplitter {
  return new Splitter(limits)
}

/** A class: a stream would hold each closure and their context. */
class Splitter implements SseSplitter {
  readonly #maxEventBytes: number
  readonly #values: ValueLimits | null
  #held: Uint8Array = NOTHING_HELD
  #length = 0
  #scanned = 0
  #lineStart = 0
  #swallowLf = false
  #first = true
  #owned = false

  constructor(limits: SseLimits) {
    this.#maxEventBytes = limits.maxEventBytes
    this.#values = limits.values ?? null
  }

  push(chunk: Uint8Array, onFrame: (frame: SseFrame) => void): void {
    if (this.#length === 0) {
      this.#held = chunk
      this.#length = chunk.length
      this.#owned = false
      this.#scanned = 0
      this.#lineStart = 0
    } else this.#append(chunk)
    if (this.#first) {
      const held = this.#held
      if (this.#length < 3 && held[0] === 0xef) return
      this.#first = false
      if (held[0] === 0xef && held[1] === 0xbb && held[2] === 0xbf) {
        this.#held = held.subarray(3, this.#length)
        this.#length -= 3
        this.#owned = false
      }
    }
    this.#scan(onFrame, false)
  }

  end(onFrame: (frame: SseFrame) => void): void {
    this.#scan(onFrame, true)
    if (this.#length > 0) onFrame(new Frame(this.#held.subarray(0, this.#length), this.#values))
    this.#length = 0
    this.#scanned = 0
    this.#lineStart = 0
  }

  #scan(onFrame: (frame: SseFrame) => void, eof: boolean): void {
    const bytes = this.#held
    const end = this.#length
    const values = this.#values
    let lineStart = this.#lineStart
    let swallowLf = this.#swallowLf
    let frameStart = 0
    let at = this.#scanned
    while (at < end) {
      const byte = bytes[at] as number
      if (swallowLf) {
        swallowLf = false
        if (byte === LF) {
          if (lineStart === at) lineStart = at + 1
          if (frameStart === at) frameStart = at + 1
          at++
          continue
        }
      }
      if (byte !== LF && byte !== CR) {
        at = nextBreak(bytes, at, end)
        continue
      }
      const blank = lineStart === at
      if (byte === CR && at + 1 === end && !eof && blank && at - 2 >= frameStart && bytes[at - 1] === LF && bytes[at - 2] === CR)
        break
      let next = at + 1
      if (byte === CR) {
        if (next < end) {
          if (bytes[next] === LF) next++
        } else swallowLf = true
      }
      if (blank) {
        if (at > frameStart) onFrame(new Frame(bytes.subarray(frameStart, next), values))
        frameStart = next
      }
      lineStart = next
      at = next
    }
    if (frameStart > 0) {
      // Without a rest, do not hold the memory of the read until the next one.
      this.#held = frameStart === end ? NOTHING_HELD : bytes.subarray(frameStart, end)
      this.#length = end - frameStart
      lineStart -= frameStart
      at -= frameStart
      this.#owned = false
    }
    this.#lineStart = lineStart
    this.#swallowLf = swallowLf
    this.#scanned = at
    if (this.#length > this.#maxEventBytes) throw GatewayError.protocol('The upstream sent a stream event larger than the limit.')
  }

  // The buffer doubles: a frame that arrives in one-byte reads costs linear copying, not quadratic.
  #append(chunk: Uint8Array): void {
    const needed = this.#length + chunk.length
    if (!this.#owned || needed > this.#held.length) {
      const grown = new Uint8Array(Math.max(needed * 2, 1024))
      grown.set(this.#held.subarray(0, this.#length))
      this.#held = grown
      this.#owned = true
    }
    this.#held.set(chunk, this.#length)
    this.#length = needed
  }
}

function nextBreak(bytes: Uint8Array, from: number, end: number): number {
  for (let at = from + 1; at < end; at++) {
    const byte = bytes[at]
    if (byte === LF || byte === CR) return at
  }
  return end
}

class Frame implements SseFrame {
  readonly bytes: Uint8Array
  #event: string | null | undefined
  #data: string | undefined

  readonly #values: ValueLimits | null

  constructor(bytes: Uint8Array, values: ValueLimits | null) {
    this.bytes = bytes
    this.#values = values
  }

  get event(): string | null {
    if (this.#event === undefined) this.#read()
    return this.#event as string | null
  }

  get data(): string {
    if (this.#data === undefined) this.#read()
    return this.#data as string
  }

  #read(): void {
    let event: string | null = null
    let data: string | null = null
    const { bytes } = this
    let start = 0
    while (start < bytes.length) {
      let stop = start
      while (stop < bytes.length && bytes[stop] !== LF && bytes[stop] !== CR) stop++
      const colon = bytes.indexOf(COLON, start)
      const nameEnd = colon === -1 || colon > stop ? stop : colon
      const kind = fieldOf(bytes, start, nameEnd)
      if (kind !== null) {
        let from = Math.min(nameEnd + 1, stop)
        if (bytes[from] === SPACE && from < stop) from++
        const value = decodeUtf8(bytes, from, stop)
        if (kind === 'event') event = value
        else data = data === null ? value : `${data}\n${value}`
      }
      start = stop + 1
      if (bytes[stop] === CR && bytes[start] === LF) start++
    }
    this.#event = event
    this.#data = data ?? ''
    if (this.#values !== null) checkValues(this.#data, this.#values)
  }
}

function fieldOf(bytes: Uint8Array, start: number, end: number): 'data' | 'event' | null {
  if (end - start === 4 && bytes[start] === 100 && bytes[start + 1] === 97 && bytes[start + 2] === 116 && bytes[start + 3] === 97)
    return 'data'
  if (end - start === 5 && decodeUtf8(bytes, start, end) === 'event') return 'event'
  return null
}

/** Makes a frame from text, for tests and for JSON answers that are replayed as a stream. */
export function sseFrame(text: string): SseFrame {
  return new Frame(new TextEncoder().encode(text), null)
}

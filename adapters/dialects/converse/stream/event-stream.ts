// Splits `application/vnd.amazon.eventstream`: length-prefixed messages with headers, a payload and two checksums. Chunks are split
// anywhere.
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import { decodeUtf8 } from '../../../../core/text/bytes.ts'
import { crc32 } from './crc32.ts'

export interface EventMessage {
  /** String headers by name, such as `:event-type`. */
  readonly headers: ReadonlyMap<string, string>
  readonly payload: Uint8Array
}

/** Total length, length of the headers, checksum of both. */
const PRELUDE = 12
const CRC = 4
/** The service's own limit is 16 MiB of payload and 128 KiB of headers. */
const MAX_MESSAGE = 24 << 20
const MAX_HEADERS = 128 << 10

export class EventStreamSplitter {
  #held: Uint8Array = new Uint8Array(0)
  #length = 0

  /** Returns the messages that are complete. @throws GatewayError.protocol for a wrong checksum or length. */
  push(bytes: Uint8Array): EventMessage[] {
    this.#keep(bytes)
    const found: EventMessage[] = []
    let at = 0
    for (;;) {
      const message = this.#messageAt(at)
      if (message === null) break
      found.push(message.read)
      at += message.size
    }
    if (at > 0) {
      this.#held.copyWithin(0, at, this.#length)
      this.#length -= at
    }
    return found
  }

  /** True when bytes of an incomplete message are left. */
  get pending(): boolean {
    return this.#length > 0
  }

  /** The buffer doubles, so that a large message is not copied with each of its chunks. */
  #keep(bytes: Uint8Array): void {
    const needed = this.#length + bytes.length
    if (needed > this.#held.length) {
      const grown = new Uint8Array(Math.max(needed, this.#held.length * 2))
      grown.set(this.#held.subarray(0, this.#length))
      this.#held = grown
    }
    this.#held.set(bytes, this.#length)
    this.#length = needed
  }

  #messageAt(at: number): { read: EventMessage; size: number } | null {
    if (this.#length - at < PRELUDE) return null
    const view = new DataView(this.#held.buffer, this.#held.byteOffset + at, this.#length - at)
    const [size, headersSize] = [view.getUint32(0), view.getUint32(4)]
    if (view.getUint32(8) !== crc32(this.#held.subarray(at, at + 8))) throw broken('a wrong checksum of its prelude')
    if (size > MAX_MESSAGE || headersSize > MAX_HEADERS || size < PRELUDE + headersSize + CRC)
      throw broken('an impossible length')
    if (view.byteLength < size) return null
    if (view.getUint32(size - CRC) !== crc32(this.#held.subarray(at, at + size - CRC))) throw broken('a wrong checksum')
    const headers = headersIn(this.#held.subarray(at + PRELUDE, at + PRELUDE + headersSize))
    // Copied: the buffer is used again.
    const payload = this.#held.slice(at + PRELUDE + headersSize, at + size - CRC)
    return { read: { headers, payload }, size }
  }
}

/** Bytes of a value by its type; the types 6 and 7 have a length of their own. */
const FIXED: Readonly<Record<number, number>> = { 0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16 }

function headersIn(bytes: Uint8Array): Map<string, string> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const headers = new Map<string, string>()
  try {
    for (let at = 0; at < bytes.length; ) {
      const nameEnd = at + 1 + view.getUint8(at)
      const name = decodeUtf8(bytes.subarray(at + 1, nameEnd))
      const type = view.getUint8(nameEnd)
      const fixed = FIXED[type]
      if (fixed === undefined && type !== 6 && type !== 7) throw broken('a header of an unknown type')
      const start = nameEnd + (fixed === undefined ? 3 : 1)
      const end = start + (fixed ?? view.getUint16(nameEnd + 1))
      if (end > bytes.length) throw broken('a header that is cut off')
      if (type === 7) headers.set(name, decodeUtf8(bytes.subarray(start, end)))
      at = end
    }
  } catch (error) {
    throw GatewayError.is(error) ? error : broken('headers that cannot be read')
  }
  return headers
}

function broken(what: string): GatewayError {
  return GatewayError.protocol(`The upstream sent an event-stream message with ${what}.`)
}

// Removes an unrequested `100 Continue`. A client must ignore it (RFC 9110 15.2), but undici closes the connection. So it is cut from the
// socket's data before undici's parser sees it.
import type { Readable } from 'node:stream'

/** A longer head is passed to the parser. */
const MAX_HEAD = 16 * 1024
const START = Buffer.from('HTTP/1.1 100')
const MINOR_VERSION = 7
const BLANK_LINE = '\r\n\r\n'

export interface ContinueSkipper {
  /** Call it when a request has been written: the next bytes are the start of its answer. */
  answerDue(): void
}

export function skipUnaskedContinue(socket: Readable): ContinueSkipper {
  const skipping = new Skipping(socket)
  const own = socket as Skipped
  own[SKIPPING] = skipping
  own.read = readSkipping
  return skipping
}

const SKIPPING = Symbol('skipping')

interface Skipped extends Readable {
  [SKIPPING]: Skipping
}

/** All sockets share it: a closure for each of them would take memory as long as its stream is open. */
function readSkipping(this: Skipped, size?: number): Buffer | null {
  return this[SKIPPING].read(size)
}

class Skipping implements ContinueSkipper {
  readonly #socket: Readable
  readonly #read: (size?: number) => Buffer | null
  #due = false
  #held: Buffer | null = null

  constructor(socket: Readable) {
    this.#socket = socket
    this.#read = socket.read
  }

  answerDue(): void {
    this.#due = true
  }

  read(size?: number): Buffer | null {
    let chunk = this.#read.call(this.#socket, size)
    if (!this.#due) return chunk
    while (chunk !== null) {
      const held = this.#held
      const bytes: Buffer = held === null ? chunk : Buffer.concat([held, chunk])
      this.#held = null
      const end = continueEnd(bytes)
      if (end === 0) {
        this.#due = false
        return bytes
      }
      if (end > 0 && end < bytes.length) {
        chunk = bytes.subarray(end)
        continue
      }
      if (end < 0) this.#held = bytes
      chunk = this.#read.call(this.#socket, size)
    }
    return null
  }
}

/** Returns the offset of the answer after a `100`; 0: these bytes are not a `100`; -1: more bytes are needed. */
function continueEnd(bytes: Buffer): number {
  const known = Math.min(bytes.length, START.length)
  for (let at = 0; at < known; at++) if (at !== MINOR_VERSION && bytes[at] !== START[at]) return 0
  const blank = known < START.length ? -1 : bytes.indexOf(BLANK_LINE, START.length)
  if (blank !== -1) return blank + BLANK_LINE.length
  return bytes.length > MAX_HEAD ? 0 : -1
}

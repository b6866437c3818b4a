// Removes an unrequested `100 Continue`. A client must ignore it (RFC 9110 15.2), but undici closes the connection. So it is cut from the
// socket's data before undici's parser sees it.
import type { Readable } from 'node:stream'

/** A longer head is passed to the parser. */
const MAX_HEAD = 16 * 1024
const START = Buffer.from('HTTP/1.1 100')
const MINOR_VERSION = 7
const BLANK_LINE = '\r\n\r\n'

/** Returns a function to call when a request has been written: the next bytes are the start of its answer. */
export function skipUnaskedContinue(socket: Readable): () => void {
  const read = socket.read as (size?: number) => Buffer | null
  let due = false
  let held: Buffer | null = null
  socket.read = (size?: number): Buffer | null => {
    let chunk = read.call(socket, size)
    if (!due) return chunk
    while (chunk !== null) {
      const bytes: Buffer = held === null ? chunk : Buffer.concat([held, chunk])
      held = null
      const end = continueEnd(bytes)
      if (end === 0) {
        due = false
        return bytes
      }
      if (end > 0 && end < bytes.length) {
        chunk = bytes.subarray(end)
        continue
      }
      if (end < 0) held = bytes
      chunk = read.call(socket, size)
    }
    return null
  }
  return () => {
    due = true
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

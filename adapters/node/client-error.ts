// A connection whose bytes are no request gets one answer and is closed. Ending it is not enough: a client that never
// ends its own side would keep the descriptor for ever.
import type { Duplex } from 'node:stream'
import type { Clock } from '../../core/types/ports.ts'

/** For the client to read the answer: closing at once, with unread bytes behind the error, would take it away. */
const GRACE_MS = 1000

export function clientErrorHandler(clock: Clock): (error: NodeJS.ErrnoException, socket: Duplex) => void {
  const ending = new WeakSet<Duplex>()
  return (error, socket) => {
    // More bytes behind the first bad one are an error again.
    if (ending.has(socket)) return
    if (error.code === 'ECONNRESET' || socket.destroyed) return void socket.destroy()
    ending.add(socket)
    if (socket.writable)
      socket.end(
        `HTTP/1.1 ${error.code === 'HPE_HEADER_OVERFLOW' ? '431 Request Header Fields Too Large' : '400 Bad Request'}\r\nconnection: close\r\n\r\n`,
      )
    const grace = clock.timer(GRACE_MS, () => socket.destroy(), true)
    socket.once('close', () => grace.cancel())
  }
}

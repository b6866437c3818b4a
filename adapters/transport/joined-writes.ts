// Joins a request's head and its small body to one write. undici writes them as two pieces, which Node gathers in C++: that costs more
// than the system call.
import type { Socket } from 'node:net'

/** A larger body is not copied. */
const COPIED = 8192

type Write = (chunk: unknown, encoding?: unknown, callback?: unknown) => boolean

export function joinWrites(socket: Socket): void {
  const write = socket.write as Write
  const { uncork } = socket
  /** A head that waits for the next piece. undici corks the socket around both. */
  let head: string | null = null
  socket.write = (chunk: unknown, encoding?: unknown, callback?: unknown): boolean => {
    if (head !== null) {
      const first = head
      head = null
      if (chunk instanceof Buffer && chunk.length <= COPIED && callback === undefined)
        return write.call(socket, first + chunk.toString('latin1'), 'latin1')
      write.call(socket, first, 'latin1')
    } else if (typeof chunk === 'string' && encoding === 'latin1' && callback === undefined && socket.writableCorked > 0) {
      head = chunk
      return !socket.writableNeedDrain
    }
    return write.call(socket, chunk, encoding, callback)
  }
  socket.uncork = (): void => {
    if (head !== null) {
      const first = head
      head = null
      write.call(socket, first, 'latin1')
    }
    uncork.call(socket)
  }
}

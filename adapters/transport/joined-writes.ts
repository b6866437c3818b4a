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
  /** A whole request. It leaves after the cork, because the buffer of a corked socket costs more than a direct write. */
  let joined: string | null = null
  const writeHeld = (): void => {
    const text = head ?? joined
    head = null
    joined = null
    if (text !== null) write.call(socket, text, 'latin1')
  }
  socket.write = (chunk: unknown, encoding?: unknown, callback?: unknown): boolean => {
    if (head !== null && chunk instanceof Buffer && chunk.length <= COPIED && callback === undefined) {
      joined = head + chunk.toString('latin1')
      head = null
      return !socket.writableNeedDrain
    }
    const isFirst = head === null && joined === null
    writeHeld()
    if (isFirst && typeof chunk === 'string' && encoding === 'latin1' && callback === undefined && socket.writableCorked > 0) {
      head = chunk
      return !socket.writableNeedDrain
    }
    return write.call(socket, chunk, encoding, callback)
  }
  socket.uncork = (): void => {
    if (head !== null) writeHeld()
    uncork.call(socket)
    writeHeld()
  }
}

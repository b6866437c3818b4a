// Copies the pieces of a write to one buffer, which is used again when the socket has taken its bytes. Node gathers texts and bytes in C++,
// which costs more than the system call.
import type { Socket } from 'node:net'

type Done = (error?: Error | null) => void

/** A piece as streams hand it to `_writev`. */
export interface Piece {
  readonly chunk: string | Uint8Array
  readonly encoding: BufferEncoding
}

/** Bytes of all pieces together. */
const MOST = 32 * 1024

/** Null: a socket still holds the last one. */
let buffer: Buffer | null = null

/** Returns false when the pieces are too long; then nothing was written. */
export function writeGathered(socket: Socket, write: Socket['_write'], pieces: readonly Piece[], done: Done): boolean {
  let most = 0
  for (const { chunk, encoding } of pieces)
    most += typeof chunk === 'string' && encoding !== 'latin1' ? 3 * chunk.length : chunk.length
  if (most > MOST) return false
  buffer ??= Buffer.allocUnsafeSlow(MOST)
  const into = buffer
  let at = 0
  for (const { chunk, encoding } of pieces) {
    if (typeof chunk === 'string') at += into.write(chunk, at, encoding)
    else {
      into.set(chunk, at)
      at += chunk.length
    }
  }
  let isTaken = false
  write.call(socket, into.subarray(0, at), 'buffer' as BufferEncoding, (error) => {
    isTaken = true
    done(error)
  })
  if (!isTaken) buffer = null
  return true
}

// Hands bytes of a plain socket to undici's parser in the turn in which they came. Node allocates 64 KB for each read, and tells a stream's
// reader in a later step: that is an eighth of the cost of a chunk.
import type { Socket } from 'node:net'
import type { buildConnector as Connector } from 'undici/index.js'
import { buildConnector } from './undici-parts.ts'

/** Node reads as many at once. */
const READ_BYTES = 64 * 1024

/** The system fills it during a read, and the callback copies it at once. On Windows a read fills it later, so sockets cannot share it. */
let shared: Buffer | null = null

/** Returns a connector for `http:` origins. TLS has buffers of its own. */
export function directReads(options: Connector.BuildOptions): Connector.connector {
  if (process.platform === 'win32') return buildConnector(options)
  return (target, callback) => {
    shared ??= Buffer.allocUnsafeSlow(READ_BYTES)
    let take: (bytes: Buffer) => boolean
    const onread = {
      buffer: shared,
      callback: (length: number, bytes: Uint8Array): boolean => take(Buffer.from(bytes.subarray(0, length))),
    }
    // A connector keeps its options for all its sockets, and these name one socket.
    const connect = buildConnector({ ...options, onread } as Connector.BuildOptions) as (...args: unknown[]) => Socket
    take = directly(connect(target, callback))
  }
}

/** Returns a function that takes bytes; it returns false when the socket should stop reading. */
function directly(socket: Socket): (bytes: Buffer) => boolean {
  const read = socket.read as (size?: number) => Buffer | null
  let came: Buffer | null = null
  socket.read = (size?: number): Buffer | null => {
    if (came === null) return read.call(socket, size)
    const bytes = came
    came = null
    return bytes
  }
  return (bytes) => {
    // Bytes that wait in the stream come first.
    if (socket.readableLength > 0) return socket.push(bytes)
    came = bytes
    socket.emit('readable')
    if (came === null) return true
    // The reader is paused or gone.
    came = null
    return socket.push(bytes)
  }
}

// Hands bytes of a plain socket to undici's parser in the turn in which they came. Node allocates 64 KB for each read, and tells a stream's
// reader in a later step.
import { Socket } from 'node:net'
import type { buildConnector as Connector } from 'undici/index.js'
import { buildConnector } from './undici-parts.ts'

/** Node reads as many at once. */
const READ_BYTES = 64 * 1024

/** The system fills it during a read, and the callback copies it at once. On Windows a read fills it later, so sockets cannot share it. */
let shared: Buffer | null = null

/** Returns a connector for `http:` origins. TLS has buffers of its own. */
export function directReads(options: Connector.BuildOptions): Connector.connector {
  if (process.platform === 'win32') return buildConnector(options)
  shared ??= Buffer.allocUnsafeSlow(READ_BYTES)
  let last = new DirectReader()
  const onread = {
    buffer: shared,
    /** A socket reads it when it is made, so each one has its own. */
    get callback() {
      last = new DirectReader()
      return last.take
    },
  }
  const connect = buildConnector({ ...options, onread } as Connector.BuildOptions) as (...args: unknown[]) => unknown
  return (target, callback) => {
    const socket = connect(target, callback)
    if (socket instanceof Socket) last.serve(socket)
    return socket as never
  }
}

class DirectReader {
  #socket: Socket | null = null
  #read: (size?: number) => Buffer | null = () => null
  #came: Buffer | null = null

  serve(socket: Socket): void {
    this.#socket = socket
    this.#read = socket.read
    const own = socket as Served
    own[READER] = this
    own.read = readDirectly
  }

  read(size?: number): Buffer | null {
    const came = this.#came
    if (came === null) return this.#read.call(this.#socket, size)
    this.#came = null
    return came
  }

  /** Returns false when the socket should stop reading. */
  readonly take = (length: number, bytes: Uint8Array): boolean => {
    const socket = this.#socket as Socket
    const copy = Buffer.from(bytes.subarray(0, length))
    // Bytes that wait in the stream come first.
    if (socket.readableLength > 0) return socket.push(copy)
    this.#came = copy
    socket.emit('readable')
    if (this.#came === null) return true
    // The reader is paused or gone.
    this.#came = null
    return socket.push(copy)
  }
}

const READER = Symbol('reader')

interface Served extends Socket {
  [READER]: DirectReader
}

/** All sockets share it: a closure for each of them would take memory as long as its stream is open. */
function readDirectly(this: Served, size?: number): Buffer | null {
  return this[READER].read(size)
}

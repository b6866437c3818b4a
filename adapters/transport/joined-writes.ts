// Joins a request's head and its small body to one write. undici writes them as two pieces, which Node gathers in C++: that costs more
// than the system call.
import type { Socket } from 'node:net'

/** A larger body is not copied. */
const COPIED = 8192

type Write = (chunk: unknown, encoding?: unknown, callback?: unknown) => boolean

/** `beforeHead` is called before each text is written: undici writes only a request's head as text. */
export function joinWrites(socket: Socket, beforeHead: (socket: Socket) => void = () => {}): void {
  const own = socket as Joined
  own[JOINED] = new JoinedWrites(socket, beforeHead)
  own.write = writeJoined as Socket['write']
  own.uncork = uncorkJoined
}

const JOINED = Symbol('joined')

interface Joined extends Socket {
  [JOINED]: JoinedWrites
}

// All sockets share these functions: closures for each of them would take memory as long as its stream is open.
function writeJoined(this: Joined, chunk: unknown, encoding?: unknown, callback?: unknown): boolean {
  return this[JOINED].write(chunk, encoding, callback)
}

function uncorkJoined(this: Joined): void {
  this[JOINED].uncork()
}

class JoinedWrites {
  readonly #socket: Socket
  readonly #beforeHead: (socket: Socket) => void
  readonly #write: Write
  readonly #uncork: () => void
  /** A head that waits for the next piece. undici corks the socket around both. */
  #head: string | null = null
  /** A whole request. It leaves after the cork, because the buffer of a corked socket costs more than a direct write. */
  #joined: string | null = null

  constructor(socket: Socket, beforeHead: (socket: Socket) => void) {
    this.#socket = socket
    this.#beforeHead = beforeHead
    this.#write = socket.write as Write
    this.#uncork = socket.uncork
  }

  write(chunk: unknown, encoding: unknown, callback: unknown): boolean {
    const socket = this.#socket
    const head = this.#head
    if (typeof chunk === 'string') this.#beforeHead(socket)
    if (head !== null && chunk instanceof Buffer && chunk.length <= COPIED && callback === undefined) {
      this.#joined = head + chunk.toString('latin1')
      this.#head = null
      return !socket.writableNeedDrain
    }
    const isFirst = head === null && this.#joined === null
    this.#writeHeld()
    if (isFirst && typeof chunk === 'string' && encoding === 'latin1' && callback === undefined && socket.writableCorked > 0) {
      this.#head = chunk
      return !socket.writableNeedDrain
    }
    return this.#write.call(socket, chunk, encoding, callback)
  }

  uncork(): void {
    if (this.#head !== null) this.#writeHeld()
    this.#uncork.call(this.#socket)
    this.#writeHeld()
  }

  #writeHeld(): void {
    const text = this.#head ?? this.#joined
    this.#head = null
    this.#joined = null
    if (text !== null) this.#write.call(this.#socket, text, 'latin1')
  }
}

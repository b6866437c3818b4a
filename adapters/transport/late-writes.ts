// Lets a socket write at the end of a turn of the event loop. The writes of one turn then leave one after the other. That wakes a peer once
// for many writes, and the processor's caches hold the code of a write (docs/decisions/46-stages-of-a-turn.md).
import { Socket } from 'node:net'
import { type Piece, writeGathered } from './gathered-writes.ts'

type Done = (error?: Error | null) => void

/** A turn that takes longer does not keep its writes until its end, ms. Each doubling of their number looks at the clock. */
const WAIT_MS = 5

let waiting: LateWrite[] = []
let since = 0
/** True while a late write leaves: the pieces that the socket buffered behind it follow at once. */
let leaving = false

export interface LateSocket {
  /** True: the last write has not left, and no byte of it has been sent. */
  readonly holds: boolean
}

export interface LateOptions {
  /** True: an error that ends the connection leaves its last write unsent, so that it can be sent on another one. Default false. */
  keepsUnsent?: boolean
}

/**
 * Call it once for each socket, and only for sockets of the gateway itself: the callback of a write runs outside the asynchronous context
 * of that write.
 */
export function writeLate(socket: Socket, { keepsUnsent = false }: LateOptions = {}): LateSocket {
  const late = new LateWrite(socket, keepsUnsent)
  const own = socket as Late
  own[LATE] = late
  own._write = writeOne
  own._writev = writeMany
  own._destroy = destroyWritten
  return late
}

const LATE = Symbol('late')

interface Late extends Socket {
  [LATE]: LateWrite
}

// All sockets share these functions: closures for each of them would take memory as long as its stream is open.
function writeOne(this: Late, chunk: unknown, encoding: BufferEncoding, done: Done): void {
  this[LATE].take(chunk, encoding, done)
}

function writeMany(this: Late, chunks: unknown, done: Done): void {
  this[LATE].take(chunks, null, done)
}

/** Bytes that were written before the end of a connection are sent. */
function destroyWritten(this: Late, error: Error | null, done: Done): void {
  this[LATE].destroy(error, done)
}

function wait(write: LateWrite): void {
  const count = waiting.push(write)
  if (count === 1) {
    since = performance.now()
    setImmediate(leaveAll)
  } else if ((count & (count - 1)) === 0 && performance.now() - since > WAIT_MS) leaveAll()
}

function leaveAll(): void {
  const writes = waiting
  waiting = []
  let next = 0
  try {
    while (next < writes.length) (writes[next++] as LateWrite).leave()
  } finally {
    // A listener of a socket threw. The other sockets write all the same.
    for (; next < writes.length; next++) wait(writes[next] as LateWrite)
  }
}

/** A stream has at most one write that its socket has not taken. */
class LateWrite implements LateSocket {
  readonly #socket: Socket
  readonly #write: Socket['_write']
  readonly #writev: NonNullable<Socket['_writev']>
  readonly #destroy: Socket['_destroy']
  readonly #keepsUnsent: boolean
  /** True: the socket keeps no bytes that it has taken. Another stream may. */
  readonly #gathers: boolean
  #chunk: unknown
  #encoding: BufferEncoding | null = null
  #done: Done | null = null

  constructor(socket: Socket, keepsUnsent: boolean) {
    const { _write, _writev, _destroy } = socket
    this.#socket = socket
    this.#keepsUnsent = keepsUnsent
    this.#gathers = _write === Socket.prototype._write
    this.#write = _write
    this.#writev = _writev as NonNullable<Socket['_writev']>
    this.#destroy = _destroy
  }

  get holds(): boolean {
    return this.#done !== null
  }

  leave(): void {
    if (this.#keepsUnsent && this.#socket.errored !== null) return
    const done = this.#done
    if (done === null) return
    const chunk = this.#chunk
    this.#done = null
    this.#chunk = undefined
    leaving = true
    try {
      this.#pass(chunk, this.#encoding, done)
    } finally {
      leaving = false
    }
  }

  destroy(error: Error | null, done: Done): void {
    this.leave()
    this.#destroy.call(this.#socket, error, done)
  }

  take(chunk: unknown, encoding: BufferEncoding | null, done: Done): void {
    // Node ends an answer with an empty piece while the answer's bytes are waiting. It would be a system call.
    if (encoding !== null && (chunk as string | Uint8Array).length === 0) return done()
    if (leaving) return this.#pass(chunk, encoding, done)
    this.#chunk = chunk
    this.#encoding = encoding
    this.#done = done
    wait(this)
  }

  /** @param encoding null: a list of chunks. */
  #pass(chunk: unknown, encoding: BufferEncoding | null, done: Done): void {
    if (encoding !== null) this.#write.call(this.#socket, chunk, encoding, done)
    else if (!this.#gathers || !writeGathered(this.#socket, this.#write, chunk as readonly Piece[], done))
      this.#writev.call(this.#socket, chunk as never, done)
  }
}

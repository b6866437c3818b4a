// Turns a response of node:http into a Sink. Small pieces leave as one text in one write: for a head, a body and the framing of chunks as
// separate pieces, Node gathers the pieces of each write in C++, which costs more than the system call.
import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Writable } from 'node:stream'
import type { Sink } from '../../../core/types/ports/ports.ts'
import { storeHead } from './head-text.ts'

/** Bytes of a body that node:http may read and drop after a refusal, to keep the connection for the next request. */
const DROPPED_BODY = 65_536

/**
 * A refusal that closes the connection makes the caller dial again, and a busy process accepts few new connections. Under overload the
 * refused callers would then wait longer than the accepted ones.
 */
function hasShortBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) <= DROPPED_BODY
}

const { writeHead: WRITE_HEAD, write: WRITE, end: END } = ServerResponse.prototype

const SINK = Symbol('sink')

interface Answering extends ServerResponse {
  [SINK]: NodeSink
}

/** One function for all answers: a stream would hold its own. */
function onClose(this: ServerResponse): void {
  ;(this as Answering)[SINK].closed()
}

/** Where the text of a head was. */
const SENT = 'sent'

interface SentHead {
  _header?: string | null
  readonly _headerSent?: boolean
}

/** A larger piece is not copied: the socket gets it beside its frame. Node copies texts up to 16 KiB with their head on the stack. */
const COPIED = 15 * 1024
/** A body of as many bytes stays as it is: to make a text of it costs more than a second piece. */
const AS_BYTES = 1024

/** A Sink over ServerResponse. `end` without `write` is sent in one segment with a content-length. */
export class NodeSink implements Sink {
  readonly #res: ServerResponse
  readonly #req: IncomingMessage
  /** The head waits for the first byte: only then it is known whether the length is known. */
  #head: { status: number; headers: readonly string[] } | null = null
  #ended = false
  #gone = false
  #leave: (() => void) | null = null
  #drain: Promise<void> | null = null

  constructor(req: IncomingMessage, res: ServerResponse) {
    this.#req = req
    this.#res = res
    const own = res as Answering
    own[SINK] = this
    res.on('close', onClose)
  }

  get gone(): boolean {
    return this.#gone
  }

  head(status: number, headers: readonly string[]): void {
    this.#head = { status, headers }
  }

  write(chunk: Uint8Array | string): boolean {
    if (this.#gone) return true
    const res = this.#res
    const socket = this.#head === null ? chunkedSocket(res) : null
    if (socket === null || chunk.length > COPIED || chunk.length === 0) {
      const accepted = this.#head === null ? res.write(chunk) : this.#firstWrite(res, chunk)
      if (accepted) return true
      this.#drain ??= this.#untilDrained(res)
      return false
    }
    const length = byteLength(chunk)
    const frame = `${length.toString(16)}\r\n${plainText(chunk, length)}\r\n`
    if (socket.write(frame, encodingOf(chunk, length))) return true
    this.#drain ??= this.#untilDrained(socket)
    return false
  }

  /**
   * Node keeps the text of a head until the answer ends, and later asks only whether there is one.
   */
  #firstWrite(res: ServerResponse, chunk: Uint8Array | string): boolean {
    const { socket } = res
    // A middleware may hold the head back.
    const isPlain = socket !== null && res.writeHead === WRITE_HEAD && res.write === WRITE
    this.#sendHead(null)
    if (!isPlain) return res.write(chunk)
    socket.cork()
    res.flushHeaders()
    const accepted = res.write(chunk)
    socket.uncork()
    const sent = res as SentHead
    if (sent._headerSent) sent._header = SENT
    return accepted
  }

  drained(): Promise<void> | undefined {
    return this.#gone ? undefined : (this.#drain ?? undefined)
  }

  /** The wait begins with the write that filled the buffer: a middleware has its own buffer, which the response does not know. */
  #untilDrained(full: Writable): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        this.#drain = null
        full.removeListener('drain', done)
        this.#res.removeListener('close', done)
        resolve()
      }
      full.on('drain', done)
      this.#res.on('close', done)
    })
  }

  end(chunk?: Uint8Array | string): void {
    if (this.#ended) return
    this.#ended = true
    if (this.#gone) return
    if (chunk === undefined || chunk.length === 0) {
      this.#sendHead(0)
      this.#res.end()
      return
    }
    const length = byteLength(chunk)
    const whole = this.#head !== null
    this.#sendHead(length)
    const res = this.#res
    const { socket } = res
    if (!whole || socket === null || length > COPIED || res.write !== WRITE || res.end !== END) {
      res.end(chunk)
      return
    }
    // res.end(chunk) adds an empty piece, and Node then gathers both.
    socket.cork()
    if (typeof chunk !== 'string' && length >= AS_BYTES) res.write(chunk)
    else res.write(plainText(chunk, length), encodingOf(chunk, length))
    socket.uncork()
    res.end()
  }

  /**
   * Ends the exchange. When it was aborted, there is no orderly end, so the connection is closed. The response does not show whether
   * there was an end: a middleware may end it later.
   */
  release(): void {
    if (!this.#ended && !this.#gone) this.#res.destroy()
  }

  onGone(fn: () => void): void {
    this.#leave = fn
    if (this.#gone) fn()
  }

  #sendHead(length: number | null): void {
    if (this.#head === null) return
    const { status, headers } = this.#head
    this.#head = null
    const list =
      length === null || status === 204 || status === 304 ? [...headers] : [...headers, 'content-length', String(length)]
    // A body that came too slowly keeps coming slowly, and would hold the connection.
    const { complete } = this.#req
    if (!complete && (status === 408 || !hasShortBody(this.#req))) list.push('connection', 'close')
    if (this.#res.writeHead === WRITE_HEAD) {
      if (!complete || !storeHead(this.#res, status, list)) this.#res.writeHead(status, list)
    } else this.#setHead(status, list)
  }

  /** For a middleware that replaced `writeHead`: some of them do not support a flat list. */
  #setHead(status: number, list: readonly string[]): void {
    const seen = new Set<string>()
    for (let i = 0; i < list.length; i += 2) {
      const name = list[i] as string
      if (seen.has(name)) this.#res.appendHeader(name, list[i + 1] as string)
      else this.#res.setHeader(name, list[i + 1] as string)
      seen.add(name)
    }
    this.#res.writeHead(status)
  }

  closed(): void {
    if (this.#ended || this.#gone) return
    this.#gone = true
    this.#leave?.()
  }
}

/**
 * Returns the socket for a piece of a chunked answer whose head has been sent. Null: Node's own write frames the piece. That is the case
 * before the turn of a pipelined request, for HTTP/1.0 and HTTP/2, and behind a middleware.
 */
function chunkedSocket(res: ServerResponse): Socket | null {
  const { socket } = res
  const plain = res.write === WRITE && res.chunkedEncoding && res.writableCorked === 0
  return plain && socket?.writable ? socket : null
}

function byteLength(chunk: Uint8Array | string): number {
  return typeof chunk === 'string' ? Buffer.byteLength(chunk) : chunk.length
}

/** Bytes become one character each. */
function plainText(chunk: Uint8Array | string, length: number): string {
  if (typeof chunk === 'string') return chunk
  const bytes = chunk instanceof Buffer ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, length)
  return bytes.toString('latin1')
}

/** ASCII has as many bytes as characters, and is copied faster than UTF-8. */
function encodingOf(chunk: Uint8Array | string, length: number): 'latin1' | 'utf8' {
  return typeof chunk !== 'string' || chunk.length === length ? 'latin1' : 'utf8'
}

// The answer to an upgrade request: kept when the route accepts it, otherwise written to the socket as an HTTP answer.
import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Sink } from '../../../core/types/ports/ports.ts'

export class UpgradeSink implements Sink {
  readonly #socket: Duplex
  readonly #body: (Uint8Array | string)[] = []
  #headers: readonly string[] = []
  status = 500

  constructor(socket: Duplex) {
    this.#socket = socket
  }

  get gone(): boolean {
    return this.#socket.destroyed
  }

  head(status: number, headers: readonly string[]): void {
    this.status = status
    this.#headers = headers
  }

  write(chunk: Uint8Array | string): boolean {
    this.#body.push(chunk)
    return true
  }

  drained(): undefined {}

  end(chunk?: Uint8Array | string): void {
    if (chunk !== undefined && chunk.length > 0) this.#body.push(chunk)
  }

  onGone(fn: () => void): void {
    this.#socket.once('close', fn)
  }

  /** Writes the answer and closes the connection: its next bytes may belong to another protocol. */
  finish(): void {
    const body = Buffer.concat(this.#body.map((chunk) => Buffer.from(chunk as string)))
    const lines = [`HTTP/1.1 ${this.status} ${STATUS_CODES[this.status] ?? ''}`]
    for (let i = 0; i < this.#headers.length; i += 2) lines.push(`${this.#headers[i]}: ${this.#headers[i + 1]}`)
    lines.push(`content-length: ${body.length}`, 'connection: close')
    this.#socket.write(`${lines.join('\r\n')}\r\n\r\n`)
    this.#socket.end(body)
  }
}

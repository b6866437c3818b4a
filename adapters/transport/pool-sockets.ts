// The sockets of one pool: those that nobody needed for a whole window are closed down to the idle limit, and the error of
// one says whether it was a reused socket that had not begun to answer (RELIABILITY row 9).
import type { Socket } from 'node:net'
import { type buildConnector, Client, type Dispatcher } from 'undici'
import { skipUnaskedContinue } from './unasked-continue.ts'

interface Member {
  readonly client: Client
  /** null while disconnected. */
  socket: Socket | null
  /** A request was sent in this window. */
  used: boolean
}

const WINDOW_MS = 5000

export class PoolSockets {
  readonly #maxIdle: number
  readonly #members: Member[] = []
  #sweepAt = performance.now() + WINDOW_MS

  constructor(maxIdle: number) {
    this.#maxIdle = maxIdle
  }

  /** For Pool's `factory`. */
  readonly client = (origin: URL, options: object): Dispatcher => {
    const connect = (options as { connect: buildConnector.connector }).connect
    const client = new Client(origin, {
      ...options,
      connect: (target, callback) =>
        connect(target, (...result) => {
          if (result[1]) watch(member, result[1])
          callback(...result)
        }),
    })
    const member: Member = { client, socket: null, used: true }
    this.#members.push(member)
    // The pool drops a client that could not connect.
    client.on('connectionError', () => this.#members.splice(this.#members.indexOf(member), 1))
    return client
  }

  /** Closes what was idle through the last window and is over the limit; at most once a window. */
  sweep(): void {
    const now = performance.now()
    if (now < this.#sweepAt) return
    this.#sweepAt = now + WINDOW_MS
    const idle = this.#members.filter(({ socket, client }) => socket !== null && client.stats.size === 0)
    let surplus = idle.length - this.#maxIdle
    // The pool lends the first that is free: the last ones are needed least.
    for (let at = idle.length - 1; at >= 0 && surplus > 0; at--) {
      const { socket, used } = idle[at] as Member
      if (used) continue
      socket?.destroy()
      surplus--
    }
    for (const member of this.#members) member.used = false
  }
}

function watch(member: Member, socket: Socket): void {
  member.socket = socket
  // Through a tunnel the proxy's own answer has been read already.
  const fresh = socket.bytesRead
  let before = fresh
  const answerDue = skipUnaskedContinue(socket)
  const write = socket.write as (chunk: unknown, encoding?: unknown, callback?: unknown) => boolean
  // undici writes a request's head as text, and nothing else.
  socket.write = (chunk: unknown, encoding?: unknown, callback?: unknown): boolean => {
    if (typeof chunk === 'string') {
      before = socket.bytesRead
      member.used = true
      answerDue()
    }
    return write.call(socket, chunk, encoding, callback)
  }
  socket.prependListener('error', (error: Error & { reused?: boolean }) => {
    error.reused = before > fresh && socket.bytesRead === before
  })
  socket.once('close', () => {
    if (member.socket === socket) member.socket = null
  })
}

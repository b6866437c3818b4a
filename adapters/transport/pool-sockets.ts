// Manages the sockets of one pool. Sockets above the idle limit are closed after five idle seconds, also when no more requests come. A
// socket's error records whether it was reused and had not begun to answer.
import type { Socket } from 'node:net'
import type { buildConnector, Client as ClientType, Dispatcher } from 'undici/index.js'
import type { Clock } from '../../core/types/ports/ports.ts'
import { joinWrites } from './joined-writes.ts'
import { writeLate } from './late-writes.ts'
import { skipUnaskedContinue } from './unasked-continue.ts'
import { Client } from './undici-parts.ts'

interface Member {
  readonly client: ClientType
  /** null while disconnected. */
  socket: Socket | null
  /** Number of checks since its last use. */
  idleLooks: number
}

const LOOK_MS = 1000
/** A socket that was used in this time is needed: closing it would make a busy pool connect again. */
const IDLE_LOOKS = 5

export class PoolSockets {
  readonly #maxIdle: number
  readonly #clock: Pick<Clock, 'timer'>
  readonly #members: Member[] = []
  /** The next check; null while the number of sockets is within the idle limit. */
  #look: { cancel(): void } | null = null

  constructor(maxIdle: number, clock: Pick<Clock, 'timer'>) {
    this.#maxIdle = maxIdle
    this.#clock = clock
  }

  /** For Pool's `factory`. */
  readonly client = (origin: URL, options: object): Dispatcher => {
    const connect = (options as { connect: buildConnector.connector }).connect
    const client = new Client(origin, {
      ...options,
      connect: (target, callback) =>
        connect(target, (...result) => {
          if (result[1]) {
            watch(member, result[1])
            this.#lookSoon()
          }
          callback(...result)
        }),
    })
    const member: Member = { client, socket: null, idleLooks: 0 }
    this.#members.push(member)
    // The pool drops a client that failed to connect.
    client.on('connectionError', () => this.#members.splice(this.#members.indexOf(member), 1))
    return client
  }

  close(): void {
    this.#look?.cancel()
    this.#look = null
  }

  #lookSoon(): void {
    if (this.#look !== null || this.#open().length <= this.#maxIdle) return
    const look = (): void => {
      this.#look = null
      this.#closeSurplus()
      this.#lookSoon()
    }
    this.#look = this.#clock.timer(LOOK_MS, look, true)
  }

  #open(): Member[] {
    return this.#members.filter(({ socket }) => socket !== null)
  }

  #closeSurplus(): void {
    const idle: Member[] = []
    for (const member of this.#open()) {
      if (member.client.stats.size > 0) member.idleLooks = 0
      else {
        idle.push(member)
        member.idleLooks++
      }
    }
    let surplus = idle.length - this.#maxIdle
    // The pool uses the first free socket, so the last ones are needed least.
    for (let at = idle.length - 1; at >= 0 && surplus > 0; at--) {
      const { socket, idleLooks } = idle[at] as Member
      if (idleLooks <= IDLE_LOOKS) continue
      socket?.destroy()
      surplus--
    }
  }
}

function watch(member: Member, socket: Socket): void {
  member.socket = socket
  // In a tunnel the proxy's own answer has been read already.
  const fresh = socket.bytesRead
  let before = fresh
  const answerDue = skipUnaskedContinue(socket)
  const late = writeLate(socket, { keepsUnsent: true })
  joinWrites(socket)
  const write = socket.write as (chunk: unknown, encoding?: unknown, callback?: unknown) => boolean
  // undici writes only a request's head as text.
  socket.write = (chunk: unknown, encoding?: unknown, callback?: unknown): boolean => {
    if (typeof chunk === 'string') {
      before = socket.bytesRead
      member.idleLooks = 0
      answerDue()
    }
    return write.call(socket, chunk, encoding, callback)
  }
  socket.prependListener('error', (error: Error & { reused?: boolean; unsent?: boolean }) => {
    error.reused = before > fresh && socket.bytesRead === before
    // undici also fails a request that waits for this socket and has written nothing to it.
    error.unsent = late.holds || member.client.stats.running === 0
  })
  socket.once('close', () => {
    if (member.socket === socket) member.socket = null
  })
}

// Manages the sockets of one pool. Sockets above the idle limit are closed after five idle seconds, also when no more requests come. A
// socket's error records whether it was reused and had not begun to answer.
import { Socket } from 'node:net'
import type { buildConnector, Client as ClientType, Dispatcher, Pool as PoolTypes } from 'undici/index.js'
import type { Clock } from '../../core/types/ports/ports.ts'
import { joinWrites } from './joined-writes.ts'
import { type LateSocket, writeLate } from './late-writes.ts'
import { type ContinueSkipper, skipUnaskedContinue } from './unasked-continue.ts'
import { Client, Pool } from './undici-parts.ts'

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
      connect: (target, callback) => {
        let waiting: Listener | undefined
        const socket: unknown = connect(target, (...result) => {
          if (result[1]) {
            if (waiting !== undefined) result[1].removeListener('error', waiting)
            watch(member, result[1])
            this.#lookSoon()
          }
          callback(...result)
        })
        // undici's last listener ends the wait for the connection. It would hold the timer of that wait, half a kilobyte for each socket.
        if (socket instanceof Socket && socket.connecting) waiting = socket.listeners('error').at(-1) as Listener | undefined
      },
    })
    const member: Member = { client, socket: null, idleLooks: 0 }
    this.#members.push(member)
    return client
  }

  /** A pool of such clients. */
  pool(origin: string | URL, options: PoolTypes.Options): PoolTypes {
    const pool = new Pool(origin, { ...options, factory: this.client })
    // The pool drops a client that failed to connect.
    pool.on('connectionError', (_origin, targets) => {
      for (const target of targets) {
        const at = this.#members.findIndex(({ client }) => client === target)
        if (at !== -1) this.#members.splice(at, 1)
      }
    })
    return pool
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

type Listener = (error: Error) => void

const WATCH = Symbol('watch')

interface Watched extends Socket {
  [WATCH]: Watch
}

interface Watch {
  readonly member: Member
  /** Bytes read before the first request: in a tunnel the proxy's own answer has been read already. */
  readonly fresh: number
  /** Bytes read before the last request. */
  before: number
  readonly skipper: ContinueSkipper
  readonly late: LateSocket
}

// All sockets share these functions: closures for each of them would take memory as long as its stream is open.
function watch(member: Member, socket: Socket): void {
  member.socket = socket
  const fresh = socket.bytesRead
  const skipper = skipUnaskedContinue(socket)
  const late = writeLate(socket, { keepsUnsent: true })
  const own = socket as Watched
  own[WATCH] = { member, fresh, before: fresh, skipper, late }
  joinWrites(socket, beforeHead)
  socket.prependListener('error', onError)
  socket.on('close', onClose)
}

function beforeHead(socket: Socket): void {
  const state = (socket as Watched)[WATCH]
  state.before = socket.bytesRead
  state.member.idleLooks = 0
  state.skipper.answerDue()
}

function onError(this: Socket, error: Error & { reused?: boolean; unsent?: boolean }): void {
  const { member, fresh, before, late } = (this as Watched)[WATCH]
  error.reused = before > fresh && this.bytesRead === before
  // undici also fails a request that waits for this socket and has written nothing to it.
  error.unsent = late.holds || member.client.stats.running === 0
}

function onClose(this: Socket): void {
  const { member } = (this as Watched)[WATCH]
  if (member.socket === this) member.socket = null
}

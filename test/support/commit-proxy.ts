// A TCP proxy in front of PostgreSQL that drops exactly the answer to a COMMIT: the server has committed, and the client sees its
// connection end.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface CommitProxy {
  readonly url: string
  /** COMMITs that were passed on since it was told to drop one. */
  readonly commits: number
  /** From now on: the answer to COMMIT number `which` goes. `stay`: nobody is let in any more. */
  drop(which: number, then?: 'go on' | 'stay away'): void
  /** Lets everybody in. */
  heal(): void
  readonly dropped: boolean
  close(): Promise<void>
}

const QUERY = 'Q'.charCodeAt(0)
/** Plain, so that one read is one message: what is sent here is short. */
const isCommit = (data: Buffer) => data[0] === QUERY && /COMMIT\0$/.test(data.toString('latin1'))

export async function commitProxy(target: string): Promise<CommitProxy> {
  const upstream = new URL(target)
  const sockets = new Set<Socket>()
  const state = { commits: 0, which: 0, away: false, stays: false, dropped: false }
  const server = createServer((client) => {
    if (state.away) return void client.destroy()
    const db = connect(Number(upstream.port || 5432), upstream.hostname)
    let swallowing = false
    for (const socket of [client, db]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        client.destroy()
        db.destroy()
      })
    }
    client.on('data', (data) => {
      if (state.which > 0 && isCommit(data) && ++state.commits === state.which) swallowing = true
      db.write(data)
    })
    db.on('data', (data) => {
      if (!swallowing) return void client.write(data)
      state.dropped = true
      state.away = state.stays
      client.destroy()
      if (state.stays) for (const socket of sockets) socket.destroy()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = new URL(target)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  return {
    url: url.toString(),
    get commits() {
      return state.commits
    },
    get dropped() {
      return state.dropped
    },
    drop(which, then = 'go on') {
      Object.assign(state, { which, commits: 0, dropped: false, stays: then === 'stay away' })
    },
    heal() {
      Object.assign(state, { which: 0, away: false, stays: false })
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

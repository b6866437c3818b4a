// Provides faulty addresses: a port that refuses, one that never completes the TCP handshake, one that accepts and stays silent.
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { Worker } from 'node:worker_threads'

export interface FaultyAddress {
  readonly port: number
  close(): Promise<void>
}

/** Returns a port without a listener. No other caller gets it as a free port during the process. */
export async function closedPort(): Promise<number> {
  const server = createServer()
  const port = await listening(server)
  await new Promise<void>((resolve) => server.close(() => resolve()))
  await taken(port)
  return port
}

/** Uses the port as the local end of a connection: dialing it is refused, and an explicit listen on it still works. */
async function taken(localPort: number): Promise<void> {
  const far = createServer((socket) => void socket.on('error', () => {}).unref())
  const near = connect({ port: await listening(far), host: '127.0.0.1', localAddress: '127.0.0.1', localPort })
  near.on('error', () => {})
  await new Promise<void>((resolve) => near.once('connect', resolve).once('close', () => resolve()))
  near.unref()
  far.unref()
}

/** SYNs get no answer, because the accept queue of a listener with a sleeping thread is full. */
export async function tarpit(): Promise<FaultyAddress> {
  const gate = new Int32Array(new SharedArrayBuffer(4))
  const worker = new Worker(SLEEPING_LISTENER, { eval: true, workerData: gate })
  const port = await new Promise<number>((resolve, reject) => {
    worker.once('message', resolve)
    worker.once('error', reject)
  })
  const fillers = Array.from({ length: 4 }, () => connect(port, '127.0.0.1').on('error', () => {}))
  await Promise.race(fillers.map((socket) => new Promise((resolve) => socket.once('connect', resolve))))
  return {
    port,
    async close() {
      for (const socket of fillers) socket.destroy()
      Atomics.store(gate, 0, 1)
      Atomics.notify(gate, 0)
      await worker.terminate()
    },
  }
}

const SLEEPING_LISTENER = `
  const { parentPort, workerData } = require('node:worker_threads')
  const server = require('node:net').createServer()
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    parentPort.postMessage(server.address().port)
    // Blocks at once: one turn of the loop later the server might accept a connection.
    Atomics.wait(workerData, 0, 0)
  })
`

/** Accepts and sends nothing: a stalled TLS handshake, missing headers. */
export async function silentPort(): Promise<FaultyAddress> {
  return rawServer(() => {})
}

/** Returns a TCP server that handles each connection with the given function. */
export async function rawServer(onSocket: (socket: Socket) => void): Promise<FaultyAddress> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    onSocket(socket)
  })
  return {
    port: await listening(server),
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

export function listening(server: Server): Promise<number> {
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)))
}

// A server whose answers go through a NodeSink, and the bytes that a client gets.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { NodeSink } from '../../../adapters/node/server/node-sink.ts'

export const HEAD = ['content-type', 'text/plain; charset=utf-8']
export const ASK = 'GET / HTTP/1.1\r\nhost: localhost\r\n\r\n'

let server: Server | null = null

/** Ends the last server. Call it after each test. */
export function stop(): void {
  server?.closeAllConnections()
  server?.close()
  server = null
}

interface Seen {
  /** Pieces of each call into the socket's handle. */
  readonly writes: number[]
  readonly port: number
}

/** A server that answers with `answer`, and the writes of its sockets. */
export async function serving(answer: (sink: NodeSink, res: ServerResponse, req: IncomingMessage) => unknown): Promise<Seen> {
  const writes: number[] = []
  server = createServer((req, res) => void answer(new NodeSink(req, res), res, req))
  server.on('connection', (socket: Socket) => {
    const { _write: one, _writev: many } = socket
    socket._write = function (...args) {
      writes.push(1)
      return one.apply(this, args)
    }
    socket._writev = function (chunks, done) {
      writes.push(chunks.length)
      return many?.call(this, chunks, done)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { writes, port: (server.address() as AddressInfo).port }
}

/** Sends a request and returns the answer's bytes. */
export async function received(port: number, ask = ASK, until = (text: string) => text.endsWith('0\r\n\r\n')): Promise<Buffer> {
  const socket = connect(port, '127.0.0.1')
  let all = Buffer.alloc(0)
  socket.write(ask)
  for await (const chunk of socket) {
    all = Buffer.concat([all, chunk as Buffer])
    if (until(all.toString('latin1'))) break
  }
  socket.destroy()
  return all
}

export const fetched = async (port: number) => new Uint8Array(await (await fetch(`http://127.0.0.1:${port}/`)).arrayBuffer())

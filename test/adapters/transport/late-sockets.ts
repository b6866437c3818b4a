// Sockets that write late, and their peers.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type ServerOpts, type Socket } from 'node:net'
import { writeLate } from '../../../adapters/transport/late-writes.ts'

export async function listening(options: ServerOpts = {}): Promise<Server> {
  const server = createServer(options)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

export async function lateSocket(server: Server): Promise<{ socket: Socket; peer: Socket }> {
  const accepted = once(server, 'connection')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const [peer] = (await accepted) as [Socket]
  await (socket.connecting ? once(socket, 'connect') : null)
  writeLate(socket)
  return { socket, peer }
}

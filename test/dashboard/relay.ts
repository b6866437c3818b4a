// A TCP relay before a gateway: a test cuts its connections, or sends them to another process, while its address stays.
import { connect, createServer, type Socket } from 'node:net'

export interface Relay {
  readonly origin: string
  /** Cuts all connections and refuses new ones. */
  cut(): void
  /** Takes connections again, to this port. */
  lead(port: number): void
  close(): Promise<void>
}

export async function relay(port: number): Promise<Relay> {
  let target: number | null = port
  const sockets = new Set<Socket>()
  const kept = (socket: Socket): void => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => socket.destroy())
  }
  const server = createServer((client) => {
    kept(client)
    if (target === null) return void client.resetAndDestroy()
    const upstream = connect(target, '127.0.0.1')
    kept(upstream)
    client.pipe(upstream).pipe(client)
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const cut = (): void => {
    target = null
    for (const socket of sockets) socket.destroy()
  }
  return {
    origin: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
    cut,
    lead: (port) => {
      target = port
    },
    async close() {
      cut()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

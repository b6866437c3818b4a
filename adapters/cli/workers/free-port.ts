// Finds a free port.
import { type AddressInfo, createServer } from 'node:net'

/** @throws Error when the host is no address of this machine. */
export function freePort(host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    // Exclusive: not through the primary process.
    server.listen({ port: 0, host, exclusive: true }, () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}

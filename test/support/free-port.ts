// A port for a server that is started later, or again.
import { createServer } from 'node:net'

let next = 20_000 + (process.pid % 5_000) * 2

/** Below the range from which outgoing connections and servers without a wish take theirs: it stays free until it is wanted. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = next++
    const free = await new Promise<boolean>((resolve) => {
      const server = createServer()
        .once('error', () => resolve(false))
        .listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
    })
    if (free) return port
  }
}

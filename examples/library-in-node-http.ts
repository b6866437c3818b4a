// The gateway next to other routes of a plain node:http server. `peer` decides who is local: here every caller on the loopback
// interface, so that the gateway's own rule (anonymous calls are for local clients) applies.
//
//   npm run build && npx jiti examples/library-in-node-http.ts
//   curl -s http://127.0.0.1:8788/llm/v1/chat/completions …
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createGateway, toNodeHandler } from 'hookgate'

export async function start(port = Number(process.env.PORT ?? 8788)) {
  const gateway = await createGateway({ connections: { echo: { provider: 'echo' } } })
  const llm = toNodeHandler(gateway, { prefix: '/llm', peer: peerOf })
  const server = createServer((req, res) => {
    if (req.url?.startsWith('/llm/')) return llm(req, res)
    res.end('A server with a gateway under /llm.')
  })

  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.close()
      await gateway.drain(10_000)
      server.closeAllConnections()
      await gateway.close()
    },
  }
}

function peerOf(req: IncomingMessage) {
  const address = req.socket.remoteAddress ?? null
  return { address, local: address === '127.0.0.1', secure: false }
}

if (import.meta.filename === process.argv[1]) console.log(`listening on ${(await start()).url}/llm`)

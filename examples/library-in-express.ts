// The gateway inside an Express app, on its fast path. Mount it before any body parser: the gateway reads the body itself.
//
//   npm run build && npx jiti examples/library-in-express.ts
//   curl -s http://127.0.0.1:8788/llm/v1/chat/completions …
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { createGateway, toNodeHandler } from 'hookgate'

export async function start(port = Number(process.env.PORT ?? 8788)) {
  const gateway = await createGateway({ connections: { echo: { provider: 'echo' } } })
  const app = express()
  app.use('/llm', toNodeHandler(gateway))
  app.use(express.json())
  app.post('/orders', (req, res) => {
    res.json({ ordered: req.body.item })
  })

  const server = app.listen(port, '127.0.0.1')
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

if (import.meta.filename === process.argv[1]) console.log(`listening on ${(await start()).url}/llm`)

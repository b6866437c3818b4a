// The gateway inside an h3 app. It has a `fetch` method, so `mount` accepts it directly. The app decides who may call: without a peer
// the gateway answers anonymous data-plane calls.
//
// npm run build && npx jiti examples/library-in-h3.ts
// curl -s http://127.0.0.1:8788/llm/v1/chat/completions …
import { H3, serve } from 'h3'
import { createGateway } from 'hookgate'

export async function start(port = Number(process.env.PORT ?? 8788)) {
  const gateway = await createGateway({ connections: { echo: { provider: 'echo' } } })
  const app = new H3()
  app.get('/', () => 'An app with a gateway under /llm.')
  app.mount('/llm', gateway)

  const server = serve(app, { hostname: '127.0.0.1', port, silent: true, gracefulShutdown: false })
  await server.ready()
  return {
    url: (server.url as string).replace(/\/$/, ''),
    async close() {
      // Running streams end properly before the sockets close.
      await gateway.drain(10_000)
      await server.close(true)
      await gateway.close()
    },
  }
}

if (import.meta.filename === process.argv[1]) console.log(`listening on ${(await start()).url}/llm`)

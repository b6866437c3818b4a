// The smallest gateway: one connection, one server. `echo` needs no account; replace it with your own provider.
//
//   npm run build && npx jiti examples/minimal.ts
//   curl -s http://127.0.0.1:8788/v1/chat/completions -H 'content-type: application/json' \
//     -d '{"model":"echo/echo-1","messages":[{"role":"user","content":"Hello"}]}'
import { createGateway, serve } from 'hookgate'

export async function start(port = Number(process.env.PORT ?? 8788)) {
  const gateway = await createGateway({ connections: { echo: { provider: 'echo' } } })
  return serve(gateway, { host: '127.0.0.1', port })
}

if (import.meta.filename === process.argv[1]) console.log(`listening on ${(await start()).url}`)

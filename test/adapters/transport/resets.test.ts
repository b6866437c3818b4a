// Upstreams that close connections which the pool keeps. A request that has not left goes over another connection; it is never sent twice.
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { undiciTransport } from '../../../adapters/transport/undici.ts'
import type { Transport } from '../../../core/types/ports/ports.ts'
import { call } from './support.ts'

let server: Server
let transport: Transport
afterEach(async () => {
  await transport.close()
  server.closeAllConnections()
  server.close()
})

const ENDS: [string, (socket: Socket) => void][] = [
  ['resets', (socket) => socket.resetAndDestroy()],
  ['closes', (socket) => socket.destroy()],
]

it.each(
  ENDS,
)('every request is answered once when the upstream %s its connections right after its answers', async (_how, end) => {
  transport = undiciTransport()
  const seen = new Map<string, number>()
  server = createServer(async (req, res) => {
    let text = ''
    for await (const chunk of req) text += chunk
    seen.set(text, (seen.get(text) ?? 0) + 1)
    res.end(`answer to ${text}`)
    setTimeout(() => end(req.socket), seen.size % 4)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  let failed = 0
  for (let round = 0; round < 12; round++) {
    const texts = Array.from({ length: 25 }, (_, i) => `${round}-${i}`)
    const answers = await Promise.all(texts.map((text) => call(transport, url, { body: [Buffer.from(text)] })))
    for (const [i, { error, body }] of answers.entries()) {
      if (error === null) expect(String(body)).toBe(`answer to ${texts[i]}`)
      // Bytes that have left may be lost with their connection, and the caller decides about those.
      else if (error.upstream?.stale !== true) failed++
    }
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  expect(Math.max(...seen.values())).toBe(1)
  expect(failed).toBe(0)
})

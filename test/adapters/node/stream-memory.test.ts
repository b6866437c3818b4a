// An open stream holds one copy of its request's body, however long it runs and whatever dialect the caller speaks.
import { once } from 'node:events'
import { type ClientRequest, createServer, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createGateway, type RunningServer, serve } from '../../../adapters/node/index.ts'
import { ask, DIALECTS, until } from './support.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const STREAMS = 20
const BODY_BYTES = 200_000
const CHUNK = `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { role: 'assistant', content: 'Hello' }, finish_reason: null }] })}\n\n`

const open = new Set<ServerResponse>()
const upstream = createServer((req, res) => {
  req.resume().on('end', () => {
    res.writeHead(200, { 'content-type': 'text/event-stream' }).write(CHUNK)
    open.add(res)
    res.on('close', () => open.delete(res))
  })
})
let gateway: Awaited<ReturnType<typeof createGateway>>
let server: RunningServer

beforeAll(async () => {
  await once(upstream.listen(0, '127.0.0.1'), 'listening')
  const baseUrl = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`
  gateway = await createGateway({
    options: { overloadLoopDelayMs: 0 },
    connections: { chat: { provider: 'custom', wireFormat: 'chat', baseUrl, apiKey: 'k' } },
  })
  server = await serve(gateway, { host: '127.0.0.1', port: 0, drainMs: 200 })
})
afterAll(async () => {
  await server.close()
  upstream.closeAllConnections()
  upstream.close()
})

/** Opens a stream and resolves when its first byte has arrived. */
async function opened(path: string, body: Buffer): Promise<ClientRequest> {
  const sent = request(`${server.url}${path}`, { method: 'POST', headers: { 'content-type': 'application/json' }, agent: false })
  sent.end(body)
  const [answer] = await once(sent, 'response')
  expect(answer.statusCode).toBe(200)
  await once(answer, 'data')
  return sent
}

function heldBytes(): number {
  collectGarbage()
  return process.memoryUsage().arrayBuffers
}

it.each(DIALECTS)('a %s caller', async (dialect) => {
  const { path, body } = ask(dialect, 'chat/m', { stream: true, text: 'x'.repeat(BODY_BYTES) })
  const bytes = Buffer.from(JSON.stringify(body))
  const first = await opened(path, bytes)
  const before = heldBytes()
  const streams = await Promise.all(Array.from({ length: STREAMS }, () => opened(path, bytes)))
  const each = (heldBytes() - before) / STREAMS
  for (const sent of [first, ...streams]) sent.on('error', () => {}).destroy()
  await until(() => open.size === 0)
  expect(each).toBeGreaterThan(0.9 * BODY_BYTES)
  expect(each).toBeLessThan(1.3 * BODY_BYTES)
})

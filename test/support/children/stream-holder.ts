// Holds open streams through a gateway in a process of its own, whose memory no other test shares. Prints the bytes that each stream holds
// by the caller's dialect. Argument: the bytes of the text in each request.
import { once } from 'node:events'
import { type ClientRequest, createServer, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createGateway, serve } from '../../../adapters/node/index.ts'
import { ask, DIALECTS, until } from '../../adapters/node/support.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const STREAMS = 20
const DELTA = { index: 0, delta: { role: 'assistant', content: 'Hello' }, finish_reason: null }
const CHUNK = `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [DELTA] })}\n\n`

const open = new Set<ServerResponse>()
const upstream = createServer((req, res) => {
  req.resume().on('end', () => {
    res.writeHead(200, { 'content-type': 'text/event-stream' }).write(CHUNK)
    open.add(res)
    res.on('close', () => open.delete(res))
  })
})
await once(upstream.listen(0, '127.0.0.1'), 'listening')
const baseUrl = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`
const gateway = await createGateway({
  options: { overloadLoopDelayMs: 0 },
  connections: { chat: { provider: 'custom', wireFormat: 'chat', baseUrl, apiKey: 'k' } },
})
const { url } = await serve(gateway, { host: '127.0.0.1', port: 0 })

/** Opens a stream and resolves when its first byte has arrived. */
async function opened(path: string, body: Buffer): Promise<ClientRequest> {
  const sent = request(`${url}${path}`, { method: 'POST', headers: { 'content-type': 'application/json' }, agent: false })
  sent.end(body)
  const [answer] = await once(sent, 'response')
  if (answer.statusCode !== 200) throw new Error(`${path} answered with ${answer.statusCode}.`)
  await once(answer, 'data')
  return sent
}

/** Waits until what has ended is collected. */
async function heldBytes(): Promise<number> {
  for (let last = Number.NaN; ; await sleep(50)) {
    collectGarbage()
    const { arrayBuffers } = process.memoryUsage()
    if (Math.abs(arrayBuffers - last) < 1000) return arrayBuffers
    last = arrayBuffers
  }
}

const held: Record<string, number> = {}
for (const dialect of DIALECTS) {
  const { path, body } = ask(dialect, 'chat/m', { stream: true, text: 'x'.repeat(Number(process.argv[2])) })
  const bytes = Buffer.from(JSON.stringify(body))
  const first = await opened(path, bytes)
  const before = await heldBytes()
  const streams = await Promise.all(Array.from({ length: STREAMS }, () => opened(path, bytes)))
  held[dialect] = ((await heldBytes()) - before) / STREAMS
  for (const sent of [first, ...streams]) sent.on('error', () => {}).destroy()
  await until(() => open.size === 0)
}
process.stdout.write(JSON.stringify(held), () => process.exit())

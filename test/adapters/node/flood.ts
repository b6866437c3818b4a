// An upstream that sends more than a client reads, for tests of slow, leaving and patient readers.
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export const FLOOD_BYTES = 64 * 1024 * 1024

/**
 * A chat upstream whose model selects the behaviour: `big` sends as fast as it is read, `held` sends when released, `stall` stops once,
 * `silent` sends nothing.
 */
export async function flooding() {
  let [sent, closedAt, waiting] = [0, 0, false]
  let release = (): void => {}
  const frame = (content: string) =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`
  const end = `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`
  const server = createServer(async (req, res) => {
    let text = ''
    for await (const chunk of req) text += chunk
    const { model } = JSON.parse(text) as { model: string }
    res.on('close', () => {
      closedAt = performance.now()
      waiting = false
    })
    if (model === 'silent') {
      waiting = true
      return
    }
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    res.write(frame('first'))
    if (model === 'stall') return
    if (model === 'held') {
      await new Promise<void>((resolve) => {
        release = resolve
      })
      res.write(frame('more'))
    }
    const big = frame('x'.repeat(64 * 1024))
    for (sent = 0; model === 'big' && sent < FLOOD_BYTES && !res.destroyed; sent += big.length) {
      if (!res.write(big)) await drained(res)
    }
    res.end(end)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    sent: () => sent,
    closedAt: () => closedAt,
    waiting: () => waiting,
    release: () => release(),
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

function drained(res: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      res.off('drain', done)
      res.off('close', done)
      resolve()
    }
    res.on('drain', done)
    res.on('close', done)
  })
}

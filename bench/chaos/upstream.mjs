// The upstream of the kill loop. It counts every token it sent, and survives the gateway. A token is four bytes of text; a prompt token
// three bytes of body.
import { createServer } from 'node:http'

export const PRICE = { input: 1e3, output: 4e3 } // nano-USD per token

let awakeMs = 0
let looked = performance.now()
setInterval(() => {
  const now = performance.now()
  awakeMs += Math.min(now - looked, 100)
  looked = now
}, 10).unref()

/** Elapsed ms without stalls of the machine: the gateway's checkpoints stalled too. */
export const awake = () => awakeMs

/** `journal`: marker of a request → the content sent for it, with the times of its tokens. */
export async function countingUpstream(random) {
  const journal = new Map()
  const server = createServer((req, res) => {
    const chunks = []
    req.on('data', (chunk) => chunks.push(chunk))
    req.on('end', () => void answer(Buffer.concat(chunks), res))
  })

  async function answer(body, res) {
    const asked = JSON.parse(body.toString())
    const marker = /#(\S+)#/.exec(asked.messages.at(-1).content)[1]
    const prompt = Math.ceil(body.length / 3)
    const entry = { prompt, sent: [], closed: false, max: asked.max_tokens }
    journal.set(marker, entry)
    res.on('close', () => {
      entry.closed = true
    })
    const count = 1 + Math.floor(random() * asked.max_tokens)
    const usage = { prompt_tokens: prompt, completion_tokens: count, total_tokens: prompt + count }
    const head = { id: `c-${marker}`, created: 1, model: 'm' }
    if (!asked.stream) {
      await pause(random() * 300)
      for (let i = 0; i < count; i++) entry.sent.push(awake())
      const message = { role: 'assistant', content: 'tok '.repeat(count) }
      res.writeHead(200, { 'content-type': 'application/json' })
      res.end(
        JSON.stringify({ ...head, object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'stop' }], usage }),
      )
      return
    }
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    const send = (value) => res.write(`data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', ...value })}\n\n`)
    for (let i = 0; i < count && !entry.closed; i++) {
      send({ choices: [{ index: 0, delta: { content: 'tok ' }, finish_reason: null }] })
      entry.sent.push(awake())
      await pause(4)
    }
    send({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })
    send({ choices: [], usage })
    res.end('data: [DONE]\n\n')
  }

  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    baseUrl: `http://127.0.0.1:${server.address().port}/v1`,
    journal,
    close: () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
  }
}

export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

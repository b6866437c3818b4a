// A background response that one replica runs is followed on another one, over PostgreSQL.
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { folder, type Serving, serving } from '../../adapters/cli/hookgate.ts'
import { testPostgres, whyNoPostgres } from '../../support/postgres.ts'
import { REDIS_URL, whyNoRedis } from '../../support/redis.ts'

const missing = (await whyNoPostgres()) ?? (await whyNoRedis())
const WORDS = ['one ', 'two ', 'three ', 'four']

function chunk(delta: object, finish: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: finish }]
  return `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices })}\n\n`
}

it.skipIf(missing !== null)(`another replica sends each delta as it comes${missing === null ? '' : `: ${missing}`}`, async () => {
  const streams: ServerResponse[] = []
  const upstream = createServer((req, res) => {
    req.resume()
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    streams.push(res)
  })
  upstream.listen(0, '127.0.0.1')
  await once(upstream, 'listening')
  const { port } = upstream.address() as AddressInfo
  const postgres = await testPostgres()
  const connection = { provider: 'custom', baseUrl: `http://127.0.0.1:${port}/v1`, wireFormat: 'chat', apiKey: 'k' }
  const cwd = folder({ 'gateway.config.mjs': `export default { connections: { up: ${JSON.stringify(connection)} } }` })
  const env = {
    GATEWAY_DATABASE_URL: postgres.url,
    GATEWAY_REDIS_URL: REDIS_URL,
    GATEWAY_MASTER_KEY: randomBytes(32).toString('base64'),
    GATEWAY_ENV: `following-${process.pid}`,
  }
  const servers: Serving[] = []
  try {
    for (let i = 0; i < 2; i++) servers.push(await serving(['--config', `${cwd}/gateway.config.mjs`], { cwd, env }))
    const [runs, follows] = servers as [Serving, Serving]
    const begun = await fetch(`${runs.url}/v1/responses`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'up/m', input: 'Count', background: true }),
    })
    const { id } = (await begun.json()) as { id: string }
    const stream = await fetch(`${follows.url}/v1/responses/${id}?stream=true`)
    let text = ''
    void (async () => {
      for await (const piece of stream.body ?? []) text += Buffer.from(piece).toString()
    })()
    const frames = () => text.split('\n\n').flatMap((frame) => /^data: (.*)$/m.exec(frame)?.[1] ?? [])
    const events = () => frames().map((data) => JSON.parse(data) as { type: string; sequence_number: number; delta?: string })
    const deltas = () => events().flatMap(({ type, delta }) => (type === 'response.output_text.delta' ? [delta] : []))
    await expect.poll(() => streams.length).toBe(1)
    for (const [index, word] of WORDS.entries()) {
      streams[0]?.write(chunk({ content: word }))
      await expect.poll(() => deltas().join('')).toBe(WORDS.slice(0, index + 1).join(''))
    }
    streams[0]?.end(`${chunk({}, 'stop')}data: [DONE]\n\n`)
    await expect.poll(() => events().at(-1)?.type).toBe('response.completed')
    const numbers = events().map(({ sequence_number }) => sequence_number)
    expect(numbers).toEqual(numbers.map((_, index) => index))
  } finally {
    for (const { child, exited } of servers) {
      child.kill('SIGTERM')
      await exited
    }
    upstream.closeAllConnections()
    upstream.close()
    await postgres.drop()
    rmSync(cwd, { recursive: true, force: true })
  }
})

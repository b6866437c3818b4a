// node bench/large-bodies.mjs: the delay of other requests while a hundred callers continuously send bodies of a megabyte, on the byte
// lane and translated.
//
//   --callers 100   --seconds 12   --heap 512 (MB that V8 may take)
//   --json          figures only
//
// Needs `npm run build` and two cores: the gateway is pinned to CPU 0, everything else to CPU 1.
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Pool } from 'undici'
import { startGateway } from './harness/gateway.mjs'

const { values } = parseArgs({
  options: {
    callers: { type: 'string', default: '100' },
    seconds: { type: 'string', default: '12' },
    heap: { type: 'string', default: '512' },
    json: { type: 'boolean', default: false },
  },
})
execFileSync('taskset', ['-cp', '1', String(process.pid)], { stdio: 'ignore' })
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const round = (value) => Math.round(value * 10) / 10

const answer = JSON.stringify({
  ...{ id: 'c', object: 'chat.completion', created: 1, model: 'm' },
  choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
})
const upstream = createServer((req, res) => {
  req.resume().on('end', () => res.writeHead(200, { 'content-type': 'application/json' }).end(answer))
})
upstream.listen(0, '127.0.0.1')
await once(upstream, 'listening')
const turns = Array.from({ length: 641 }, (_, at) => ({
  role: at % 2 === 0 ? 'user' : 'assistant',
  content: 'some "quoted" text, a line\n and words — '.repeat(40),
}))
const large = JSON.stringify({ model: 'up/m', max_tokens: 10, messages: turns })
const small = JSON.stringify({ model: 'up/m', messages: [{ role: 'user', content: 'hi' }] })

const rows = {}
for (const [name, path] of [
  ['chat → chat', '/v1/chat/completions'],
  ['messages → chat', '/v1/messages'],
])
  rows[name] = await measured(path)
upstream.closeAllConnections()
upstream.close()
if (values.json) console.log(JSON.stringify(rows))
else console.table(rows)

async function measured(path) {
  const dir = mkdtempSync(join(tmpdir(), 'hookgate-large-'))
  const config = join(dir, 'gateway.config.mjs')
  const baseUrl = `http://127.0.0.1:${upstream.address().port}/v1`
  const up = { provider: 'custom', wireFormat: 'chat', baseUrl, apiKey: 'sk-bench' }
  writeFileSync(config, `export default ${JSON.stringify({ connections: { up } })}`)
  const probe = fileURLToPath(new URL('./soak/probe.mjs', import.meta.url))
  const flags = ['--expose-gc', `--max-old-space-size=${values.heap}`, '--import', probe]
  const gateway = await startGateway({ dir, config, flags, ipc: true, cpu: 0 })
  const pool = new Pool(gateway.url, { connections: Number(values.callers) + 1 })
  const figures = { large: 0, failed: 0 }
  const waits = []
  let over = false
  const call = async (at, body) => {
    const response = await pool.request({ path: at, method: 'POST', body, headers: { 'content-type': 'application/json' } })
    await response.body.dump()
    if (response.statusCode !== 200) figures.failed++
  }
  const caller = async () => {
    for (; !over; figures.large++) await call(path, large)
  }
  const passerBy = async () => {
    for (; !over; await pause(20)) {
      const began = performance.now()
      await call('/v1/chat/completions', small)
      waits.push(performance.now() - began)
    }
  }
  const sample = async () => (await Promise.all([once(gateway.child, 'message'), gateway.child.send('sample')]))[0][0]
  const calling = Array.from({ length: Number(values.callers) }, caller)
  await pause(3000)
  await sample()
  await pause(100)
  figures.large = 0
  const passing = passerBy()
  await pause(Number(values.seconds) * 1000)
  const { loopP99Ms, rss } = await sample()
  const answered = figures.large
  over = true
  await Promise.all([...calling, passing])
  await pool.close()
  gateway.child.kill('SIGTERM')
  await gateway.ended
  rmSync(dir, { recursive: true, force: true })
  waits.sort((a, b) => a - b)
  return {
    ...{ 'large requests/s': round(answered / Number(values.seconds)), failed: figures.failed },
    ...{ 'loop p99 ms': round(loopP99Ms), 'small request p50 ms': round(waits[waits.length >> 1]) },
    ...{ 'p99 ms': round(waits[Math.floor(waits.length * 0.99)]), 'rss MB': Math.round(rss / (1 << 20)) },
  }
}

// Runs many slow streams at once through the built gateway: memory per stream and the delay of each chunk, compared with the same clients
// without a gateway.
//
//   npm run -s build && node bench/streams.mjs                      2,000 streams, 5 chunks/s each, 10 s
//   node bench/streams.mjs --streams 500 --rate 20 --seconds 5
//   node bench/streams.mjs --semi-space 64                         with a larger young generation
//   node bench/streams.mjs --caller messages                        translated: messages caller, chat upstream
//   node bench/streams.mjs --kernel                                with only the required plugins
//   node bench/streams.mjs --rows 1000000                          with reports over that many usage rows, one after the other
//
// Linux only (reads /proc). Loopback only, limited in time.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import http from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { addRows } from './growth/worlds.mjs'

const option = (name, fallback) => {
  const at = process.argv.indexOf(`--${name}`)
  return at === -1 ? fallback : process.argv[at + 1]
}
const STREAMS = Number(option('streams', 2000))
const RATE = Number(option('rate', 5))
const SECONDS = Number(option('seconds', 10))
const CALLER = option('caller', 'chat')
/** Young generation, MB: garbage of a burst counts as the process's memory until it is collected. */
const SEMI_SPACE = option('semi-space', '16')
const CONFIG = process.argv.includes('--kernel') ? './kernel.config.mjs' : './gateway.config.mjs'
const ROWS = Number(option('rows', 0))
const PORT = 9182
/** Goal and ceiling. */
const LIMITS = { rssKb: [30, 50], delayMs: [5, 10] }
const REQUESTS = {
  chat: ['/v1/chat/completions', { model: 'openai/mock', stream: true, messages: [{ role: 'user', content: 'hi' }] }],
  messages: [
    '/v1/messages',
    { model: 'openai/mock', stream: true, max_tokens: 100, messages: [{ role: 'user', content: 'hi' }] },
  ],
}

const at = (path) => fileURLToPath(new URL(path, import.meta.url))
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const frame = (delta, finish = null) =>
  `data: ${JSON.stringify({ id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1, model: 'mock', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`

/** Sends each open stream a chunk that contains the time, spread over the period as by real models. */
function upstream() {
  const open = new Set()
  const server = http.createServer((req, res) => {
    req.resume()
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    res.write(frame({ role: 'assistant', content: '' }))
    open.add(res)
    res.on('close', () => open.delete(res))
  })
  let next = 0
  const ticking = setInterval(() => {
    const list = [...open]
    const share = Math.ceil((list.length * RATE) / 100)
    for (let i = 0; i < share; i++) list[next++ % list.length].write(frame({ content: `@${performance.now().toFixed(2)}@` }))
  }, 10)
  return { server, open, stop: () => clearInterval(ticking) }
}

function openStream(port, delays) {
  const [path, body] = REQUESTS[CALLER]
  const req = http.request({
    port,
    host: '127.0.0.1',
    path,
    method: 'POST',
    agent: false,
    headers: { 'content-type': 'application/json' },
  })
  req.on('error', () => {})
  req.on('response', (res) => {
    res.setEncoding('latin1')
    res.on('error', () => {})
    res.on('data', (text) => {
      const now = performance.now()
      for (const [, sent] of text.matchAll(/@([\d.]+)@/g)) delays.push(now - Number(sent))
    })
  })
  req.end(JSON.stringify(body))
  return req
}

const rssKb = (pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1])
const cpuMs = (pid) => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}
const quantile = (sorted, q) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN

function served() {
  return spawn(
    process.execPath,
    [
      `--max-semi-space-size=${SEMI_SPACE}`,
      at('../dist/adapters/cli/main.js'),
      'serve',
      '--config',
      at(CONFIG),
      '--port',
      String(PORT),
    ],
    {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: {
        ...process.env,
        BENCH_UPSTREAM: `http://127.0.0.1:${upstreamPort}`,
        GATEWAY_DATA_DIR: dataDir,
        GATEWAY_PRICING_SYNC_ENABLED: 'false',
        // A busy machine would otherwise make it refuse streams.
        GATEWAY_OVERLOAD_LOOP_DELAY_MS: '0',
      },
    },
  )
}

async function listening() {
  for (let tries = 0; ; tries++) {
    const up = await fetch(`http://127.0.0.1:${PORT}/healthz`).then(
      () => true,
      () => false,
    )
    if (up) return
    if (tries > 200) throw new Error('The gateway does not listen.')
    await sleep(50)
  }
}

/** Restarts the gateway with a database of many usage rows. */
async function filled() {
  const one = openStream(PORT, [])
  await sleep(1000)
  one.destroy()
  await sleep(1000)
  await stopped()
  addRows(join(dataDir, 'gateway.db'), ROWS)
  gateway = served()
  await listening()
}

async function stopped() {
  gateway.kill('SIGTERM')
  await new Promise((resolve) => gateway.once('exit', resolve))
}

/** Asks for one report after the other until the time is over. Returns how long each took, ms. */
async function reports(until) {
  const took = []
  while (performance.now() < until) {
    const from = performance.now()
    const answer = await fetch(`http://127.0.0.1:${PORT}/api/reports?group_by=model`)
    const text = await answer.text()
    if (!answer.ok) throw new Error(`The report was refused: ${text}`)
    took.push(performance.now() - from)
  }
  return took
}

/** Delay of the gateway's event loop since the last call, p99 in ms. */
async function loopDelay() {
  const text = await (await fetch(`http://127.0.0.1:${PORT}/metrics`)).text()
  return Number(/^gateway_nodejs_eventloop_lag_p99_seconds (\S+)/m.exec(text)?.[1]) * 1000
}

function closeAll(requests) {
  for (const req of requests) req.destroy()
}

/** Opens streams until this many are open. */
async function load(port, source, count, { requests, delays } = { requests: [], delays: [] }) {
  while (requests.length < count) {
    for (let i = 0; i < 50 && requests.length < count; i++) requests.push(openStream(port, delays))
    await sleep(20)
  }
  for (let tries = 0; source.open.size < count && tries < 200; tries++) await sleep(50)
  await sleep(1500)
  delays.length = 0
  return { requests, delays, open: source.open.size, end: () => closeAll(requests) }
}

const source = upstream()
await new Promise((resolve) => source.server.listen(0, '127.0.0.1', resolve))
const upstreamPort = source.server.address().port
const dataDir = mkdtempSync(join(tmpdir(), 'hookgate-bench-'))
process.once('exit', () => rmSync(dataDir, { recursive: true, force: true }))
let gateway = served()
let failed = false
try {
  await listening()
  if (ROWS > 0) await filled()
  const direct = CALLER === 'chat' ? await load(upstreamPort, source, STREAMS) : null
  if (direct !== null) {
    await sleep(SECONDS * 300)
    direct.end()
    for (let tries = 0; source.open.size > 0 && tries < 100; tries++) await sleep(20)
  }
  // A few requests first: code and pools belong to the process, not to a stream.
  const warm = []
  const first = Array.from({ length: 20 }, () => openStream(PORT, warm))
  await sleep(1500)
  closeAll(first)
  await loopDelay()
  await sleep(1000)
  const idle = rssKb(gateway.pid)
  // Part of the memory comes with the first streams: the young generation grows, and code is compiled.
  const part = await load(PORT, source, Math.ceil(STREAMS / 2))
  await sleep(SECONDS * 500)
  const partly = rssKb(gateway.pid)
  const run = await load(PORT, source, STREAMS, part)
  const cpu = cpuMs(gateway.pid)
  await loopDelay()
  const until = performance.now() + SECONDS * 1000
  const took = ROWS > 0 ? await reports(until) : []
  await sleep(until - performance.now())
  const lag = await loopDelay()
  const busy = cpuMs(gateway.pid) - cpu
  const held = rssKb(gateway.pid)
  const chunks = run.delays.length
  const sorted = run.delays.sort((a, b) => a - b)
  run.end()
  await sleep(2000)
  const perStream = (held - idle) / run.open
  const further = (held - partly) / (run.open - part.open)
  const p99 = quantile(sorted, 0.99)
  const base = direct === null ? null : direct.delays.sort((a, b) => a - b)
  const judged = (value, [goal, ceiling]) =>
    value <= goal ? 'within the goal' : value <= ceiling ? 'within the ceiling' : 'OVER THE CEILING'
  console.log(`${process.version}, ${run.open} streams of ${STREAMS}, ${RATE} chunks/s each, ${CALLER} caller`)
  console.log(
    `RSS: idle ${(idle / 1024).toFixed(0)} MB, holding ${(held / 1024).toFixed(0)} MB, after ${(rssKb(gateway.pid) / 1024).toFixed(0)} MB`,
  )
  console.log(`RSS per stream: ${perStream.toFixed(1)} KB (${judged(perStream, LIMITS.rssKb)}: ${LIMITS.rssKb.join(' / ')} KB)`)
  console.log(`RSS per stream of the second half: ${further.toFixed(1)} KB (${judged(further, LIMITS.rssKb)})`)
  console.log(
    `chunks: ${chunks}, gateway CPU ${((busy / SECONDS / 1000) * 100).toFixed(0)} % of a core, ${((busy * 1000) / chunks).toFixed(1)} µs each`,
  )
  if (base !== null)
    console.log(`delay without gateway: p50 ${quantile(base, 0.5).toFixed(2)}, p99 ${quantile(base, 0.99).toFixed(2)} ms`)
  console.log(
    `delay through it: p50 ${quantile(sorted, 0.5).toFixed(2)}, p99 ${p99.toFixed(2)} ms (${judged(p99 - (base === null ? 0 : quantile(base, 0.99)), LIMITS.delayMs)}: ${LIMITS.delayMs.join(' / ')} ms added)`,
  )
  console.log(`event loop delay: p99 ${lag.toFixed(1)} ms`)
  if (took.length > 0)
    console.log(
      `${took.length} reports over ${ROWS} rows meanwhile, each ${quantile(
        took.sort((a, b) => a - b),
        0.5,
      ).toFixed(0)} ms`,
    )
  failed = run.open < STREAMS || perStream > LIMITS.rssKb[1]
} finally {
  source.stop()
  gateway.kill('SIGKILL')
  source.server.closeAllConnections()
  source.server.close()
}
process.exitCode = failed ? 1 : 0

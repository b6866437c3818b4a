// node bench/live-tabs.mjs [--requests 1000] [--warm 2500] [--pairs 2]: instructions of the server for one request, without and with the
// traffic of three tabs of the dashboard on Live, counted by valgrind in turn in one process. The goal is a ratio of at most 1.03.
//
// The tabs of one browser share one stream of events, and each that is in view reads /api/live once a second: three windows side by side
// at 500 requests a second make three reads in 500 requests. The traffic is made here, because a browser on the same cores would slow the
// server, and valgrind cannot tell seconds. Under valgrind fewer events come in one write than outside, so the ratio errs upwards.
//
// Needs `npm run build`, valgrind; some minutes. Loopback only.
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { Agent, get, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '1000' },
    warm: { type: 'string', default: '2500' },
    pairs: { type: 'string', default: '2' },
  },
})
const [REQUESTS, WARM, PAIRS] = [Number(values.requests), Number(values.warm), Number(values.pairs)]
const CONCURRENCY = 16
const READS = 3
const READ_EVERY = 500
const PORT = 9176
const ORIGIN = `http://127.0.0.1:${PORT}`
const dir = mkdtempSync(join(tmpdir(), 'hookgate-tabs-'))
const out = join(dir, 'callgrind.out')
const main = fileURLToPath(new URL('../dist/adapters/cli/main.js', import.meta.url))
const flags = ['--tool=callgrind', '--instr-atstart=no', '--smc-check=all-non-file', `--callgrind-out-file=${out}`]
const server = spawn(
  'valgrind',
  [...flags, process.execPath, '--max-semi-space-size=64', main, 'serve', '--port', String(PORT)],
  {
    cwd: dir,
    stdio: 'ignore',
    env: { ...process.env, GATEWAY_DATA_DIR: join(dir, 'data'), GATEWAY_PRICING_SYNC_ENABLED: 'false' },
  },
)
const agent = new Agent({ keepAlive: true, maxSockets: CONCURRENCY })
const control = (...args) => execFileSync('callgrind_control', [...args, String(server.pid)], { stdio: 'ignore' })
try {
  await listening()
  await post('/api/providers', { provider: 'echo', label: 'main' })
  // Both kinds of round are compiled before the first one counts.
  await load(WARM, false)
  await load(WARM, true)
  const ratios = []
  for (let pair = 0; pair < PAIRS; pair++) {
    const [without, withTabs] = [await counted(false), await counted(true)]
    ratios.push(withTabs / without)
    const thousand = (count) => Math.round(count / REQUESTS / 1000)
    console.log(
      `${thousand(without)} thousand instructions without, ${thousand(withTabs)} with: ${(withTabs / without).toFixed(3)}`,
    )
  }
  console.log(`mean ratio ${(ratios.reduce((sum, one) => sum + one, 0) / PAIRS).toFixed(3)}; goal 1.03`)
} finally {
  server.kill('SIGKILL')
  await new Promise((resolve) => server.once('close', resolve))
  rmSync(dir, { recursive: true, force: true })
}

/** Instructions of all requests of a round. */
async function counted(tabs) {
  control('-i', 'on')
  await load(REQUESTS, tabs)
  control('-i', 'off')
  control('-d')
  let sum = 0
  for (const name of readdirSync(dir).filter((name) => name.startsWith('callgrind.out'))) {
    sum += Number(/^(?:totals|summary): (\d+)/m.exec(readFileSync(join(dir, name), 'utf8'))?.[1] ?? 0)
    rmSync(join(dir, name))
  }
  return sum
}

async function load(count, tabs) {
  const stream = tabs ? get(`${ORIGIN}/api/events`, (answer) => answer.resume()) : null
  stream?.on('error', () => {})
  let left = count
  let done = 0
  const body = { model: 'echo/echo-1', messages: [{ role: 'user', content: 'hi' }], max_tokens: 1 }
  const worker = async () => {
    while (left-- > 0) {
      await post('/v1/chat/completions', body)
      if (tabs && ++done % READ_EVERY === 0)
        await Promise.all(Array.from({ length: READS }, () => call('GET', '/api/live?limit=8')))
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, worker))
  stream?.destroy()
}

function post(path, body) {
  return call('POST', path, JSON.stringify(body))
}

function call(method, path, body) {
  return new Promise((resolve, reject) => {
    const sent = request(ORIGIN + path, { method, agent, headers: { 'content-type': 'application/json' } }, (answer) => {
      answer.resume()
      answer.on('end', resolve)
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

async function listening() {
  for (let tries = 0; tries < 600; tries++) {
    try {
      return await call('GET', '/health/liveliness')
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 500))
    }
  }
  throw new Error('The server does not start.')
}

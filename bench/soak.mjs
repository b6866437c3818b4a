// npm run soak -- --minutes 30: runs a gateway under steady mixed load, from four dialects to four, with callers that leave and upstreams
// that fail. It measures the memory of the process after each garbage collection. Memory that grows every hour is a leak.
//
// --minutes 30   --seed 1
// --rate 200 (requests a second)   --aborted 0.2 (of callers)   --faulty 0.05 (of upstream answers)
// --database postgres://…   instead of SQLite; the database must be empty
// --json                    figures only
//
// Exit code 1 when the heap grows, beyond its own scatter, by more than 1 MB per hour and a twentieth in total (caches and compiled code
// still grow after minutes), when sockets, timers or files stay open, or when the gateway exits.
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { scriptedUpstream } from '../dist/adapters/testing/index.js'
import { startGateway } from './harness/gateway.mjs'
import { seeded } from './harness/seeded.mjs'
import { load } from './soak/load.mjs'
import { steps } from './soak/steps.mjs'
import { trend } from './soak/trend.mjs'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    seed: { type: 'string', default: '1' },
    rate: { type: 'string', default: '200' },
    aborted: { type: 'string', default: '0.2' },
    faulty: { type: 'string', default: '0.05' },
    database: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
})
const totalMs = Number(values.minutes) * 60_000
const random = seeded(Number(values.seed))
const at = (path) => fileURLToPath(new URL(path, import.meta.url))
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const MB = 1 << 20

const dir = mkdtempSync(join(tmpdir(), 'hookgate-soak-'))
const upstream = await scriptedUpstream()
const fed = setInterval(() => {
  upstream.requests.length = 0
  upstream.script(...steps(random, Number(values.faulty), 2000))
}, 1000)
const dialects = ['chat', 'messages', 'responses', 'generate_content']
const gateway = await startGateway({
  dir,
  config: at('./soak/gateway.config.mjs'),
  env: {
    ...Object.fromEntries(dialects.map((dialect) => [`SOAK_${dialect.toUpperCase()}`, upstream.baseUrl(dialect)])),
    ...(values.database && { GATEWAY_DATABASE_URL: values.database }),
  },
  flags: ['--expose-gc', '--import', at('./soak/probe.mjs')],
  ipc: true,
})

const figures = { requests: 0, left: 0, statuses: {}, broken: {} }
const samples = []
try {
  const keys = []
  for (let i = 0; i < 20; i++) keys.push((await gateway.api('POST', '/api/keys', { label: `soak ${i}` })).key)
  const idle = await sample()
  const began = performance.now()
  const over = () => performance.now() - began > totalMs || gateway.child.exitCode !== null
  const loading = load({
    ...{ url: gateway.url, keys, random, over, figures },
    ...{ perSecond: Number(values.rate), aborted: Number(values.aborted) },
  })
  const everyMs = Math.max(1000, totalMs / 60)
  while (!over()) {
    await pause(everyMs)
    if (gateway.child.exitCode !== null) throw new Error(`The gateway ended with ${gateway.child.exitCode}.`)
    const taken = { minute: (performance.now() - began) / 60_000, ...(await sample()) }
    samples.push(taken)
    if (!values.json) console.error(line(taken))
  }
  await loading
  // Longer than idle connections are kept.
  await pause(30_000)
  report(idle, await sample())
} finally {
  clearInterval(fed)
  gateway.child.kill('SIGTERM')
  await gateway.ended
  await upstream.close()
  rmSync(dir, { recursive: true, force: true })
}

async function sample() {
  const [[said]] = await Promise.all([once(gateway.child, 'message'), gateway.child.send('sample')])
  return said
}

function line({ minute, heapUsed, external, rss, fds, loopP99Ms }) {
  const mb = (bytes) => (bytes / MB).toFixed(1).padStart(6)
  const bar = '▇'.repeat(Math.round(heapUsed / MB / 2))
  return `${minute.toFixed(1).padStart(6)} min  heap ${mb(heapUsed)} MB  external ${mb(external)}  rss ${mb(rss)}  files ${String(fds).padStart(4)}  loop p99 ${loopP99Ms.toFixed(1).padStart(5)} ms  ${figures.requests} requests  ${bar}`
}

function report(idle, after) {
  // The first third fills caches and views, and compiles code.
  const settled = samples.filter(({ minute }) => minute > Number(values.minutes) / 3)
  const growth = (of) => trend(settled.map((taken) => ({ x: taken.minute / 60, y: of(taken) / MB })))
  const heap = growth(({ heapUsed, external }) => heapUsed + external)
  const resident = growth(({ rss }) => rss)
  const [first] = settled
  const grown = heap.slope * ((settled.at(-1).minute - first.minute) / 60)
  const leaking = heap.slope - 2 * heap.error > 1 && grown > first.heapUsed / MB / 20
  const behind = Object.entries(after.resources).filter(([kind, count]) => count > (idle.resources[kind] ?? 0) + 2)
  const leaks = [
    ...(leaking ? [`heap: ${heap.slope.toFixed(1)} MB an hour`] : []),
    ...behind.map(([kind, count]) => `${kind}: ${idle.resources[kind] ?? 0} before, ${count} after`),
    ...(after.fds > idle.fds + 4 ? [`files: ${idle.fds} before, ${after.fds} after`] : []),
  ]
  const shown = {
    ...{ minutes: Number(values.minutes), requests: figures.requests, left: figures.left },
    ...{ 'heap MB/h': round(heap.slope), '± heap': round(2 * heap.error) },
    ...{ 'rss MB/h': round(resident.slope), '± rss': round(2 * resident.error), 'rss MB': round(after.rss / MB) },
    ...{ files: `${idle.fds} → ${after.fds}`, 'loop p99 ms': round(Math.max(...settled.map(({ loopP99Ms }) => loopP99Ms))) },
    leaks: leaks.length,
  }
  if (values.json) console.log(JSON.stringify({ ...shown, ...figures, leaks, samples }))
  else {
    console.table([shown])
    console.table([{ ...figures.statuses, ...figures.broken }])
    for (const leak of leaks) console.error(leak)
  }
  if (leaks.length > 0) process.exitCode = 1
}

function round(value) {
  return Math.round(value * 10) / 10
}

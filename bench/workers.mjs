// npm run bench -- --workers 2: the gateway with one process and with several workers, in turn under the same load: requests per second,
// CPU per request of all its processes, and memory.
//
//   --rounds 3   --limits (a client key with rate limits: each request then asks the primary process)
//
// No process is pinned: mock and load share the cores with the gateway, so that on two cores "requests/s" says how much is left for it, and
// only CPU per request compares.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { build, runScenario } from './harness/bench.mjs'
import { startGateway } from './harness/gateway.mjs'
import { untilWorkers } from './harness/workers.mjs'

const { values } = parseArgs({
  options: {
    workers: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '3' },
    limits: { type: 'boolean', default: false },
  },
})
const MOCK = 9170
const mock = spawn(build('mock'), [String(MOCK)], { stdio: 'ignore' })
const results = []
try {
  for (let round = 0; round < Number(values.rounds); round++)
    for (const workers of [1, Number(values.workers)]) results.push({ workers, ...(await measured(workers)) })
} finally {
  mock.kill('SIGKILL')
}
const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)]
console.log(`${process.version}, ${cpus().length} × ${cpus()[0].model}, medians of ${values.rounds}`)
console.table(
  [1, Number(values.workers)].map((workers) => {
    const mine = results.filter((result) => result.workers === workers)
    const of = (name) => median(mine.map((result) => result[name]))
    return {
      workers,
      'requests/s': of('rps'),
      'CPU µs/request': of('us'),
      'p50 ms': of('p50'),
      'p99 ms': of('p99'),
      'RSS MB': of('rss'),
    }
  }),
)

async function measured(workers) {
  const dir = mkdtempSync(join(tmpdir(), 'hookgate-bench-'))
  const gateway = await startGateway({
    dir,
    config: fileURLToPath(new URL('./gateway.config.mjs', import.meta.url)),
    flags: ['--max-semi-space-size=64'],
    env: { BENCH_UPSTREAM: `http://127.0.0.1:${MOCK}`, GATEWAY_WORKERS: String(workers) },
  })
  try {
    if (workers > 1) await untilWorkers(gateway.url, workers)
    const key = values.limits
      ? (await gateway.api('POST', '/api/keys', { rate_limit_rpm: 1e9, rate_limit_tpm: 1e9 })).key
      : undefined
    const o = { base: gateway.url, pid: gateway.child.pid, model: 'openai/mock', mockPort: MOCK, headers: [], short: true }
    const { phases } = await runScenario('s1', { ...o, label: `${workers}`, only: ['json_sat'], ...(key && { key }) })
    const { ok, seconds, cpu, latency_ms, rss_mb, non2xx } = phases.json_sat
    if (non2xx > 0) console.error(`${non2xx} requests were refused`)
    const { p50, p99 } = latency_ms
    return { rps: Math.round(ok / seconds), us: cpu.us_per_request, p50, p99, rss: Math.round(rss_mb.peak) }
  } finally {
    gateway.child.kill('SIGTERM')
    await gateway.ended
    rmSync(dir, { recursive: true, force: true })
  }
}

// npm run bench: this gateway against the bare node proxy, paired in one run on the same machine.
//
//   npm run bench                       3 rounds of S1, S2 and S3, gateway and bare alternating; medians and ratios
//   npm run bench -- --rounds 1         quicker
//   npm run bench -- --s4               2,000 open streams too (memory per stream), and large bodies
//   npm run bench -- --embeddings       one vector of 1,536 floats in base64, passed through untouched; with the other options
//   npm run bench -- --only s1,s3       some of the scenarios: s1 JSON, s2 streams, s3 both translated
//   npm run bench -- --keys             the gateway's calls carry a client key with an allow-list and both rate caps
//   npm run bench -- --kernel           the gateway with keys, connections and the pipeline, nothing else
//   npm run bench -- --limits           the same with rate limits and the request log, and a client key as with --keys
//   npm run bench -- --workers 2        the gateway alone, with 1 and with 2 workers in turn; see bench/workers.mjs
//   npm run bench -- --awake            mock and load never sleep: no target pays for waking them
//   npm run bench -- --json             figures only, as JSON
//   npm run bench -- --node PATH        the gateway and bare on another node, whose version the table names
//   npm run bench -- --growth           small worlds against large ones: keys, virtual models, budgets, plugins, rows (bench/growth.mjs)
//   npm run bench -- --effect --without NAMES   what some plugins, or tabs of the dashboard, cost (bench/effect.mjs)
//   npm run bench -- --start            a process from its start to its first answer (bench/start.mjs); with --cold, --node
//   npm run bench -- --table            bare, kernel and the whole gateway in turns of seconds (bench/table.mjs); with --peers, --node, --workers
//
// "Same rate": both get the same number of requests per second, three quarters of what the gateway handles on one core. Every process
// needs less time per request when more requests can be read at once, so only equal load is comparable.
//
// Needs a C compiler and two cores; the target is pinned to CPU 0, mock and load to CPU 1. Loopback only, limited in time.
import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, runScenario } from './harness/bench.mjs'

const args = process.argv.slice(2)
const OTHERS = { growth: 'growth', effect: 'effect', start: 'start', table: 'table', peers: 'table', workers: 'workers' }
for (const [flag, file] of Object.entries(OTHERS)) {
  if (!args.includes(`--${flag}`)) continue
  await import(`./${file}.mjs`)
  process.exit()
}
const node = args.includes('--node') ? args[args.indexOf('--node') + 1] : process.execPath
const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim()
const rounds = Number(args[args.indexOf('--rounds') + 1]) || 3
const json = args.includes('--json')
const limits = args.includes('--limits')
const withKeys = limits || args.includes('--keys')
const only = args.includes('--only') ? args[args.indexOf('--only') + 1].split(',') : null
const chosen = args.includes('--embeddings') ? ['embeddings'] : only
const scenarios = chosen ?? (args.includes('--s4') ? ['s1', 's2', 's3', 's4', 's5', 's7'] : ['s1', 's2', 's3'])
const at = (path) => fileURLToPath(new URL(path, import.meta.url))
const MOCK = 9170
if (args.includes('--awake')) process.env.BENCH_AWAKE = '1'
const say = (line) => json || process.stderr.write(`${line}\n`)

const mock = spawn('taskset', ['-c', '1', build('mock'), String(MOCK)], { stdio: 'ignore' })
const dataDir = mkdtempSync(join(tmpdir(), 'hookgate-bench-'))
const upstream = `http://127.0.0.1:${MOCK}`
const targets = {
  bare: {
    port: 9171,
    model: 'openai/mock',
    command: [at('./harness/anchors/bare.mjs')],
    env: { PORT: '9171', UPSTREAM: upstream },
  },
  hookgate: {
    port: 9172,
    model: 'openai/mock',
    command: [
      '--max-semi-space-size=64',
      at('../dist/adapters/cli/main.js'),
      'serve',
      '--config',
      at(limits || args.includes('--kernel') ? './kernel.config.mjs' : './gateway.config.mjs'),
      '--port',
      '9172',
    ],
    env: {
      ...(limits && { BENCH_LIMITS: '1' }),
      ...{ BENCH_UPSTREAM: upstream, GATEWAY_DATA_DIR: dataDir, GATEWAY_PRICING_SYNC_ENABLED: 'false' },
    },
  },
}

async function listening(port) {
  for (let tries = 0; tries < 100; tries++) {
    try {
      await fetch(`http://127.0.0.1:${port}/healthz`)
      return
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  throw new Error(`Nothing listens on ${port}.`)
}

/** None of its rules matches, but all of them are checked. */
async function clientKey(port) {
  const limits = { allowed_models: ['nobody/*', 'openai/mock*'], rate_limit_rpm: 1e9, rate_limit_tpm: 1e9 }
  const response = await fetch(`http://127.0.0.1:${port}/api/keys`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(limits),
  })
  return (await response.json()).key
}

/** One process per scenario and round: memory figures start from a fresh heap. */
async function measure(name, scenario, rate) {
  const target = targets[name]
  const child = spawn('taskset', ['-c', '0', node, ...target.command], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, ...target.env },
  })
  try {
    await listening(target.port)
    const key = withKeys && name === 'hookgate' ? await clientKey(target.port) : undefined
    // The bare proxy does not rewrite model names; the mock uses the last part.
    return await runScenario(scenario, {
      base: `http://127.0.0.1:${target.port}`,
      pid: child.pid,
      model: target.model,
      mockPort: MOCK,
      headers: [],
      ...(key && { key }),
      rate,
      label: name,
      cpu: 1,
      short: true,
    })
  } finally {
    child.kill('SIGKILL')
  }
}

const figures = {
  'embeddings CPU µs/request': ['embeddings', (p) => p.json_sat.cpu.us_per_request],
  'embeddings requests/s': ['embeddings', (p) => p.json_sat.ok / p.json_sat.seconds],
  'embeddings CPU µs/request, same rate': ['embeddings', (p) => p.json_rate.cpu.us_per_request],
  'embeddings same rate, requests/s': ['embeddings', (p) => p.json_rate.ok / p.json_rate.seconds],
  'embeddings 200/s p50 ms': ['embeddings', (p) => p.json_200rps.latency_ms?.p50],
  'embeddings 200/s p99 ms': ['embeddings', (p) => p.json_200rps.latency_ms?.p99],
  's1 CPU µs/request': ['s1', (p) => p.json_sat.cpu.us_per_request],
  's1 requests/s': ['s1', (p) => p.json_sat.rps ?? p.json_sat.ok / p.json_sat.seconds],
  's1 CPU µs/request, same rate': ['s1', (p) => p.json_rate.cpu.us_per_request],
  's1 same rate, requests/s': ['s1', (p) => p.json_rate.ok / p.json_rate.seconds],
  's1 200/s p50 ms': ['s1', (p) => p.json_200rps.latency_ms?.p50],
  's1 200/s p99 ms': ['s1', (p) => p.json_200rps.latency_ms?.p99],
  's2 CPU µs/chunk paced': ['s2', (p) => p.sse_sat.cpu.us_per_chunk],
  's2 CPU µs/chunk burst': ['s2', (p) => p.sse_burst.cpu.us_per_chunk],
  's2 first token p50 ms': ['s2', (p) => p.sse_20rps.ttft_ms?.p50],
  's2 first token p99 ms': ['s2', (p) => p.sse_20rps.ttft_ms?.p99],
  's3 CPU µs/request (messages → chat)': ['s3', (p) => p.json_sat.cpu.us_per_request],
  's3 CPU µs/request, same rate (messages → chat)': ['s3', (p) => p.json_rate.cpu.us_per_request],
  's3 CPU µs/chunk (messages → chat)': ['s3', (p) => p.sse_sat.cpu.us_per_chunk],
  's4 RSS KB/stream': ['s4', (p) => p.open2000_5cps.rss_mb.kb_per_stream],
  's4 chunk delay p99 ms': ['s4', (p) => p.open2000_5cps.chunk_delay_ms?.p99],
  's5 1 MB body CPU ms': ['s5', (p) => p.body_1mb.cpu.us_per_request / 1000],
  's5 agent of 1 MB CPU ms': ['s5', (p) => p.agent_1mb.cpu.us_per_request / 1000],
  's7 agent of 1 MB CPU ms (messages → chat)': ['s7', (p) => p.agent_1mb.cpu.us_per_request / 1000],
  's5 10 MB image CPU ms': ['s5', (p) => p.image_10mb.cpu.us_per_request / 1000],
}

const results = []
try {
  for (let round = 1; round <= rounds; round++) {
    for (const scenario of scenarios) {
      let rate
      // The gateway first, because it sets the rate for both.
      for (const name of ['hookgate', 'bare']) {
        say(`round ${round}/${rounds}  ${scenario}  ${name}`)
        const result = await measure(name, scenario, rate)
        rate = result.rate
        results.push(result)
      }
    }
  }
} finally {
  mock.kill('SIGKILL')
  rmSync(dataDir, { recursive: true, force: true })
}

const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)]
const table = Object.entries(figures)
  .filter(([, [scenario]]) => scenarios.includes(scenario))
  .map(([title, [scenario, read]]) => {
    const of = (name) =>
      median(
        results
          .filter((r) => r.scenario === scenario && r.label === name)
          .map((r) => read(r.phases))
          .filter((x) => x !== undefined && x !== null),
      )
    const [bare, ours] = [of('bare'), of('hookgate')]
    return { figure: title, bare, hookgate: ours, ratio: bare && ours ? Math.round((ours / bare) * 100) / 100 : null }
  })

mkdirSync(at('./results'), { recursive: true })
writeFileSync(
  at('./results/latest.json'),
  JSON.stringify({ node: version, cpu: cpus()[0].model, at: new Date().toISOString(), table, results }, null, 1),
)
if (json) console.log(JSON.stringify(table, null, 1))
else {
  console.log(`${version}, ${cpus()[0].model}, medians of ${rounds}`)
  console.table(Object.fromEntries(table.map(({ figure, ...row }) => [figure, row])))
}

// npm run bench -- --peers [--rounds 3] [--only s1,s2]: hookgate, bare and Portkey's gateway against one mock upstream, in turn. It installs
// Portkey's package into a temporary directory, so it needs the npm registry. Each process is pinned to CPU 0, mock and load to CPU 1.
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { build, runScenario } from './harness/bench.mjs'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    only: { type: 'string', default: 's1,s2' },
    peers: { type: 'boolean' },
  },
})
/** The gateway would refuse requests on a busy machine, and the figure would be meaningless. */
const UNSHED = { GATEWAY_OVERLOAD_LOOP_DELAY_MS: '0' }
const PORTKEY = '@portkey-ai/gateway'
const VERSION = '1.15.2'
const MOCK = 9175
const upstream = `http://127.0.0.1:${MOCK}`
const at = (path) => fileURLToPath(new URL(path, import.meta.url))
const say = (line) => process.stderr.write(`${line}\n`)

const folder = mkdtempSync(join(tmpdir(), 'hookgate-peers-'))
say(`installing ${PORTKEY}@${VERSION}`)
execFileSync('npm', ['install', '--prefix', folder, '--no-save', '--no-audit', '--no-fund', `${PORTKEY}@${VERSION}`], {
  stdio: 'ignore',
})

const targets = {
  bare: {
    port: 9176,
    model: 'openai/mock',
    command: [at('./harness/anchors/bare.mjs')],
    env: { PORT: '9176', UPSTREAM: upstream },
  },
  hookgate: hookgate('./gateway.config.mjs', 9177),
  'hookgate, kernel': hookgate('./kernel.config.mjs', 9178),
  [`${PORTKEY} ${VERSION}`]: {
    port: 9179,
    model: 'mock',
    command: [join(folder, 'node_modules', PORTKEY, 'build/start-server.js'), '--port=9179', '--headless'],
    headers: ['x-portkey-provider: openai', `x-portkey-custom-host: ${upstream}/v1`, 'Authorization: Bearer sk-bench'],
    env: { TRUSTED_CUSTOM_HOSTS: '127.0.0.1' },
  },
}

function hookgate(config, port) {
  return {
    port,
    model: 'openai/mock',
    command: [
      '--max-semi-space-size=64',
      at('../dist/adapters/cli/main.js'),
      'serve',
      '--config',
      at(config),
      '--port',
      String(port),
    ],
    env: {
      BENCH_UPSTREAM: upstream,
      GATEWAY_DATA_DIR: join(folder, `data-${port}`),
      GATEWAY_PRICING_SYNC_ENABLED: 'false',
      ...UNSHED,
    },
  }
}

const figures = {
  s1: { 'CPU µs/request': (p) => p.json_sat.cpu.us_per_request, 'requests/s': (p) => p.json_sat.ok / p.json_sat.seconds },
  s2: { 'CPU µs/chunk': (p) => p.sse_sat.cpu.us_per_chunk, 'first token p50 ms': (p) => p.sse_20rps.ttft_ms?.p50 },
}
const measured = Object.fromEntries(Object.keys(targets).map((name) => [name, {}]))
const mock = spawn('taskset', ['-c', '1', build('mock'), String(MOCK)], { stdio: 'ignore' })
try {
  for (let round = 1; round <= Number(values.rounds); round++) {
    for (const scenario of values.only.split(',')) {
      for (const [name, target] of Object.entries(targets)) {
        say(`round ${round}/${values.rounds}  ${scenario}  ${name}`)
        const phases = await phasesOf(target, scenario)
        for (const [title, read] of Object.entries(figures[scenario])) {
          measured[name][title] ??= []
          measured[name][title].push(read(phases))
        }
      }
    }
  }
} finally {
  mock.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
}

const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1]
const rounded = (value) => Math.round(value * 10) / 10
console.log(`${process.version}, ${cpus()[0].model}, medians of ${values.rounds}`)
console.table(
  Object.fromEntries(
    Object.entries(measured).map(([name, of]) => {
      const ratio = median(of['CPU µs/request'] ?? []) / median(measured.bare['CPU µs/request'] ?? [])
      const row = Object.fromEntries(Object.entries(of).map(([title, list]) => [title, rounded(median(list))]))
      return [name, Number.isNaN(ratio) ? row : { ...row, 'CPU / bare': Math.round(ratio * 100) / 100 }]
    }),
  ),
)

/** @throws Error when a request failed, because then the figures are meaningless. */
async function phasesOf(target, scenario) {
  const child = spawn('taskset', ['-c', '0', process.execPath, ...target.command], {
    stdio: 'ignore',
    env: { ...process.env, NODE_ENV: 'production', ...target.env },
  })
  try {
    await listening(target.port)
    const base = `http://127.0.0.1:${target.port}`
    const { phases } = await runScenario(scenario, {
      ...{ base, pid: child.pid, model: target.model, mockPort: MOCK, headers: target.headers ?? [] },
      ...{ label: target.model, cpu: 1, short: true, only: ['json_sat', 'sse_sat', 'sse_20rps'] },
    })
    for (const [name, { ok, non2xx }] of Object.entries(phases))
      if (non2xx > 0 || ok === 0) throw new Error(`${base} ${name}: ${ok} answers, ${non2xx} refusals.`)
    return phases
  } finally {
    child.kill('SIGKILL')
  }
}

async function listening(port) {
  for (let tries = 0; tries < 200; tries++) {
    try {
      await fetch(`http://127.0.0.1:${port}/healthz`)
      return
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  throw new Error(`Nothing listens on ${port}.`)
}

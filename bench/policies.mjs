// node bench/policies.mjs [--rounds 3] [--seconds 3]: CPU per JSON request of the built gateway in three variants. The first has no policy
// plugins, and the second has all with their defaults (all disabled). The third enables guardrails (secrets and PII, redacted), exact
// cache, tool-output filters, breakpoints and replayed reasoning, once with every request a cache miss and once with every request a hit.
// The text has nothing to redact, so only the check is measured.
//
// Needs `npm run build`, a C compiler and two cores; the gateway is pinned to CPU 0, mock and load to CPU 1. Each variant and round has
// its own process, and each round starts with another variant. Loopback only, limited in time.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { build, runScenario } from './harness/bench.mjs'
import { startGateway } from './harness/gateway.mjs'

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '3' }, seconds: { type: 'string', default: '3' } } })
const rounds = Number(values.rounds)
const MOCK = 9173
const VARIANTS = {
  without: 'without policy plugins',
  idle: 'as shipped, idle',
  misses: 'switched on, cache misses',
  hits: 'switched on, cache hits',
}

const mock = spawn('taskset', ['-c', '1', build('mock'), String(MOCK)], { stdio: 'ignore' })
const figures = Object.fromEntries(Object.keys(VARIANTS).map((mode) => [mode, []]))
try {
  for (let round = 0; round < rounds; round++) {
    const modes = Object.keys(VARIANTS)
    for (const mode of [...modes.slice(round % modes.length), ...modes.slice(0, round % modes.length)]) {
      process.stderr.write(`round ${round + 1}/${rounds}  ${VARIANTS[mode]}\n`)
      figures[mode].push(await measured(mode))
    }
  }
} finally {
  mock.kill('SIGKILL')
}

const median = (list) => {
  const sorted = [...list].sort((a, b) => a - b)
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2
}
const base = figures.without.map(({ cpu }) => cpu)
const ratio = (cpu, of) => Math.round((of(cpu) / of(base)) * 100) / 100
const least = (list) => Math.min(...list)
console.log(`${process.version}, ${cpus()[0].model}, medians of ${rounds}`)
console.table(
  Object.fromEntries(
    Object.entries(VARIANTS).map(([mode, title]) => {
      const cpu = figures[mode].map((figure) => figure.cpu)
      const row = {
        'CPU µs/request': Math.round(median(cpu)),
        ratio: ratio(cpu, median),
        lowest: least(cpu),
        // Other load on the machine makes a round slower, never faster.
        'ratio of lowest': ratio(cpu, least),
        highest: Math.max(...cpu),
        'requests/s': Math.round(median(figures[mode].map(({ rps }) => rps))),
      }
      return [title, row]
    }),
  ),
)

/** @throws Error when a request failed or took the wrong path, because then the figure is meaningless. */
async function measured(mode) {
  const dir = mkdtempSync(join(tmpdir(), 'hookgate-policies-'))
  const gateway = await startGateway({
    dir,
    config: fileURLToPath(new URL('./policies.config.mjs', import.meta.url)),
    env: { BENCH_POLICIES: mode, BENCH_UPSTREAM: `http://127.0.0.1:${MOCK}` },
    flags: ['--max-semi-space-size=64'],
    cpu: 0,
  })
  try {
    const { phases } = await runScenario('s1', {
      ...{ base: gateway.url, pid: gateway.child.pid, model: 'openai/mock', mockPort: MOCK, headers: [] },
      ...{ label: mode, cpu: 1, short: true, scale: Number(values.seconds) / 3, only: ['json_sat'] },
    })
    const { ok, non2xx, seconds, cpu, upstream } = phases.json_sat
    if (non2xx > 0 || ok === 0) throw new Error(`${VARIANTS[mode]}: ${ok} answers, ${non2xx} refusals.`)
    const share = upstream.requests / ok
    if (mode === 'hits' ? share > 0.01 : share < 0.99)
      throw new Error(`${VARIANTS[mode]}: ${upstream.requests} of ${ok} requests went upstream.`)
    return { cpu: cpu.us_per_request, rps: ok / seconds }
  } finally {
    gateway.child.kill('SIGKILL')
    await gateway.ended
    rmSync(dir, { recursive: true, force: true })
  }
}

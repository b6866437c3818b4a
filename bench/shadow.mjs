// node bench/shadow.mjs [--rounds 7] [--seconds 4] [--rate 100]: latency for callers with shadow evaluation off, and on for every request.
// Both gateways run at once and get the same load in turn, so that both see the same machine.
//
// Needs `npm run build`, a C compiler and two cores. Loopback only, limited in time.
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { bodies, build } from './harness/bench.mjs'
import { startGateway } from './harness/gateway.mjs'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '4' },
    rate: { type: 'string', default: '100' },
  },
})
const MOCK = 9176
const PRICES = [
  { model: 'up/mock', input: 10, output: 40 },
  { model: 'up/mock-cheap', input: 1, output: 4 },
]
const config = fileURLToPath(new URL('./shadow.config.mjs', import.meta.url))
const dir = mkdtempSync(join(tmpdir(), 'hookgate-shadow-bench-'))
const body = join(dir, 'body.json')
writeFileSync(body, JSON.stringify({ ...bodies.openai('work', false), model: 'work' }))
const mock = spawn('taskset', ['-c', '1', build('mock'), String(MOCK)], { stdio: 'ignore' })
const gateways = []

async function gateway(enabled) {
  const env = {
    BENCH_UPSTREAM: `http://127.0.0.1:${MOCK}`,
    GATEWAY_SHADOW_EVAL_ENABLED: String(enabled),
    GATEWAY_SHADOW_SAMPLE_RATE: '1',
    GATEWAY_SHADOW_DAILY_USD_BUDGET: '1000',
  }
  const data = mkdtempSync(join(dir, 'data-'))
  const started = await startGateway({ dir: data, config, env, cpu: 0, flags: ['--max-semi-space-size=64'] })
  gateways.push(started)
  await started.api('PUT', '/api/pricing/overrides', { data: PRICES })
  return started
}

/** p50 and p99 of one turn, ms. */
function turn({ url }) {
  const flags = {
    port: new URL(url).port,
    path: '/v1/chat/completions',
    body,
    conns: 16,
    rate: values.rate,
    seconds: values.seconds,
  }
  const args = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, String(value)])
  const { ok, requests, latency_ms } = JSON.parse(
    execFileSync('taskset', ['-c', '1', build('load'), ...args], { encoding: 'utf8' }),
  )
  if (ok !== requests || ok === 0) throw new Error(`${ok} of ${requests} requests were answered.`)
  return [latency_ms.p50, latency_ms.p99]
}

const median = (all) => all.toSorted((a, b) => a - b)[all.length >> 1]
const shown = (all) => `${median(all).toFixed(2)} (${Math.min(...all).toFixed(2)}–${Math.max(...all).toFixed(2)})`

try {
  const variants = { off: await gateway(false), 'on, every request sampled': await gateway(true) }
  const figures = Object.fromEntries(Object.keys(variants).map((name) => [name, []]))
  for (const each of Object.values(variants)) turn(each)
  for (let round = 0; round < Number(values.rounds); round++) {
    const names = Object.keys(variants)
    for (const name of round % 2 === 0 ? names : names.reverse()) {
      process.stderr.write(`round ${round + 1}/${values.rounds}  ${name}\n`)
      figures[name].push(turn(variants[name]))
    }
  }
  // The last samples may still wait.
  await new Promise((resolve) => setTimeout(resolve, 4000))
  const { data, summary } = await variants['on, every request sampled'].api('GET', '/api/shadow')
  const row = (all) => ({ 'p50 ms (range)': shown(all.map(([p50]) => p50)), 'p99 ms (range)': shown(all.map(([, p99]) => p99)) })
  console.table(Object.fromEntries(Object.entries(figures).map(([name, all]) => [name, row(all)])))
  console.log(`${data[0]?.id ?? 0} samples taken, ${summary[0]?.samples ?? 0} replayed and scored so far`)
} finally {
  for (const { child } of gateways) child.kill('SIGKILL')
  mock.kill('SIGKILL')
  rmSync(dir, { recursive: true, force: true })
}

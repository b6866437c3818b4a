// node bench/growth.mjs [--rounds 3] [--seconds 3] [--only keys,rows] [--rows 10000000]: CPU per JSON request of the built gateway at
// saturation, in a small world and in a large one: client keys, virtual models, budgets, idle plugins, usage rows, replicas.
// `npm run bench -- --growth` runs it.
//
// Needs `npm run build`, a C compiler and two cores; the gateway is pinned to CPU 0, mock and load to CPU 1. The worlds are filled once,
// then small and large take turns. Replicas need PostgreSQL and Redis; one of them has the load. Loopback only, limited in time.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { replicaSite } from './growth/replicas.mjs'
import { addBudgets, addKeys, addRows, addVirtualModels } from './growth/worlds.mjs'
import { build, runScenario } from './harness/bench.mjs'
import { startGateway } from './harness/gateway.mjs'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '3' },
    only: { type: 'string' },
    rows: { type: 'string', default: '10000000' },
    growth: { type: 'boolean' },
  },
})
const MOCK = 9174
/** `fill` adds a number of things through the API of a running gateway, or to the database of a stopped one, and may return how to call it. */
const WORLDS = {
  keys: { title: 'client keys', small: 1, large: 100_000, fill: addKeys },
  models: { title: 'virtual models', small: 1, large: 1000, fill: addVirtualModels },
  budgets: { title: 'budgets', small: 10, large: 10_000, fill: addBudgets },
  plugins: { title: 'idle plugins', small: 0, large: 40, env: (count) => ({ BENCH_IDLE_PLUGINS: String(count) }) },
  rows: {
    ...{ title: 'usage and log rows', small: 0, large: Number(values.rows), stopped: addRows },
    // Ten million log rows are above the default limit of the log's size: the gateway would delete rows during the measurement.
    env: () => ({ GATEWAY_LOG_RETENTION_MAX_BYTES: '0' }),
  },
  replicas: { title: 'replicas on PostgreSQL and Redis', small: 1, large: 4, site: replicaSite, companions: (size) => size - 1 },
}
const chosen = values.only === undefined ? Object.keys(WORLDS) : values.only.split(',')

const mock = spawn('taskset', ['-c', '1', build('mock'), String(MOCK)], { stdio: 'ignore' })
const table = {}
try {
  for (const name of chosen) table[WORLDS[name].title] = await compared(WORLDS[name])
} finally {
  mock.kill('SIGKILL')
}
console.log(`${process.version}, ${cpus()[0].model}, CPU µs per request at saturation, ${values.rounds} rounds`)
console.table(table)

async function compared(world) {
  const sizes = [world.small, world.large]
  const made = []
  try {
    for (const size of sizes) made.push(await filled(world, size))
    const cpu = [[], []]
    for (let round = 0; round < Number(values.rounds); round++) {
      for (const at of round % 2 === 0 ? [0, 1] : [1, 0]) {
        process.stderr.write(`${world.title}: round ${round + 1}/${values.rounds}, ${sizes[at]}\n`)
        cpu[at].push(await measured(world, sizes[at], made[at]))
      }
    }
    const [small, large] = cpu.map(median)
    const least = cpu.map((list) => Math.min(...list))
    const ratio = (a, b) => Math.round((b / a) * 100) / 100
    // Other load on the machine makes a round slower, never faster.
    return { from: sizes[0], to: sizes[1], small, large, ratio: ratio(small, large), 'ratio of lowest': ratio(...least) }
  } finally {
    for (const { dir, site } of made) {
      rmSync(dir, { recursive: true, force: true })
      await site?.end()
    }
  }
}

function start(world, size, { dir, site }, cpu = 0) {
  return startGateway({
    dir,
    config: fileURLToPath(new URL('./growth/gateway.config.mjs', import.meta.url)),
    env: { BENCH_UPSTREAM: `http://127.0.0.1:${MOCK}`, GATEWAY_OVERLOAD_LOOP_DELAY_MS: '0', ...world.env?.(size), ...site?.env },
    flags: ['--max-semi-space-size=64'],
    cpu,
  })
}

async function filled(world, size) {
  const dir = mkdtempSync(join(tmpdir(), 'hookgate-growth-'))
  const site = await world.site?.(size)
  const gateway = await start(world, size, { dir, site })
  let call = {}
  try {
    const step = (done) => process.stderr.write(`\r${world.title}: ${done} of ${size} made `)
    call = (await world.fill?.(gateway.api, size, step)) ?? {}
    if (world.fill) process.stderr.write('\n')
    // A row of each kind to copy from.
    if (world.stopped)
      await gateway.api('POST', '/v1/chat/completions', { model: 'openai/mock', messages: [{ role: 'user', content: 'hi' }] })
  } finally {
    gateway.child.kill('SIGTERM')
    await gateway.ended
  }
  await world.stopped?.(join(dir, 'gateway.db'), size)
  return { dir, site, call }
}

/** @throws Error when a request failed, because then the figure is meaningless. */
async function measured(world, size, made) {
  const { call } = made
  const gateway = await start(world, size, made)
  const others = []
  for (let at = 0; at < (world.companions?.(size) ?? 0); at++)
    others.push(await start(world, size, { ...made, dir: join(made.dir, `replica-${at}`) }, 1))
  try {
    const { phases } = await runScenario('s1', {
      ...{ base: gateway.url, pid: gateway.child.pid, model: call.model ?? 'openai/mock', mockPort: MOCK, headers: [] },
      ...{ cpu: 1, short: true, scale: Number(values.seconds) / 3, only: ['json_sat'], ...(call.key && { key: call.key }) },
    })
    const { ok, non2xx, cpu } = phases.json_sat
    if (non2xx > 0 || ok === 0) throw new Error(`${world.title}, ${size}: ${ok} answers, ${non2xx} refusals.`)
    return cpu.us_per_request
  } finally {
    for (const { child, ended } of [gateway, ...others]) {
      child.kill('SIGTERM')
      await ended
    }
  }
}

function median(list) {
  const sorted = [...list].sort((a, b) => a - b)
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2
}

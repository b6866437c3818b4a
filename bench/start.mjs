// npm run bench -- --start [--node PATH]... [--rounds 11] [--cold] [--json]: from the start of a process to its first answer, in turns: the
// bare proxy, the gateway with the configuration of this repository, whose provider is echo, and the gateway with a connection to the mock.
//
//   --cold   empties the page cache of the machine before each start, so that each file is read from its disk; only root can
//
// The time by the clock, the CPU time and the memory of the process at its first answer. Linux only (reads /proc). Loopback only.
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { bodies, build, usage } from './harness/bench.mjs'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '11' },
    node: { type: 'string', multiple: true, default: [] },
    cold: { type: 'boolean', default: false },
    start: { type: 'boolean' },
    json: { type: 'boolean', default: false },
  },
})
const MOCK = 9250
const PORT = 9251
const at = (path) => fileURLToPath(new URL(path, import.meta.url))
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const folder = mkdtempSync(join(tmpdir(), 'hookgate-start-'))
const upstream = `http://127.0.0.1:${MOCK}`
const main = at('../dist/adapters/cli/main.js')

const serve = (name, ...more) => [main, 'serve', '--port', String(PORT), '--data-dir', join(folder, name), ...more]
const TARGETS = [
  { title: 'bare', args: [at('harness/anchors/bare.mjs')], model: 'openai/mock' },
  { title: 'echo', args: serve('echo', '--config', at('../gateway.config.ts')), model: 'echo/echo' },
  { title: 'a connection', args: serve('mock', '--config', at('start.config.mjs')), model: 'openai/mock' },
]
const env = {
  ...process.env,
  NODE_ENV: 'production',
  PORT: String(PORT),
  UPSTREAM: upstream,
  BENCH_UPSTREAM: upstream,
  GATEWAY_PRICING_SYNC_ENABLED: 'false',
}
const nodes = [process.execPath, ...values.node].map((path) => ({
  path,
  version: execFileSync(path, ['--version'], { encoding: 'utf8' }).trim(),
}))
const figures = new Map()
const mock = spawn('taskset', ['-c', '1', build('mock'), String(MOCK)], { stdio: 'ignore' })
try {
  await sleep(300)
  for (let round = 0; round <= Number(values.rounds); round++) {
    for (const node of nodes) {
      for (const target of TARGETS) {
        const figure = await startOf(node, target)
        // The first round makes the data directories.
        if (round === 0) continue
        const name = `${target.title}, ${node.version}`
        figures.set(name, [...(figures.get(name) ?? []), figure])
        process.stderr.write(`round ${round}/${values.rounds}  ${name}  ${figure.clock.toFixed(0)} ms\n`)
      }
    }
  }
} finally {
  mock.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
}
print()

async function startOf(node, target) {
  if (values.cold) emptyPageCache()
  const from = performance.now()
  const child = spawn(node.path, target.args, { stdio: 'ignore', env })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  try {
    while ((await answerOf(target.model)) !== 200) {
      if (performance.now() - from > 30_000) throw new Error(`${target.title} gives no answer after 30 seconds.`)
      await sleep(2)
    }
    const clock = performance.now() - from
    const { user, sys, rss } = usage(child.pid)
    return { clock, cpu: Math.round((user + sys) * 1000), rss }
  } finally {
    child.kill('SIGTERM')
    await ended
  }
}

/** Returns the status of one chat request, 0 if nothing listens. */
function answerOf(model) {
  return new Promise((resolve) => {
    const headers = { 'content-type': 'application/json' }
    const req = http.request({
      host: '127.0.0.1',
      port: PORT,
      path: '/v1/chat/completions',
      method: 'POST',
      agent: false,
      headers,
    })
    req.on('error', () => resolve(0))
    req.on('response', (res) => {
      res.resume()
      res.on('end', () => resolve(res.statusCode))
    })
    req.end(JSON.stringify(bodies.openai(model, false)))
  })
}

function emptyPageCache() {
  execFileSync('sync')
  writeFileSync('/proc/sys/vm/drop_caches', '1')
}

function print() {
  const rows = [...figures].map(([title, list]) => {
    const of = (part) => list.map((figure) => figure[part])
    const bare = figures.get(`bare, ${title.split(', ').at(-1)}`)
    return {
      title,
      clock: median(of('clock')),
      lowest: Math.min(...of('clock')),
      ratio: median(of('clock')) / median(bare.map(({ clock }) => clock)),
      lowestRatio: Math.min(...of('clock')) / Math.min(...bare.map(({ clock }) => clock)),
      cpu: median(of('cpu')),
      rss: median(of('rss')),
    }
  })
  if (values.json)
    return console.log(
      JSON.stringify({
        at: new Date().toISOString(),
        cpu: cpus()[0].model,
        rounds: Number(values.rounds),
        cold: values.cold,
        rows,
      }),
    )
  console.log(
    `${cpus()[0].model}, start to first answer, medians of ${values.rounds} rounds${values.cold ? ', empty page cache' : ''}`,
  )
  console.table(
    Object.fromEntries(
      rows.map(({ title, clock, lowest, ratio, lowestRatio, cpu, rss }) => [
        title,
        {
          'ms (lowest)': `${clock.toFixed(0)} (${lowest.toFixed(0)})`,
          '× bare (lowest)': `${ratio.toFixed(2)} (${lowestRatio.toFixed(2)})`,
          'CPU ms': cpu,
          'RSS MB': Math.round(rss),
        },
      ]),
    ),
  )
}

function median(list) {
  return [...list].sort((a, b) => a - b)[list.length >> 1]
}

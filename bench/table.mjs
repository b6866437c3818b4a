// npm run bench -- --table [--node PATH]... [--workers 4] [--peers] [--bodies] [--rounds 5] [--seconds 2] [--json]: the table of docs/performance.md. CPU
// time per request and per chunk of the bare proxy, the kernel and the whole gateway, each at its own saturation, on this Node and on each
// other --node.
//
//   --bodies      bodies of a megabyte and an image of 10 MB too, in ms
//   --workers 4   the gateway with four worker processes too: the CPU time of all of them, on one core
//   --warm 0.1    a tenth of the warm-up, to try the command out
//   --peers       Portkey's gateway too; it installs the package into a temporary directory, so it needs the npm registry
//
// All targets run for the whole time and take turns of a few seconds, after a second that does not count: a neighbour that slows the machine
// down slows all of them down. The ratio is the median of the ratios to bare in the same round; its range follows. Targets are pinned to
// CPU 0, mock and load to CPU 1.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { bodies, build, runPhase } from './harness/bench.mjs'
import { started, targetsOf } from './table/targets.mjs'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
    warm: { type: 'string', default: '1' },
    node: { type: 'string', multiple: true, default: [] },
    workers: { type: 'string', default: '1' },
    peers: { type: 'boolean', default: false },
    bodies: { type: 'boolean', default: false },
    table: { type: 'boolean' },
    json: { type: 'boolean', default: false },
  },
})
const MOCK = 9209
const SMALL = [
  {
    title: 'chat → chat',
    unit: 'request',
    path: '/v1/chat/completions',
    body: (model) => bodies.openai(model, false),
    warm: 25_000,
  },
  {
    title: 'messages → chat',
    unit: 'request',
    path: '/v1/messages',
    body: (model) => bodies.anthropic(model, false),
    warm: 15_000,
  },
  {
    ...{ title: 'chunk, chat → chat', unit: 'chunk', path: '/v1/chat/completions', warm: 1000 },
    body: (model) => bodies.openai(`${model}-c100-d1000`, true),
  },
  { title: 'embeddings', unit: 'request', path: '/v1/embeddings', body: (model) => bodies.embeddings(model), warm: 5000 },
]
const CHAT = { unit: 'body', path: '/v1/chat/completions' }
const LARGE = [
  { ...CHAT, title: '1 MB', body: (model) => bodies.big(model, 1 << 20), conns: 8, warm: 300 },
  { ...CHAT, title: '1 MB of tool calls', body: (model) => bodies.agent(model, 1 << 20), conns: 8, warm: 300 },
  { ...CHAT, title: 'image of 10 MB', body: (model) => bodies.image(model, 10 << 20), conns: 4, warm: 40 },
]
const PHASES = values.bodies ? [...SMALL, ...LARGE] : SMALL
const say = (line) => process.stderr.write(`${line}\n`)
const folder = mkdtempSync(join(tmpdir(), 'hookgate-table-'))
const upstream = `http://127.0.0.1:${MOCK}`
const mock = spawn('taskset', ['-c', '1', build('mock'), String(MOCK)], { stdio: 'ignore' })
const running = []
try {
  const nodes = [process.execPath, ...values.node]
  for (const target of targetsOf({ nodes, upstream, folder, workers: Number(values.workers), peers: values.peers }))
    running.push(await started(target))
  for (const target of running) await warm(target)
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const phase of PHASES) {
      for (const target of round % 2 === 0 ? running : running.toReversed()) {
        if (target.lacks?.includes(phase.title)) continue
        say(`round ${round + 1}/${values.rounds}  ${phase.title}  ${target.title}, Node ${target.version}`)
        target.figures ??= {}
        target.figures[phase.title] ??= []
        target.figures[phase.title].push(await measured(target, phase, Number(values.seconds)))
      }
    }
  }
} finally {
  for (const { child } of running) child.kill('SIGTERM')
  mock.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
}
print()

/** Compilers count calls, not seconds, so a slow machine gets as many requests as a fast one, within a minute for each phase and process. */
async function warm(target) {
  for (const phase of PHASES) {
    if (target.lacks?.includes(phase.title)) continue
    say(`warm-up  ${phase.title}  ${target.title}, Node ${target.version}`)
    // Each worker compiles for itself, and the kernel gives one of them more connections than another.
    const processes = target.workers > 1 ? 2 * target.workers : 1
    const until = Date.now() + 60_000 * processes
    for (let asked = 0; asked < phase.warm * processes * Number(values.warm) && Date.now() < until; )
      asked += (await phaseOf(target, phase, 3)).ok
  }
}

/**
 * Returns CPU time: µs, ms for a large body. The first second does not count: while a target waits for its turn, V8 drops code and makes the
 * young generation smaller (docs/performance.md, findings).
 */
async function measured(target, phase, seconds) {
  await phaseOf(target, phase, 1)
  const { cpu } = await phaseOf(target, phase, seconds)
  if (phase.unit === 'chunk') return cpu.us_per_chunk
  return phase.unit === 'body' ? cpu.us_per_request / 1000 : cpu.us_per_request
}

/** @throws Error when a request failed, because then the figures are meaningless. */
async function phaseOf(target, { title, path, body, unit, conns = 64 }, seconds) {
  const result = await runPhase(
    { path, body: body(target.model), conns, seconds, perChunk: unit === 'chunk' },
    { base: target.url, pid: target.child.pid, mockPort: MOCK, headers: target.headers ?? [], cpu: 1 },
  )
  if (result.non2xx > 0 || result.ok === 0)
    throw new Error(`${target.title}, ${title}: ${result.ok} answers, ${result.non2xx} refusals.`)
  return result
}

function print() {
  const rows = running.map(({ title, version, figures, bareOf }) => {
    const anchor = running.find((other) => other.bareOf === version).figures
    const of = (phase) => {
      const list = figures[phase]
      if (list === undefined) return undefined
      const ratios = list.map((value, round) => value / anchor[phase][round])
      return { us: median(list), ratio: median(ratios), from: Math.min(...ratios), to: Math.max(...ratios) }
    }
    return {
      title,
      version,
      bare: bareOf !== undefined,
      phases: Object.fromEntries(PHASES.map((phase) => [phase.title, of(phase.title)])),
    }
  })
  if (values.json)
    return console.log(
      JSON.stringify({ at: new Date().toISOString(), cpu: cpus()[0].model, rounds: Number(values.rounds), rows }),
    )
  console.log(
    `${cpus()[0].model}, CPU time at saturation (µs, ms for large bodies), medians of ${values.rounds} rounds, × bare (range)`,
  )
  console.table(Object.fromEntries(rows.map((row) => [`${row.title}, ${row.version}`, textOf(row)])))
}

function textOf({ bare, phases }) {
  return Object.fromEntries(
    Object.entries(phases).map(([title, value]) => [
      title,
      value === undefined ? '' : bare ? fixed(value.us, 1) : compared(value),
    ]),
  )
}

function compared({ us, ratio, from, to }) {
  return `${fixed(us, 1)}  ${fixed(ratio, 2)}× (${fixed(from, 2)}–${fixed(to, 2)})`
}

function fixed(value, digits) {
  return value.toFixed(digits)
}

function median(list) {
  return [...list].sort((a, b) => a - b)[list.length >> 1]
}

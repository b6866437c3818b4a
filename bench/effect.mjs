// npm run bench -- --effect --without organizations: CPU time per request at saturation with plugins and without them, or with tabs of the
// dashboard on Live and without. Two gateways run at once and take short turns, so that both see the same machine.
//
//   --without a,b      the first gateway lacks these plugins of the preset
//   --subscribers 3    the second gateway has three readers of /api/events
//   --responses        POST /v1/responses with `store: false` instead of chat completions
//   --rounds 30 --seconds 1.5
//
// Prints the median of the ratios of all rounds and their quartiles. Needs two cores: targets are pinned to CPU 0, everything else to CPU 1.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { bodies, build, responsesBody, runPhase } from './harness/bench.mjs'
import { gateway, started } from './table/targets.mjs'

const { values } = parseArgs({
  options: {
    effect: { type: 'boolean' },
    without: { type: 'string', default: '' },
    subscribers: { type: 'string', default: '0' },
    responses: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '30' },
    seconds: { type: 'string', default: '1.5' },
  },
})
const { without, subscribers, responses, rounds, seconds } = values
if ((without === '') === (subscribers === '0')) throw new Error('Give --without or --subscribers.')
const MOCK = 9229
const WARM = 12_000
const phase = responses
  ? { path: '/v1/responses', body: responsesBody('openai/mock', false) }
  : { path: '/v1/chat/completions', body: bodies.openai('openai/mock', false) }
const folder = mkdtempSync(join(tmpdir(), 'hookgate-effect-'))
const node = process.execPath
const common = { node, version: process.version, upstream: `http://127.0.0.1:${MOCK}`, folder, config: 'gateway' }
const mock = spawn('taskset', ['-c', '1', build('mock'), String(MOCK)], { stdio: 'ignore' })
const running = []
const readers = []
const ratios = []
const figures = [[], []]
try {
  running.push(await started(gateway({ ...common, port: 9230, title: 'without', without })))
  running.push(await started(gateway({ ...common, port: 9231, title: 'with' })))
  for (const target of running) for (let asked = 0; asked < WARM; ) asked += (await turn(target, 3)).ok
  for (let tab = 0; tab < Number(subscribers); tab++) readers.push(await reader(running[1].url))
  for (let round = 0; round < Number(rounds); round++) {
    const cost = [0, 0]
    for (const which of round % 2 === 0 ? [0, 1] : [1, 0])
      cost[which] = (await turn(running[which], Number(seconds))).cpu.us_per_request
    for (const which of [0, 1]) figures[which].push(cost[which])
    ratios.push(cost[1] / cost[0])
    process.stderr.write(`round ${round + 1}/${rounds}  ${cost.map((us) => us.toFixed(1)).join(' → ')} µs\n`)
  }
} finally {
  for (const { child } of running) child.kill('SIGTERM')
  for (const child of readers) child.kill('SIGKILL')
  mock.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
}
const [off, on] = figures.map((list) => quantile(list, 0.5))
console.log(`${cpus()[0].model}, Node ${process.version}, ${phase.path}, ${rounds} rounds`)
console.table({
  [without === '' ? `${subscribers} subscribers` : without]: {
    'off, µs': off.toFixed(1),
    'on, µs': on.toFixed(1),
    ratio: quantile(ratios, 0.5).toFixed(3),
    quartiles: [0.25, 0.75].map((at) => quantile(ratios, at).toFixed(3)).join('–'),
  },
})

/** @throws Error when a request failed, because then the figures are meaningless. */
async function turn({ url, child, title }, length) {
  const options = { base: url, pid: child.pid, mockPort: MOCK, headers: [], cpu: 1 }
  const result = await runPhase({ ...phase, conns: 64, seconds: length }, options)
  if (result.non2xx > 0 || result.ok === 0) throw new Error(`${title}: ${result.ok} answers, ${result.non2xx} refusals.`)
  return result
}

/** Reads the live events in a process of its own, as a tab of the dashboard does. */
async function reader(url) {
  const child = spawn('taskset', ['-c', '1', 'curl', '-sN', `${url}/api/events`], { stdio: ['ignore', 'pipe', 'inherit'] })
  await new Promise((resolve) => child.stdout.once('data', resolve))
  child.stdout.resume()
  return child
}

function quantile(list, at) {
  const sorted = list.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * at))]
}

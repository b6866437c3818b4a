// node bench/instructions.mjs [--requests 1500] [--warm 5000] [--messages | --responses false] [--without advisor,shadow-eval] [--subscribers 3] [--samples 50] [--port 9175]:
// instructions that the process executes for one JSON request, counted by valgrind. On a busy machine clocks and CPU time differ by half.
// This count differs by a few percent, so it shows the effect of a change to the hot path. The warm-up is a number of requests, so that a
// slow machine compiles the same code. The count excludes the kernel (system calls equal those of bare, except
// SQLite's) and cache misses. It includes code that V8 compiles after the warm-up.
//
// --responses calls /v1/responses with `store` of that value. The mock speaks chat-completions, so the request is translated.
//
// Needs `npm run build`, valgrind and a C compiler; some minutes. Loopback only, bounded in time.
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { bodies, build, responsesBody } from './harness/bench.mjs'

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '1500' },
    warm: { type: 'string', default: '5000' },
    messages: { type: 'boolean', default: false },
    responses: { type: 'string' },
    without: { type: 'string' },
    subscribers: { type: 'string' },
    samples: { type: 'string', default: '0' },
    port: { type: 'string', default: '9175' },
  },
})
const at = (path) => fileURLToPath(new URL(path, import.meta.url))
const PORT = Number(values.port)
const MOCK = PORT - 1
const serve = (config) => [at('../dist/adapters/cli/main.js'), 'serve', '--config', at(config), '--port', String(PORT)]
const full = ['--max-semi-space-size=64', ...serve('./gateway.config.mjs')]
/** With --without or --subscribers only the gateway itself, with and without the difference. */
const { without, subscribers } = values
const TARGETS =
  without !== undefined
    ? { [`without ${without}`]: full, 'everything on': full }
    : subscribers !== undefined
      ? { 'no subscriber': full, [`${subscribers} subscribers of /api/events`]: full }
      : {
          bare: [at('./harness/anchors/bare.mjs')],
          kernel: ['--max-semi-space-size=64', ...serve('./kernel.config.mjs')],
          'everything on': full,
        }
const [first] = Object.keys(TARGETS)

const dir = mkdtempSync(join(tmpdir(), 'hookgate-instructions-'))
const body = join(dir, 'body.json')
writeFileSync(body, JSON.stringify(requestBody()))
const mock = spawn(build('mock'), [String(MOCK)], { stdio: 'ignore' })
const rows = {}
try {
  for (const name of Object.keys(TARGETS)) {
    process.stderr.write(`${name}: ${values.warm} requests of warm-up, then ${values.requests} requests\n`)
    rows[name] = await counted(name)
  }
} finally {
  mock.kill('SIGKILL')
  rmSync(dir, { recursive: true, force: true })
}
console.log(
  `${process.version}, ${values.responses !== undefined ? `responses → chat, store ${values.responses}` : values.messages ? 'messages → chat' : 'chat → chat'}, ${values.requests} requests`,
)
console.table(
  Object.fromEntries(
    Object.entries(rows).map(([name, each]) => [
      name,
      { 'thousand instructions/request': Math.round(each / 1000), ratio: Math.round((each / rows[first]) * 1000) / 1000 },
    ]),
  ),
)

/** Instructions a request. */
async function counted(name) {
  const out = join(dir, name.replace(/\W/g, '-'))
  const flags = ['--tool=callgrind', '--instr-atstart=no', '--smc-check=all-non-file', `--callgrind-out-file=${out}`]
  const child = spawn('valgrind', [...flags, process.execPath, ...TARGETS[name]], {
    stdio: 'ignore',
    env: {
      ...process.env,
      ...{ PORT: String(PORT), UPSTREAM: `http://127.0.0.1:${MOCK}`, BENCH_UPSTREAM: `http://127.0.0.1:${MOCK}` },
      ...{ GATEWAY_DATA_DIR: mkdtempSync(join(dir, 'data-')), GATEWAY_PRICING_SYNC_ENABLED: 'false' },
      // Valgrind delays the event loop; no request may be refused for it.
      GATEWAY_OVERLOAD_LOOP_DELAY_MS: '0',
      // The advisor samples 50 requests a second: all of them at the pace of valgrind, two of a hundred at saturation.
      GATEWAY_ADVISOR_SAMPLES_PER_SECOND: values.samples,
      BENCH_WITHOUT: name === first ? (without ?? '') : '',
    },
  })
  const streams = []
  const control = (...args) => execFileSync('callgrind_control', [...args, String(child.pid)], { stdio: 'ignore' })
  try {
    await listening()
    if (name !== first) for (let tab = 0; tab < Number(subscribers ?? 0); tab++) streams.push(await subscribed())
    load('--seconds', '890', '--requests', values.warm)
    control('-i', 'on')
    const { ok } = load('--seconds', '890', '--requests', values.requests)
    control('-i', 'off')
    control('-d')
    await new Promise((resolve) => setTimeout(resolve, 500))
    for (const { bytes } of streams) process.stderr.write(`  a subscriber has read ${bytes >> 10} kB\n`)
    return total(out) / ok
  } finally {
    for (const stream of streams) stream.child.kill('SIGKILL')
    child.kill('SIGKILL')
    await new Promise((resolve) => child.once('close', resolve))
  }
}

/** A process of its own reads the live events, as a tab of the dashboard does: this one waits for the load. */
async function subscribed() {
  const reader =
    'const { body } = await fetch(process.argv[1]); let n = 0; for await (const chunk of body) if ((n += chunk.length) > 0) process.send?.(n)'
  const args = ['--input-type=module', '-e', reader, `http://127.0.0.1:${PORT}/api/events`]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const state = { child, bytes: 0 }
  child.on('message', (bytes) => {
    state.bytes = bytes
  })
  while (state.bytes === 0) await new Promise((resolve) => setTimeout(resolve, 50))
  return state
}

function requestBody() {
  if (values.responses === undefined) return bodies[values.messages ? 'anthropic' : 'openai']('openai/mock', false)
  return responsesBody('openai/mock', values.responses === 'true')
}

function load(...args) {
  const path = `/v1/${values.responses !== undefined ? 'responses' : values.messages ? 'messages' : 'chat/completions'}`
  const all = [
    '--port',
    PORT,
    '--path',
    path,
    '--body',
    body,
    '--conns',
    16,
    '--header',
    'anthropic-version: 2023-06-01',
    ...args,
  ]
  return JSON.parse(execFileSync(build('load'), all.map(String), { timeout: 900_000 }))
}

/** All dumped counts. */
function total(out) {
  let instructions = 0
  for (const file of readdirSync(dir)) {
    if (!join(dir, file).startsWith(`${out}.`)) continue
    instructions += Number(/^totals: (\d+)/m.exec(readFileSync(join(dir, file), 'utf8'))?.[1] ?? 0)
  }
  if (instructions === 0) throw new Error('valgrind counted nothing.')
  return instructions
}

async function listening() {
  for (let tries = 0; tries < 600; tries++) {
    try {
      await fetch(`http://127.0.0.1:${PORT}/healthz`)
      return
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
  }
  throw new Error(`Nothing listens on ${PORT}.`)
}

// npm run chaos -- --cycles 500: kill -9 of a serving gateway under streaming load, with budgets near their limits, repeatedly on the same
// database. After each restart the ledger is compared with the upstream's record of what it sent.
//
//   --cycles 20   --seed 1   --longest 5000 (ms until a kill)   --width 128 (concurrent requests)
//   --slack 1500 (ms that a checkpoint may be late)
//   --database postgres://…   instead of SQLite; the database must be empty
//   --workers 4               several workers; --kill worker kills one of them, and the others go on. Default: the primary process
//   --json                    figures only
//
// Exit code 1 when a row was lost, a limit was exceeded or another check failed.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { openBooks } from './chaos/books.mjs'
import { check } from './chaos/check.mjs'
import { load, worth } from './chaos/load.mjs'
import { awake, countingUpstream, PRICE, pause } from './chaos/upstream.mjs'
import { startGateway } from './harness/gateway.mjs'
import { seeded } from './harness/seeded.mjs'
import { untilWorkers, workersOf } from './harness/workers.mjs'

const { values } = parseArgs({
  options: {
    cycles: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
    longest: { type: 'string', default: '5000' },
    width: { type: 'string', default: '128' },
    slack: { type: 'string', default: '1500' },
    database: { type: 'string' },
    workers: { type: 'string', default: '1' },
    kill: { type: 'string', default: 'primary' },
    json: { type: 'boolean', default: false },
  },
})
const cycles = Number(values.cycles)
const random = seeded(Number(values.seed))
const dir = mkdtempSync(join(tmpdir(), 'hookgate-chaos-'))
const upstream = await countingUpstream(random)
const workers = Number(values.workers)
const start = async () => {
  const gateway = await startGateway({
    dir,
    config: fileURLToPath(new URL('./chaos/gateway.config.mjs', import.meta.url)),
    env: {
      CHAOS_UPSTREAM: upstream.baseUrl,
      GATEWAY_WORKERS: values.workers,
      ...(values.database && { GATEWAY_DATABASE_URL: values.database }),
    },
  })
  if (workers > 1) await untilWorkers(gateway.url, workers)
  return gateway
}
const figures = {
  ...{ cycles: 0, requests: 0, refused: 0, settled: 0, interrupted: 0 },
  ...{ lost: 0, overspendNano: 0, unbookedNano: 0, damaged: 0, violations: 0 },
}
const WINDOWS = ['lifetime', 'yearly']
let keys = []

try {
  let gateway = await start()
  await prepare(gateway)
  for (let cycle = 1; cycle <= cycles; cycle++) {
    await loosen(gateway)
    const seen = new Map()
    upstream.journal.clear()
    let over = false
    const loading = load({ url: gateway.url, keys, random, width: Number(values.width), over: () => over, seen, round: cycle })
    await pause(200 + random() * Math.max(0, Number(values.longest) - 200))
    // Waits until enough requests run, so that a kill can lose something on a slow machine too.
    while ([...seen.values()].filter(({ status }) => status !== 0).length < Number(values.width) / 2) await pause(10)
    const killedAt = awake()
    if (values.kill === 'worker') {
      process.kill(victim(gateway), 'SIGKILL')
      // The others go on for a while beside the new one.
      await pause(random() * 500)
      over = true
      await loading
      await untilWorkers(gateway.url, workers)
      await untilSettled(gateway)
    } else {
      gateway.child.kill('SIGKILL')
      over = true
      await gateway.ended
      await loading
      gateway = await start()
    }
    await verify(gateway, { seen, killedAt, cycle })
  }
  gateway.child.kill('SIGTERM')
  await gateway.ended
} finally {
  await upstream.close()
  rmSync(dir, { recursive: true, force: true })
}
const shown = { ...figures, overspend_usd: figures.overspendNano / 1e9, largest_unbooked_usd: figures.unbookedNano / 1e9 }
if (values.json) console.log(JSON.stringify(shown))
else console.table([shown])
if (figures.lost + figures.overspendNano + figures.damaged + figures.violations > 0) process.exitCode = 1

/**
 * Creates keys, prices and five budgets: one of the organization, one each of two keys in one window, one of them in another window, and
 * one of a third key.
 */
async function prepare({ api }) {
  const usd = (nano) => nano / 1e3
  await api('PUT', '/api/pricing/overrides', { data: [{ model: 'up/m', input: usd(PRICE.input), output: usd(PRICE.output) }] })
  for (const label of ['a', 'b', 'c', 'd']) keys = [...keys, await api('POST', '/api/keys', { label })]
  await api('POST', '/api/budgets', { scope: 'org', window: 'lifetime', hard_limit_usd: worth(400) })
  const [a, b, c] = keys
  for (const [key, window] of [
    [a, WINDOWS[0]],
    [b, WINDOWS[0]],
    [b, WINDOWS[1]],
    [c, WINDOWS[0]],
  ])
    await api('POST', '/api/budgets', { scope: 'key', entity_id: key.id, window, hard_limit_usd: worth(100) })
}

/** Returns the id of a random worker. */
function victim({ child }) {
  const pids = workersOf(child.pid)
  return pids[Math.floor(random() * pids.length)]
}

/** Waits until nothing is reserved: the worker that took the place of the dead one settles its requests before it listens. */
async function untilSettled({ api }) {
  for (const until = awake() + 10_000; awake() < until; await pause(50)) {
    const { data } = await api('GET', '/api/budgets')
    if (data.every(({ reserved_usd }) => reserved_usd === 0)) return
  }
}

/** Raises each budget a little, so that all stay near their limits and none is exhausted for good. */
async function loosen({ api }) {
  const { data } = await api('GET', '/api/budgets')
  for (const { id, scope, spend_usd } of data)
    await api('PUT', `/api/budgets/${id}`, { hard_limit_usd: spend_usd + worth((scope === 'org' ? 300 : 60) * random()) })
}

async function verify(gateway, { seen, killedAt, cycle }) {
  const { data } = await gateway.api('GET', '/api/budgets')
  const books = await openBooks(values.database ?? join(dir, 'gateway.db'))
  const rows = await books.rows(`${cycle}-`)
  const totals = await books.totals()
  if (!(await books.whole())) figures.damaged++
  const accounts = await books.accounts()
  await books.close()
  const nano = (usd) => Math.round(usd * 1e9)
  const budgets = data.map(({ id, scope, entity_id, effective_limit_usd, spend_usd, reserved_usd }) => ({
    ...{ id, scope, entity: entity_id, limit: nano(effective_limit_usd), spent: nano(spend_usd), reserved: nano(reserved_usd) },
  }))
  const all = (scope, entity) =>
    totals.filter(({ key_id }) => scope === 'org' || key_id === entity).reduce((s, t) => s + t.nano, 0)
  const wrong = await check({
    rows,
    accounts,
    budgets,
    seen,
    journal: upstream.journal,
    killedAt,
    slackMs: Number(values.slack),
    figures,
    all,
  })
  figures.cycles = cycle
  figures.requests += seen.size
  figures.refused += [...seen.values()].filter(({ status }) => status === 402).length
  figures.violations += wrong.length
  for (const line of wrong.slice(0, 10)) console.error(`cycle ${cycle}: ${line}`)
  const line = `${cycle}/${cycles}  ${JSON.stringify(figures)}`
  if (process.stderr.isTTY) process.stderr.write(`\r${line}   `)
  else if (cycle % 25 === 0 || cycles < 25) console.error(line)
}

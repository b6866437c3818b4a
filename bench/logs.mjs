// node bench/logs.mjs [--rows 1000000] [--url postgres://…] [--pages 30] [--who]: the cost of a row of the request log, and the time of
// pages of /api/logs over many rows; with --who each row names a user and a session. Without a URL: SQLite in a temporary directory. A
// PostgreSQL from a URL must not contain a request log; it gets the tables `request_log…`, which are dropped afterwards.
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { parseArgs } from 'node:util'
import { createJiti } from 'jiti'
import { seeded } from './harness/seeded.mjs'

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    pages: { type: 'string', default: '30' },
    url: { type: 'string' },
    who: { type: 'boolean', default: false },
  },
})
const ROWS = Number(values.rows)
const PAGES = Number(values.pages)
const BATCH = 200
const START = Date.UTC(2026, 0, 1)
/** ms between two rows. */
const STEP = 250

const jiti = createJiti(import.meta.url)
const { openDatabase } = await jiti.import('../adapters/stores/open-database.ts')
const { migrate } = await jiti.import('../core/db/migrate.ts')
const { migrations } = await jiti.import('../plugins/request-log/migrations.ts')
const { entryOf } = await jiti.import('../plugins/request-log/entry.ts')
const { logWriter } = await jiti.import('../plugins/request-log/queue.ts')
const { logQuery } = await jiti.import('../plugins/request-log/filters.ts')
const { newestRows } = await jiti.import('../plugins/request-log/api.ts')
const { facetsOf, rowOf } = await jiti.import('../plugins/request-log/store.ts')
const { queryValues } = await jiti.import('../core/http/api-routes.ts')
const { sql } = await jiti.import('../core/db/sql.ts')

const random = seeded(1)
const dir = mkdtempSync(join(tmpdir(), 'hookgate-logs-'))
const db = await openDatabase(values.url ?? `sqlite:${join(dir, 'gateway.db')}`, '.')
let made = false
try {
  if (values.url !== undefined && (await db.get(sql`SELECT to_regclass('request_log') AS found`))?.found)
    throw new Error(
      'This database has a request log already, and what is measured here is dropped afterwards: name an empty one.',
    )
  made = true
  await migrate(db, [{ name: 'request-log', migrations }])
  console.table([hook(), await fill()])
  if (db.dialect === 'postgresql') await db.run(sql`ANALYZE request_log`)
  console.table(await reads())
} finally {
  if (made && values.url !== undefined) {
    await db.run(sql`DROP TABLE request_log, request_log_bodies, request_log_totals`)
    await db.run(sql`DELETE FROM gateway_migrations WHERE plugin = 'request-log'`)
  }
  await db.close()
  rmSync(dir, { recursive: true })
}

/** On the request path: the data of a settled request. */
function hook() {
  const contexts = Array.from({ length: 1000 }, (_, n) => contextOf(n))
  const kept = new Array(1000)
  const run = (rounds) => {
    for (let i = 0; i < rounds; i++)
      for (let n = 0; n < kept.length; n++) kept[n] = entryOf(contexts[n].ctx, contexts[n].outcome, false)
  }
  run(200)
  const cpu = process.cpuUsage()
  run(1000)
  return { what: 'settle hook', us_per_row: used(cpu) / 1e6 }
}

async function fill() {
  const write = logWriter(db)
  let cpu = null
  let wall = 0
  let longest = 0
  let measured = 0
  for (let n = 0; n < ROWS; n += BATCH) {
    const entries = Array.from({ length: Math.min(BATCH, ROWS - n) }, (_, i) => {
      const { ctx, outcome } = contextOf(n + i)
      return entryOf(ctx, outcome, false)
    })
    const before = process.cpuUsage()
    const started = performance.now()
    await write(entries)
    // Only the second half, because index trees have their height by then.
    if (n < ROWS / 2) continue
    cpu = { spent: (cpu?.spent ?? 0) + used(before) }
    wall += performance.now() - started
    longest = Math.max(longest, performance.now() - started)
    measured += entries.length
  }
  const file = values.url === undefined ? statSync(join(dir, 'gateway.db')).size : null
  return {
    what: `insert in batches of ${BATCH}`,
    us_per_row: cpu.spent / measured,
    ms_per_batch: (wall / measured) * BATCH,
    longest_ms: longest,
    bytes_per_row: file === null ? null : file / ROWS,
  }
}

async function reads() {
  const asked = {
    'newest page': {},
    'page in the middle': { cursor: cursor(ROWS / 2) },
    'provider (a third)': { provider: 'openai' },
    'provider (1 in 10,000)': { provider: 'rare' },
    'provider nobody has': { provider: 'none' },
    'model (a tenth)': { model: 'model-3' },
    'model (1 in 10,000)': { model: 'rare-model' },
    'status=error': { status: 'error' },
    'status=5xx': { status: '5xx' },
    'status=200': { status: '200' },
    'key (1 in 50)': { key_id: '7' },
    'key (1 in 10,000)': { key_id: '999' },
    'key nobody has': { key_id: '998' },
    'session nobody had': { session_id: 'none' },
    ...(values.who && {
      'session (8 rows)': { session_id: sessionOf(ROWS / 3) },
      'user (1 in 5,000)': { user_id: 'user-42' },
      'user and model nobody has': { user_id: 'user-42', model: 'none' },
    }),
    'model and status': { model: 'model-3', status: 'error' },
    'two providers': { provider: 'openai,google' },
    'q: request id': { q: requestId(ROWS / 3).slice(0, 20) },
    'q: error text': { q: 'quota' },
    'one day': { since: '2026-01-02', until: '2026-01-03' },
  }
  const rows = []
  for (const [what, query] of Object.entries(asked)) {
    const { limit, ...filter } = logQuery.parse(queryValues(logQuery, new URLSearchParams(query)))
    rows.push(await timed(what, () => newestRows(db, null, filter, limit + 1)))
  }
  rows.push(await timed('facets', () => facetsOf(db, null)))
  rows.push(await timed('one request', () => rowOf(db, null, requestId(ROWS / 4))))
  return rows
}

function sessionOf(n) {
  return `session-${Math.floor(n / 8)}`
}

async function timed(what, run) {
  const times = []
  let found = 0
  const loop = monitorEventLoopDelay({ resolution: 1 })
  loop.enable()
  for (let i = 0; i < PAGES; i++) {
    const started = performance.now()
    const result = await run()
    times.push(performance.now() - started)
    found = Array.isArray(result) ? result.length : 1
    await new Promise((resolve) => setImmediate(resolve))
  }
  loop.disable()
  times.sort((a, b) => a - b)
  return { what, rows: found, median_ms: times[PAGES >> 1], worst_ms: times[PAGES - 1], stall_p90_ms: loop.percentile(90) / 1e6 }
}

function contextOf(n) {
  const rare = n % 10_000 === 5000
  const failed = n % 40 === 7
  const provider = rare ? 'rare' : ['openai', 'anthropic', 'google'][Math.floor(random() * 3)]
  const model = rare ? 'rare-model' : `model-${Math.floor(random() * 10)}`
  const keyId = rare ? 999 : 1 + Math.floor(random() * 50)
  const candidate = { connection: { id: '3', provider }, target: { provider, model } }
  const at = START + n * STEP
  const usage = { inputTotal: 800, cacheRead: 100, cacheWrite: 0, outputTotal: 200, reasoning: 20, total: 1000 }
  const error = failed
    ? Object.assign(new Error('quota exceeded for this key'), { code: 'rate_limit', upstream: null })
    : undefined
  const outcome = {
    status: failed ? (n % 80 === 7 ? 429 : 502) : 200,
    error,
    aborted: false,
    cached: false,
    usage,
    steps: [{ provider, connectionId: '3', model, usage, costNano: 1_200_000, startedAt: at }],
    costNano: 1_200_000,
    chargeNano: 1_200_000,
    latencyMs: 900.5,
    firstByteMs: 210.2,
  }
  const ctx = {
    id: requestId(n),
    startedAt: at,
    source: 'api',
    ingress: { path: '/v1/chat/completions' },
    dialect: 'chat',
    principal: { keyId, label: `key ${keyId}`, orgId: null },
    userId: values.who ? `user-${Math.floor(random() * 5000)}` : null,
    sessionId: values.who ? sessionOf(n) : null,
    costCenter: null,
    candidate,
    requestedModel: `${provider}/${model}`,
    virtualModel: null,
    stream: true,
    attempts: [{ candidate, startedAt: at, status: 200, latencyMs: 880.1, action: 'returned' }],
    properties: null,
    notes: null,
    bodyBytes: 700,
  }
  return { ctx, outcome }
}

function requestId(n) {
  const time = (START + Math.floor(n) * STEP).toString(16).padStart(12, '0')
  const rest = Math.floor(n).toString(16).padStart(12, '0')
  return `req_${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${rest}`
}

function cursor(n) {
  return Buffer.from(JSON.stringify([START + Math.floor(n) * STEP, Math.floor(n)])).toString('base64url')
}

function used(since) {
  const { user, system } = process.cpuUsage(since)
  return user + system
}

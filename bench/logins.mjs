// node bench/logins.mjs [--seconds 5] [--rate 200]: the effect of a flood of logins on requests. Hashes and name lookups share libuv's
// threads, so each request opens a new connection by name. It runs once alone, once with logins with the right password (each is a hash),
// and once with logins with a wrong one (throttled before a hash is made).
//
// Needs `npm run build`. Loopback only, limited in time.
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { hash } from '@node-rs/argon2'
import { startGateway } from './harness/gateway.mjs'

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '5' }, rate: { type: 'string', default: '200' } } })
const SECONDS = Number(values.seconds)
const PASSWORD = 'correct horse battery staple'
const REQUESTS_PER_SECOND = 50

const upstream = createServer((req, res) => {
  req.resume().on('end', () => {
    res.writeHead(200, { 'content-type': 'application/json', connection: 'close' })
    res.end(JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content: 'Hi.' }, finish_reason: 'stop' }] }))
  })
})
await new Promise((resolve) => upstream.listen(0, 'localhost', resolve))
const dir = mkdtempSync(join(tmpdir(), 'hookgate-logins-'))
let gateway
try {
  gateway = await startGateway({ dir, env: { GATEWAY_DASHBOARD_PASSWORD_HASH: await hash(PASSWORD) } })
  const { token } = await (await login(PASSWORD)).json()
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
  const made = await fetch(`${gateway.url}/api/providers`, {
    method: 'POST',
    headers,
    body: JSON.stringify({
      ...{ provider: 'up', wire_format: 'chat', api_key: 'sk-bench' },
      base_url: `http://localhost:${upstream.address().port}/v1`,
    }),
  })
  if (!made.ok) throw new Error(`POST /api/providers: ${made.status} ${await made.text()}`)
  const key = await (await fetch(`${gateway.url}/api/keys`, { method: 'POST', headers, body: '{}' })).json()
  await measured(key.key)
  const rows = {}
  for (const [what, password] of [
    ['alone', null],
    ['beside right logins', PASSWORD],
    // Last, because it blocks logins for a minute.
    ['beside wrong logins', 'guess'],
  ]) {
    const over = new AbortController()
    const flood = password === null ? Promise.resolve({}) : flooded(password, over.signal)
    const times = await measured(key.key)
    over.abort()
    rows[what] = { 'p50 ms': at(times, 0.5), 'p99 ms': at(times, 0.99), 'worst ms': times.at(-1), ...(await flood) }
  }
  console.table(rows)
} finally {
  gateway?.child.kill('SIGKILL')
  upstream.close()
  rmSync(dir, { recursive: true, force: true })
}

/** Returns the times to the whole answer in ms, sorted. */
async function measured(key) {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` }
  const body = JSON.stringify({ model: 'up/m', messages: [{ role: 'user', content: 'Hello' }] })
  const times = await everySo(REQUESTS_PER_SECOND, AbortSignal.timeout(SECONDS * 1000), async () => {
    const started = performance.now()
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers, body })
    if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`)
    await answer.arrayBuffer()
    return Math.round((performance.now() - started) * 100) / 100
  })
  return times.sort((a, b) => a - b)
}

async function flooded(password, signal) {
  const statuses = await everySo(Number(values.rate), signal, async () => {
    const answer = await login(password)
    await answer.arrayBuffer()
    return answer.status
  })
  const count = (status) => statuses.filter((one) => one === status).length
  return { logins: statuses.length, 200: count(200), 401: count(401), 429: count(429) }
}

function login(password) {
  return fetch(`${gateway.url}/api/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ password }),
  })
}

/** An open loop: a slow answer does not delay the next request. */
async function everySo(rate, signal, run) {
  const runs = []
  const began = performance.now()
  while (!signal.aborted) {
    runs.push(run())
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, began + (runs.length * 1000) / rate - performance.now())))
  }
  return Promise.all(runs)
}

function at(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
}

// node bench/kill-requests.mjs [--cycles 20] [--seed 1] [--width 24]: kill -9 of a gateway without budgets under load, JSON and streams. After each
// restart every answered request must have one row, every row a request, and no trace may remain of a request that is over. Prints the
// figures; exit code 1 when something is wrong.

import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import Database from 'better-sqlite3'
import { startGateway } from './harness/gateway.mjs'
import { seeded } from './harness/seeded.mjs'

const { values } = parseArgs({
  options: {
    cycles: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
    width: { type: 'string', default: '24' },
    json: { type: 'boolean', default: false },
  },
})
const random = seeded(Number(values.seed))
const dir = mkdtempSync(join(tmpdir(), 'hookgate-kill-'))
const figures = { cycles: 0, sent: 0, answered: 0, interrupted: 0, lost: 0, twice: 0, unknown: 0, open: 0, damaged: 0 }
const usage = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 }
/** Users of requests: one each. */
const sent = new Set()
const answered = new Set()

/** Answers at once or within 3 s, so that some requests have a trace of their own. */
const upstream = createServer((request, response) => {
  let text = ''
  request.on('data', (chunk) => {
    text += chunk
  })
  request.on('end', async () => {
    const { stream, max_tokens: wait } = JSON.parse(text)
    const common = { id: 'x', created: 1, model: 'm' }
    if (wait > 1) await new Promise((resolve) => setTimeout(resolve, wait))
    if (!stream) {
      response.writeHead(200, { 'content-type': 'application/json' })
      const choices = [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }]
      return response.end(JSON.stringify({ ...common, object: 'chat.completion', choices, usage }))
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const say = (chunk) => response.write(`data: ${JSON.stringify({ ...common, object: 'chat.completion.chunk', ...chunk })}\n\n`)
    say({ choices: [{ index: 0, delta: { role: 'assistant', content: 'Hello.' }, finish_reason: null }] })
    setTimeout(() => {
      say({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage })
      response.end('data: [DONE]\n\n')
    }, wait)
  })
})
await new Promise((resolve) => upstream.listen(0, '127.0.0.1', resolve))
const env = { CHAOS_UPSTREAM: `http://127.0.0.1:${upstream.address().port}/v1` }
const start = () => startGateway({ dir, env, config: new URL('./chaos/gateway.config.mjs', import.meta.url).pathname })

try {
  for (let cycle = 1; cycle <= Number(values.cycles); cycle++) {
    const gateway = await start()
    check()
    // By answers and not by time, so that a slow machine tests the same.
    const enough = answered.size + 10 + random() * 190
    const killed = () => answered.size >= enough && gateway.child.kill('SIGKILL')
    await Promise.all(Array.from({ length: Number(values.width) }, () => ask(gateway, killed)))
    await gateway.ended
    figures.cycles = cycle
  }
  const last = await start()
  // A checkpoint, and the end of what it wrote.
  await new Promise((resolve) => setTimeout(resolve, 500))
  check()
  last.child.kill('SIGTERM')
  await last.ended
} finally {
  upstream.close()
  upstream.closeAllConnections()
  rmSync(dir, { recursive: true, force: true })
}
Object.assign(figures, { sent: sent.size, answered: answered.size })
if (values.json) console.log(JSON.stringify(figures))
else console.table([figures])
if (figures.lost + figures.twice + figures.unknown + figures.open + figures.damaged > 0) process.exitCode = 1

async function ask({ url, ended }, settled) {
  let over = false
  void ended.then(() => {
    over = true
  })
  while (!over) {
    const user = `u${sent.size}`
    const long = random() < 0.1
    const body = { model: 'up/m', stream: random() < 0.3, max_tokens: long ? 1 + Math.floor(random() * 3000) : 1 }
    sent.add(user)
    try {
      const response = await fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-gateway-user-id': user },
        body: JSON.stringify({ ...body, messages: [{ role: 'user', content: 'Hello' }] }),
      })
      const text = await response.text()
      if (response.ok && (!body.stream || text.includes('[DONE]'))) answered.add(user)
      settled()
    } catch {
      // The gateway was killed.
    }
  }
}

/** At the start of a process: everything before it is settled. */
function check() {
  const db = new Database(join(dir, 'gateway.db'), { readonly: true })
  const rows = db
    .prepare('SELECT user_id, COUNT(*) AS n, MAX(interrupted) AS interrupted FROM ledger_usage GROUP BY user_id')
    .all()
  const booked = new Map(rows.map((row) => [row.user_id, row]))
  figures.lost = [...answered].filter((user) => !booked.has(user)).length
  figures.unknown = rows.filter(({ user_id: user }) => !sent.has(user)).length
  figures.twice = rows.filter(({ n }) => n > 1).length
  figures.interrupted = rows.filter(({ interrupted }) => interrupted === 1).length
  const open = 'SELECT (SELECT COUNT(*) FROM ledger_traces) + (SELECT COUNT(*) FROM ledger_dispatch WHERE swept_at IS NULL) AS n'
  figures.open += db.prepare(open).get().n
  if (db.pragma('integrity_check', { simple: true }) !== 'ok') figures.damaged++
  db.close()
}

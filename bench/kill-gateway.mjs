// node bench/kill-gateway.mjs [--cycles 100] [--seed 1]: kill -9 of a serving gateway during writes to its control plane. After each
// restart every acknowledged key must open the data plane, every revoked one must not, and the database must be intact. Prints the
// figures; exit code 1 when something was lost.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import Database from 'better-sqlite3'
import { startGateway } from './harness/gateway.mjs'
import { seeded } from './harness/seeded.mjs'

const { values } = parseArgs({ options: { cycles: { type: 'string', default: '100' }, seed: { type: 'string', default: '1' } } })
const cycles = Number(values.cycles)
const random = seeded(Number(values.seed))
const dir = mkdtempSync(join(tmpdir(), 'hookgate-kill-'))
/** id → secret of acknowledged keys; and of acknowledged revocations. */
const living = new Map()
const revoked = new Map()
const figures = { cycles: 0, created: 0, revoked: 0, lost: 0, resurrected: 0, damaged: 0 }

try {
  for (let cycle = 1; cycle <= cycles; cycle++) {
    const gateway = await startGateway({ dir })
    await check(gateway.url)
    setTimeout(() => gateway.child.kill('SIGKILL'), 50 + random() * 700)
    await Promise.all(Array.from({ length: 4 }, () => write(gateway)))
    await gateway.ended
    const db = new Database(join(dir, 'gateway.db'))
    if (db.pragma('integrity_check', { simple: true }) !== 'ok') figures.damaged++
    db.close()
    figures.cycles = cycle
    if (process.stderr.isTTY) process.stderr.write(`\r${cycle}/${cycles}  ${JSON.stringify(figures)}   `)
  }
  const last = await startGateway({ dir })
  await check(last.url)
  last.child.kill('SIGTERM')
} finally {
  rmSync(dir, { recursive: true, force: true })
}
if (process.stderr.isTTY) process.stderr.write('\n')
console.table([figures])
if (figures.lost + figures.resurrected + figures.damaged > 0) process.exitCode = 1

/** Creates and revokes keys until the gateway is gone. Only answered requests count. */
async function write({ api, ended }) {
  let over = false
  void ended.then(() => {
    over = true
  })
  while (!over) {
    try {
      const made = await api('POST', '/api/keys', { label: 'kill' })
      living.set(made.id, made.key)
      figures.created++
      if (random() < 0.3) {
        // From now on both results are correct, until the revocation is acknowledged.
        living.delete(made.id)
        await api('DELETE', `/api/keys/${made.id}`)
        revoked.set(made.id, made.key)
        figures.revoked++
      }
    } catch {
      return
    }
  }
}

async function check(url) {
  for (const [id, key] of living) if ((await ask(url, key)) !== 200) miss('lost', id)
  for (const [id, key] of revoked) if ((await ask(url, key)) !== 401) miss('resurrected', id)
  // Each was checked once; the next cycles create new ones.
  living.clear()
  revoked.clear()
}

function miss(kind, id) {
  figures[kind]++
  console.error(`key ${id}: ${kind}`)
}

async function ask(url, key) {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: 'echo/echo-1', messages: [{ role: 'user', content: 'x' }] }),
  })
  await response.arrayBuffer()
  return response.status
}

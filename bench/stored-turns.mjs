// node bench/stored-turns.mjs [--rows 60000]: CPU time of a stored response on SQLite, in a temporary directory: its row, and the sealing of
// its texts. Rows are written 30 in a commit, as at saturation, where they are part of a commit that exists without them.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createJiti } from 'jiti'

const { values } = parseArgs({ options: { rows: { type: 'string', default: '60000' } } })
const ROWS = Number(values.rows)
const COMMIT = 30
const TURN = {
  messages: [{ role: 'user', parts: [{ t: 'text', text: 'Which of these two bridges is older, and why? '.repeat(12) }] }],
  output: [
    {
      ...{ type: 'message', id: 'msg_gw0mxyz012AbCdEfGhIjK0000123456789abcdef0123', role: 'assistant', status: 'completed' },
      content: [
        { type: 'output_text', text: 'The stone one: its arches are of the first century. '.repeat(12), annotations: [] },
      ],
    },
  ],
}
const HEAD = {
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  model: 'gpt-5',
  output: [],
  tools: [],
  usage: { total_tokens: 300 },
}

const jiti = createJiti(import.meta.url)
const { openDatabase } = await jiti.import('../adapters/stores/open-database.ts')
const { openVault } = await jiti.import('../adapters/vault/vault.ts')
const { givenMasterKey } = await jiti.import('../adapters/vault/master-key.ts')
const { migrate } = await jiti.import('../core/db/migrate.ts')
const { systemClock } = await jiti.import('../core/timing/clock.ts')
const { sql } = await jiti.import('../core/db/sql.ts')
const { idsOf } = await jiti.import('../plugins/responses-state/ids.ts')
const { migrations } = await jiti.import('../plugins/responses-state/migrations.ts')
const { turnStore } = await jiti.import('../plugins/responses-state/store.ts')

const dir = mkdtempSync(join(tmpdir(), 'hookgate-stored-turns-'))
const db = await openDatabase(`sqlite:${join(dir, 'gateway.db')}`, '.')
try {
  const vault = await openVault({ masterKey: givenMasterKey(new Uint8Array(32).fill(7)), db })
  await migrate(db, [{ name: 'responses-state', migrations }])
  const ids = idsOf(vault, systemClock)
  const store = turnStore({ db, vault, clock: systemClock, log: console }, { maxTurns: 2000, maxChainBytes: 20 * 1024 * 1024 })
  const [turn, head] = [JSON.stringify(TURN), JSON.stringify(HEAD)]
  const spent = { seal: 0, row: 0, commit: 0 }
  let measured = 0
  let bytes = 0
  await db.run(sql`CREATE TABLE others (n INTEGER PRIMARY KEY)`)
  for (let n = 0; n < ROWS; n += COMMIT) {
    const tokens = Array.from({ length: COMMIT }, () => ids.token())
    const before = process.cpuUsage()
    const sealed = []
    for (const token of tokens) sealed.push({ token, parent: null, ...(await store.seal(1, token, turn, head)) })
    const seal = used(before)
    const now = systemClock.now()
    const rows = sealed.map((one) => store.insert({ orgId: 1, keyId: 7 }, one, now, now + 86_400_000))
    const other = { sql: sql`INSERT INTO others DEFAULT VALUES` }
    const commit = await cpuOf(() => db.atomic([other]))
    const row = await cpuOf(() => db.atomic([other, ...rows]))
    bytes = sealed[0].sealed.length
    // Only the second half, because index trees have their height by then.
    if (n < ROWS / 2) continue
    spent.seal += seal
    spent.row += row - commit
    spent.commit += commit
    measured += COMMIT
  }
  console.table({
    'sealing the texts': { 'CPU µs a response': spent.seal / measured },
    'the row, in a commit of 30': { 'CPU µs a response': spent.row / measured, bytes },
  })
} finally {
  await db.close()
  rmSync(dir, { recursive: true })
}

async function cpuOf(work) {
  const before = process.cpuUsage()
  await work()
  return used(before)
}

/** Returns µs. */
function used(before) {
  const { user, system } = process.cpuUsage(before)
  return user + system
}

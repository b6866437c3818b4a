// The contract on a runtime with files: Node, Bun and Deno run this file. The last line of its output is the result as JSON.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createGateway } from 'hookgate'
import { sqliteDatabase } from 'hookgate/adapters/stores/sqlite'
import { ask, chatBody, connectionsOf, coreContract, record } from './contract.mjs'
import { databaseContract, hashPassword, passwordCheck } from './server-tools.mjs'

const lane = JSON.parse(process.argv[2])
const dir = mkdtempSync(join(tmpdir(), 'hookgate-runtime-'))
const results = await coreContract(createGateway, lane)

await record(results, 'Client keys and budgets in memory', async () => {
  const gateway = await createGateway({ connections: connectionsOf(lane) })
  const { key } = await (await ask(gateway, '/api/keys', { label: 'runtime' })).json()
  const far = { peer: { address: '203.0.113.7', local: false } }
  const status = async (init) => (await ask(gateway, '/v1/chat/completions', chatBody('chat/m'), init)).status
  const withKey = { ...far, headers: { authorization: `Bearer ${key}` } }
  assert.deepEqual([await status(far), await status(withKey)], [401, 200])
  const budget = { scope: 'org', window: 'daily', hard_limit_usd: 0 }
  assert.equal((await ask(gateway, '/api/budgets', budget)).status, 201)
  assert.equal(await status(withKey), 402)
  await gateway.close()
})

for (const path of [':memory:', join(dir, 'contract', 'gateway.db')])
  await record(results, `SQLite contract: ${path === ':memory:' ? 'memory' : 'file'}`, async () => {
    const db = sqliteDatabase({ path })
    for (const { name, run } of databaseContract(() => db)) {
      try {
        await run()
      } catch (error) {
        throw new Error(`${name}: ${error.message}`, { cause: error })
      }
    }
    await db.close()
  })

await record(results, 'Keys survive a restart in a data directory', async () => {
  const open = () => createGateway({ connections: connectionsOf(lane), options: { dataDir: join(dir, 'data') } })
  const first = await open()
  const { key } = await (await ask(first, '/api/keys', { label: 'kept' })).json()
  await first.close()
  const second = await open()
  const peer = { address: '203.0.113.7', local: false }
  const headers = { authorization: `Bearer ${key}` }
  assert.equal((await ask(second, '/v1/chat/completions', chatBody('chat/m'), { peer, headers })).status, 200)
  await second.close()
})

await record(results, 'Upstream calls through a SOCKS5 proxy', async () => {
  const connections = connectionsOf(lane)
  connections.chat.proxyUrl = lane.socks
  const gateway = await createGateway({ connections })
  assert.equal((await ask(gateway, '/v1/chat/completions', chatBody('chat/m'))).status, 200)
  await gateway.close()
  assert.match(await (await fetch(`${lane.control}/socks`)).text(), /^[1-9]/)
})

await record(results, 'Argon2 for the dashboard password', async () => {
  const check = await passwordCheck(await hashPassword('correct horse'))
  assert.deepEqual([await check('correct horse'), await check('wrong')], [true, false])
})

rmSync(dir, { recursive: true })
console.log(JSON.stringify(results))
process.exit(0)

// PostgreSQL commits, its answer is lost, and the process gets `kill -9` at the same time. At every commit of a request the next process
// finds no open reservation, and books the request at most once.
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { reply } from '../../adapters/testing/script.ts'
import { type ScriptedUpstream, scriptedUpstream } from '../../adapters/testing/scripted-upstream.ts'
import { folder, type Serving, serving } from '../adapters/cli/hookgate.ts'
import { eventually } from '../adapters/node/support.ts'
import { type CommitProxy, commitProxy } from '../support/commit-proxy.ts'
import { testPostgres, whyNoPostgres } from '../support/postgres.ts'

/** USD for one million tokens; an answer of 3 + 7 tokens costs 17,000 nano-dollars. */
const PRICES = { input: 1, output: 2 }
const COST = 3000 + 14_000
const body = JSON.stringify({ model: 'up/m', max_tokens: 50, messages: [{ role: 'user', content: 'hi' }] })
const missing = await whyNoPostgres()

describe.skipIf(missing !== null)('kill -9 while the answer to a COMMIT is lost', () => {
  let database: Awaited<ReturnType<typeof testPostgres>>
  let books: pg.Client
  let upstream: ScriptedUpstream
  let proxy: CommitProxy
  let env: Record<string, string>
  let cwd: string
  beforeAll(async () => {
    database = await testPostgres()
    books = new pg.Client({ connectionString: database.url })
    await books.connect()
    upstream = await scriptedUpstream()
    proxy = await commitProxy(database.url)
    const up = { provider: 'custom', baseUrl: upstream.baseUrl('chat'), wireFormat: 'chat', apiKey: 'sk-x' }
    cwd = folder({ 'gateway.config.mjs': `export default ${JSON.stringify({ connections: { up } })}` })
    env = {
      GATEWAY_DATABASE_URL: proxy.url,
      GATEWAY_DATA_DIR: cwd,
      GATEWAY_MASTER_KEY: randomBytes(32).toString('base64'),
    }
  })
  afterAll(async () => {
    await proxy.close()
    await books.end()
    await upstream.close()
    await database.drop()
  })

  const api = async (server: Serving, method: string, path: string, body: unknown): Promise<void> => {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`${server.url}${path}`, { method, headers, body: JSON.stringify(body) })
    expect([response.status, await response.text()]).toMatchObject([method === 'PUT' ? 200 : 201, expect.any(String)])
  }
  const number = async (query: string): Promise<number> => Number((await books.query(query)).rows[0]?.n ?? 0)
  const open = () => number('SELECT (SELECT COUNT(*) FROM ledger_dispatch WHERE swept_at IS NULL) AS n')
  const reserved = () => number('SELECT COALESCE(SUM(reserved_nano), 0) AS n FROM ledger_accounts')
  const spent = () => number('SELECT COALESCE(SUM(charge_nano), 0) AS n FROM ledger_usage')
  const rows = () => number('SELECT COUNT(*) AS n FROM ledger_usage')

  it('leaves no reservation behind and books each request once', { timeout: 300_000 }, async () => {
    let server = await serving([], { cwd, env })
    const overrides = [{ model: 'up/m', input: PRICES.input, output: PRICES.output }]
    await api(server, 'PUT', '/api/pricing/overrides', { data: overrides })
    await api(server, 'POST', '/api/budgets', { scope: 'org', window: 'lifetime', hard_limit_usd: 100 })
    for (const which of [1, 2, 1, 2]) {
      const before = { rows: await rows(), spent: await spent(), heard: upstream.requests.length }
      upstream.script(reply({ text: 'Hi.', usage: { input: 3, output: 7 } }))
      proxy.drop(which, 'stay away')
      const asked = fetch(`${server.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      }).catch(() => null)
      await eventually(async () => proxy.dropped)
      server.child.kill('SIGKILL')
      await asked
      await server.exited
      proxy.heal()
      server = await serving([], { cwd, env })
      await eventually(async () => (await open()) === 0)
      expect(await reserved()).toBe(0)
      const booked = (await spent()) - before.spent
      expect((await rows()) - before.rows).toBe(1)
      // After the first commit the upstream was not called. The prompt is booked anyway, because the next process cannot know.
      expect(upstream.requests.length - before.heard).toBe(which - 1)
      if (which === 2) expect(booked).toBe(COST)
      else expect(booked).toBeLessThanOrEqual((body.length / 4) * 1000)
    }
    server.child.kill('SIGTERM')
    expect((await server.exited).code).toBe(0)
  })
})

// The free pool over several processes: 300 parallel requests admit exactly as many as the limits hold, and a killed process leaves nothing
// reserved.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent, request } from 'undici'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sql } from '../../core/db/sql.ts'
import { type Serving, serving } from '../adapters/cli/hookgate.ts'
import { testPostgres, whyNoPostgres } from '../support/postgres.ts'

const COUNT = 300
const USED = { prompt: 10, completion: 20 }
const ANSWER = JSON.stringify({
  ...{ id: 'c', object: 'chat.completion', created: 1, model: 'm' },
  choices: [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: USED.prompt, completion_tokens: USED.completion, total_tokens: USED.prompt + USED.completion },
})

/** Holds all requests until it is released. */
async function holdingUpstream() {
  const waiting: ServerResponse[] = []
  let open = false
  const answer = (res: ServerResponse) => res.writeHead(200, { 'content-type': 'application/json' }).end(ANSWER)
  const server = createServer((req, res) => {
    req.resume().on('end', () => (open ? answer(res) : waiting.push(res)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    waiting,
    release() {
      open = true
      for (const res of waiting.splice(0)) answer(res)
    },
    hold() {
      open = false
      waiting.length = 0
    },
    close: () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
  }
}

let upstream: Awaited<ReturnType<typeof holdingUpstream>>
let cwd: string
const agent = new Agent({ connections: COUNT, pipelining: 1, headersTimeout: 120_000, connect: { timeout: 120_000 } })
beforeAll(async () => {
  upstream = await holdingUpstream()
  cwd = mkdtempSync(join(tmpdir(), 'hookgate-pool-'))
  const connection = {
    ...{ provider: 'custom', baseUrl: upstream.baseUrl, wireFormat: 'chat', apiKey: 'sk-race' },
    ...{ defaultModel: 'm', metadata: { free_pool: true } },
  }
  writeFileSync(join(cwd, 'gateway.config.mjs'), `export default { connections: { up: ${JSON.stringify(connection)} } }\n`)
})
afterAll(async () => {
  await agent.close()
  await upstream.close()
  rmSync(cwd, { recursive: true, force: true })
})

interface FreePool {
  used: { hour: number; day: number; week: number }
  global: { used: number }
}

async function pool({ url }: Serving): Promise<FreePool> {
  const { body } = await request(`${url}/api/free-pool`, { dispatcher: agent })
  return (await body.json()) as FreePool
}

async function ask({ url }: Serving): Promise<number> {
  const { statusCode, body } = await request(`${url}/v1/chat/completions`, {
    method: 'POST',
    dispatcher: agent,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gateway/free', max_tokens: 20, messages: [{ role: 'user', content: 'Hello' }] }),
  })
  await body.dump()
  return statusCode
}

/** The reservation of one such request. */
async function estimate(server: Serving): Promise<number> {
  upstream.hold()
  const first = ask(server)
  await expect.poll(() => upstream.waiting.length, { timeout: 20_000 }).toBe(1)
  const { used } = await pool(server)
  upstream.release()
  await first
  return used.hour
}

const noPostgres = await whyNoPostgres()

describe.skipIf(noPostgres !== null)('four processes on one PostgreSQL', () => {
  const limits: readonly (readonly [string, string])[] = [
    ['the limit of an hour', 'FREE_TIER_TOKEN_LIMIT_HOUR'],
    ['the limit of a week', 'FREE_TIER_TOKEN_LIMIT_WEEK'],
    ['the cap of the day', 'FREE_POOL_GLOBAL_DAILY_TOKEN_CAP'],
  ]
  it.each(limits)('admit exactly what %s holds', { timeout: 300_000 }, async (_, variable) => {
    const database = await testPostgres()
    const env = environment(database.url)
    const single = await serving([], { cwd, env })
    const held = await estimate(single)
    single.child.kill('SIGTERM')
    await single.exited
    const settled = USED.prompt + USED.completion
    const admitted = 41
    // One token less than one more request needs.
    const limit = settled + held * (admitted + 1) - 1
    const servers: Serving[] = []
    for (let i = 0; i < 4; i++) servers.push(await serving([], { cwd, env: { ...env, [`GATEWAY_${variable}`]: String(limit) } }))
    try {
      upstream.hold()
      const statuses: number[] = []
      const asking = Array.from({ length: COUNT }, async (_, i) => void statuses.push(await ask(servers[i % 4] as Serving)))
      await expect
        .poll(() => [statuses.length, upstream.waiting.length], { timeout: 100_000, interval: 50 })
        .toEqual([COUNT - admitted, admitted])
      expect(new Set(statuses)).toEqual(new Set([429]))
      const { used, global } = await pool(servers[0] as Serving)
      for (const tokens of [used.hour, used.day, used.week, global.used]) expect(tokens).toBe(settled + held * admitted)
      upstream.release()
      await Promise.all(asking)
      const spent = settled * (admitted + 1)
      await expect.poll(async () => (await pool(servers[1] as Serving)).used).toEqual({ hour: spent, day: spent, week: spent })
      expect(await reserved(database.url)).toBe(0)
    } finally {
      upstream.release()
      for (const one of servers) one.child.kill('SIGTERM')
      await Promise.all(servers.map(({ exited }) => exited))
      await database.drop()
    }
  })

  it('settle what a killed one had reserved', { timeout: 300_000 }, async () => {
    const database = await testPostgres()
    const env = { ...environment(database.url), GATEWAY_FREE_TIER_TOKEN_LIMIT_HOUR: '100000' }
    const [killed, other] = [await serving([], { cwd, env }), await serving([], { cwd, env })]
    try {
      upstream.hold()
      const lost = Array.from({ length: 20 }, () => ask(killed).catch(() => 0))
      await expect.poll(() => upstream.waiting.length, { timeout: 20_000 }).toBe(20)
      expect(await reserved(database.url)).toBeGreaterThan(0)
      killed.child.kill('SIGKILL')
      await killed.exited
      await Promise.all(lost)
      await expect.poll(() => reserved(database.url), { timeout: 200_000, interval: 500 }).toBe(0)
      const { used } = await pool(other)
      expect(used.hour).toBeGreaterThan(0)
      upstream.release()
      expect(await ask(other)).toBe(200)
    } finally {
      upstream.release()
      other.child.kill('SIGTERM')
      await other.exited
      await database.drop()
    }
  })
})

function environment(url: string): Record<string, string> {
  return {
    GATEWAY_DATA_DIR: mkdtempSync(join(cwd, 'data-')),
    GATEWAY_PRICING_SYNC_ENABLED: 'false',
    // The test sends many requests at once; the gateway must not shed them on a slow machine.
    GATEWAY_OVERLOAD_LOOP_DELAY_MS: '0',
    GATEWAY_CONFIG: join(cwd, 'gateway.config.mjs'),
    GATEWAY_DATABASE_URL: url,
    GATEWAY_MASTER_KEY: randomBytes(32).toString('base64'),
  }
}

/** Reserved tokens of all accounts. */
async function reserved(url: string): Promise<number> {
  const { openDatabase } = await import('../../adapters/stores/open-database.ts')
  const db = await openDatabase(url, '.')
  try {
    const row = await db.get<{ n: number }>(sql`SELECT CAST(COALESCE(SUM(reserved_nano), 0) AS BIGINT) AS n FROM ledger_accounts`)
    return row?.n ?? 0
  } finally {
    await db.close()
  }
}

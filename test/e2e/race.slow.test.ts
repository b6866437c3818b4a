// A thousand requests at once against one limit: exactly as many are admitted as the limit allows, on any of several processes over one
// database. Also the first requests of a key that was just created.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent, request } from 'undici'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Serving, serving } from '../adapters/cli/hookgate.ts'
import { testPostgres, whyNoPostgres } from '../support/postgres.ts'

const COUNT = 1000
const ANSWER = JSON.stringify({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 10, completion_tokens: 100, total_tokens: 110 },
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
    },
    close: () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
  }
}

let upstream: Awaited<ReturnType<typeof holdingUpstream>>
let cwd: string
const agent = new Agent({ connections: COUNT, pipelining: 1, headersTimeout: 120_000, connect: { timeout: 120_000 } })
beforeAll(async () => {
  upstream = await holdingUpstream()
  cwd = mkdtempSync(join(tmpdir(), 'hookgate-race-'))
  const connection = { provider: 'custom', baseUrl: upstream.baseUrl, wireFormat: 'chat', apiKey: 'sk-race' }
  writeFileSync(join(cwd, 'gateway.config.mjs'), `export default { connections: { up: ${JSON.stringify(connection)} } }\n`)
})
afterAll(async () => {
  await agent.close()
  await upstream.close()
  rmSync(cwd, { recursive: true, force: true })
})

interface Budget {
  id: number
  spend_usd: number
  reserved_usd: number
  effective_limit_usd: number
}

async function call<T>(url: string, method: 'GET' | 'POST' | 'PUT', body?: object): Promise<T> {
  const response = await request(url, {
    method,
    dispatcher: agent,
    headers: { 'content-type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  const answer = (await response.body.json()) as T
  if (response.statusCode >= 300) throw new Error(`${method} ${url}: ${response.statusCode} ${JSON.stringify(answer)}`)
  return answer
}

/** Sends a thousand requests at once, across all processes in turn. Returns the number of upstream calls. */
async function race(servers: readonly Serving[], key: string, admitted: number): Promise<void> {
  upstream.hold()
  const statuses: number[] = []
  const asking = Array.from({ length: COUNT }, async (_, i) => {
    const { url } = servers[i % servers.length] as Serving
    const response = await request(`${url}/v1/chat/completions`, {
      method: 'POST',
      dispatcher: agent,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ model: 'up/m', max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }] }),
    })
    await response.body.dump()
    statuses.push(response.statusCode)
  })
  // No request is answered before all are decided, so that all admitted ones run at once.
  await expect
    .poll(() => [statuses.length, upstream.waiting.length], { timeout: 100_000, interval: 50 })
    .toEqual([COUNT - admitted, admitted])
  expect(new Set(statuses)).toEqual(new Set([402]))
  upstream.release()
  await Promise.all(asking)
  expect(statuses.filter((status) => status === 200)).toHaveLength(admitted)
}

const noPostgres = await whyNoPostgres()
const places = [
  { name: 'one process on SQLite', processes: 1, postgres: false },
  { name: 'four workers on one SQLite', processes: 1, postgres: false, workers: 4 },
  { name: 'one process on PostgreSQL', processes: 1, postgres: true },
  { name: 'two processes on one PostgreSQL', processes: 2, postgres: true },
  { name: 'four processes on one PostgreSQL', processes: 4, postgres: true },
]

describe.each(places)('$name', ({ processes, postgres, workers = 1 }) => {
  it.skipIf(postgres && noPostgres !== null)('admits exactly what the limit holds', { timeout: 480_000 }, async () => {
    const server = postgres ? await testPostgres() : null
    const dir = mkdtempSync(join(cwd, 'data-'))
    const env = {
      GATEWAY_DATA_DIR: dir,
      GATEWAY_WORKERS: String(workers),
      GATEWAY_PRICING_SYNC_ENABLED: 'false',
      // The test sends a thousand requests at once; the gateway must not shed them on a slow machine.
      GATEWAY_OVERLOAD_LOOP_DELAY_MS: '0',
      // On a busy machine this process needs more than a second to write to all of its connections.
      GATEWAY_MAX_PENDING_CONNECTIONS_PER_ADDRESS: String(COUNT),
      GATEWAY_CONFIG: join(cwd, 'gateway.config.mjs'),
      ...(server ? { GATEWAY_DATABASE_URL: server.url, GATEWAY_MASTER_KEY: randomBytes(32).toString('base64') } : {}),
    }
    const servers: Serving[] = []
    for (let i = 0; i < processes; i++) servers.push(await serving([], { cwd, env }))
    if (workers > 1) await expect.poll(() => workersOf((servers[0] as Serving).url), { timeout: 100_000 }).toBe(workers)
    try {
      const { url } = servers[0] as Serving
      await call(`${url}/api/pricing/overrides`, 'PUT', { data: [{ model: 'up/m', input: 1, output: 10 }] })
      const probe = await keyWithBudget(url, 1000)
      // The reservation of one such request.
      upstream.hold()
      const first = request(`${url}/v1/chat/completions`, {
        method: 'POST',
        dispatcher: agent,
        headers: { 'content-type': 'application/json', authorization: `Bearer ${probe.key}` },
        body: JSON.stringify({ model: 'up/m', max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }] }),
      }).then(({ body }) => body.dump())
      await expect.poll(() => upstream.waiting.length).toBe(1)
      const held = nano((await budget(url, probe.budget)).reserved_usd)
      upstream.release()
      await first
      for (const admitted of postgres ? [137] : [137, 1, 0]) {
        // One nano less than one more request needs.
        const fresh = await keyWithBudget(url, (held * (admitted + 1) - 1) / 1e9)
        // The other processes read the key and its budget within two seconds. Of several workers, any may get each of these.
        const askedOften = servers.flatMap((one) => Array<Serving>(workers > 1 ? 40 : 1).fill(one))
        await expect
          .poll(() => Promise.all(askedOften.map((one) => known(one.url, fresh))), { interval: 50 })
          .not.toContain(false)
        await race(servers, fresh.key, admitted)
        await expect.poll(async () => (await budget(url, fresh.budget)).reserved_usd).toBe(0)
        expect(nano((await budget(url, fresh.budget)).spend_usd)).toBe(admitted * (10 * 1000 + 100 * 10_000))
      }
    } finally {
      upstream.release()
      for (const one of servers) one.child.kill('SIGTERM')
      await Promise.all(servers.map(({ exited }) => exited))
      await server?.drop()
    }
  })
})

/** Returns how many workers serve the address. */
async function workersOf(url: string): Promise<number> {
  const { body } = await request(`${url}/metrics`, { dispatcher: agent })
  return Number(/^gateway_workers (\d+)$/m.exec(await body.text())?.[1])
}

const nano = (usd: number): number => Math.round(usd * 1e9)

interface Fresh {
  key: string
  budget: number
}

async function keyWithBudget(url: string, usd: number): Promise<Fresh> {
  const { id, key } = await call<{ id: number; key: string }>(`${url}/api/keys`, 'POST', { label: `race ${usd}` })
  const made = await call<Budget>(`${url}/api/budgets`, 'POST', {
    scope: 'key',
    entity_id: id,
    window: 'lifetime',
    hard_limit_usd: usd,
  })
  return { key, budget: made.id }
}

async function budget(url: string, id: number): Promise<Budget> {
  const { data } = await call<{ data: Budget[] }>(`${url}/api/budgets`, 'GET')
  return data.find((one) => one.id === id) as Budget
}

async function known(url: string, { key, budget: id }: Fresh): Promise<boolean> {
  const { statusCode, body } = await request(`${url}/v1/models`, {
    dispatcher: agent,
    headers: { authorization: `Bearer ${key}` },
  })
  await body.dump()
  return statusCode === 200 && (await budget(url, id)) !== undefined
}

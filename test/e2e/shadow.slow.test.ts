// Shadow evaluation in real processes: four of them share one spending cap, and a killed one leaves whole samples only.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDatabase } from '../../adapters/stores/open-database.ts'
import { sql } from '../../core/db/sql.ts'
import { type Serving, serving } from '../adapters/cli/hookgate.ts'
import { testPostgres, whyNoPostgres } from '../support/postgres.ts'

/** Less than the reservation, which is an upper limit for a prompt of this length. */
const USED = { prompt_tokens: 60, completion_tokens: 10, total_tokens: 70 }
/** USD for 1M tokens. */
const PRICES = [
  { model: '*/dear', input: 10, output: 40 },
  { model: '*/cheap', input: 1, output: 4 },
]
const COST_NANO = 60 * 1000 + 10 * 4000
const CAP_NANO = 2_000_000

/** Answers at once; the words differ from model to model. */
async function upstreamServer() {
  const server = createServer(async (req, res) => {
    let text = ''
    for await (const chunk of req) text += chunk
    const { model } = JSON.parse(text) as { model: string }
    const message = { role: 'assistant', content: `An answer of ${model}.` }
    res.writeHead(200, { 'content-type': 'application/json' }).end(
      JSON.stringify({
        ...{ id: 'c', object: 'chat.completion', created: 1, model, usage: USED },
        choices: [{ index: 0, message, finish_reason: 'stop' }],
      }),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    close: () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
  }
}

let upstream: Awaited<ReturnType<typeof upstreamServer>>
let cwd: string
beforeAll(async () => {
  upstream = await upstreamServer()
  cwd = mkdtempSync(join(tmpdir(), 'hookgate-shadow-'))
  const connection = { provider: 'custom', baseUrl: upstream.baseUrl, wireFormat: 'chat', apiKey: 'sk-shadow' }
  const config = {
    connections: { up: connection },
    virtualModels: { work: { strategy: 'failover', targets: ['up/dear', 'up/cheap'] } },
  }
  writeFileSync(join(cwd, 'gateway.config.mjs'), `export default ${JSON.stringify(config)}\n`)
})
afterAll(async () => {
  await upstream.close()
  rmSync(cwd, { recursive: true, force: true })
})

const env = (): Record<string, string> => ({
  GATEWAY_MASTER_KEY: randomBytes(32).toString('hex'),
  GATEWAY_SHADOW_EVAL_ENABLED: 'true',
  // A slow machine must not shed requests or replays.
  GATEWAY_OVERLOAD_LOOP_DELAY_MS: '0',
  GATEWAY_SHADOW_SAMPLE_RATE: '1',
  GATEWAY_SHADOW_DAILY_USD_BUDGET: String(CAP_NANO / 1e9),
})

async function call<T>({ url }: Serving, method: string, path: string, body?: object): Promise<T> {
  const sent = body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
  const response = await fetch(url + path, { method, ...sent })
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
  return (await response.json()) as T
}

const ask = (server: Serving, index: number) =>
  call(server, 'POST', '/v1/chat/completions', {
    model: 'work',
    max_tokens: 10,
    messages: [{ role: 'user', content: `Question ${index}: what is the canary of this sample?` }],
  })

const price = (server: Serving) => call(server, 'PUT', '/api/pricing/overrides', { data: PRICES })

interface Row {
  state: string
  payload_sealed: string | null
  score: number | null
  challenger_cost_nano: number | null
}

async function stored(url: string) {
  const db = await openDatabase(url, '.')
  try {
    const days = await db.all<{ day: string; spent_nano: number; reserved_nano: number }>(sql`SELECT * FROM shadow_eval_days`)
    const rows = await db.all<Row>(sql`SELECT state, payload_sealed, score, challenger_cost_nano FROM shadow_eval_samples`)
    const booked = await db.all<{ cost_nano: number }>(sql`SELECT cost_nano FROM ledger_usage WHERE source = 'shadow'`)
    return { days, rows, booked: booked.reduce((sum, { cost_nano }) => sum + cost_nano, 0), calls: booked.length }
  } finally {
    await db.close()
  }
}

const noPostgres = await whyNoPostgres()

it.skipIf(noPostgres !== null)('four processes stop at one cap, to the nano', { timeout: 600_000 }, async () => {
  const database = await testPostgres()
  const shared = { ...env(), GATEWAY_DATABASE_URL: database.url }
  const servers: Serving[] = []
  try {
    for (let index = 0; index < 4; index++) servers.push(await serving([], { cwd, env: shared }))
    await price(servers[0] as Serving)
    const stopped = async () => {
      const all = await Promise.all(
        servers.map((one) => call<{ today: { stopped_until: string | null } }>(one, 'GET', '/api/shadow')),
      )
      return all.every(({ today }) => today.stopped_until !== null)
    }
    // A process that has not reached the cap goes on sampling, and finds out by its next replay.
    for (let index = 0; !(await stopped()); index++) {
      await Promise.all(servers.map((server) => ask(server, index)))
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
    const { days, booked, calls, rows } = await stored(database.url)
    expect(days.reduce((sum, { spent_nano }) => sum + spent_nano, 0)).toBe(booked)
    expect(booked).toBe(calls * COST_NANO)
    for (const { spent_nano, reserved_nano } of days) {
      expect(spent_nano).toBeLessThanOrEqual(CAP_NANO)
      expect(reserved_nano).toBe(0)
    }
    // A reservation is larger than the cost; not even one more fits.
    if (days.length === 1) expect(CAP_NANO - booked).toBeLessThan(4 * COST_NANO)
    expect(rows.filter(({ state }) => state === 'scored')).toHaveLength(calls)
    expect(rows.some(({ state }) => state === 'queued')).toBe(true)
  } finally {
    for (const one of servers) one.child.kill('SIGTERM')
    await Promise.all(servers.map(({ exited }) => exited))
    await database.drop()
  }
})

describe('a killed process', () => {
  it('leaves no half sample, and no text outside of sealed columns', { timeout: 600_000 }, async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'hookgate-shadow-data-'))
    const url = `sqlite:${join(dataDir, 'gateway.db')}`
    const own = { ...env(), GATEWAY_DATA_DIR: dataDir, GATEWAY_DATABASE_URL: url, GATEWAY_SHADOW_DAILY_USD_BUDGET: '5' }
    try {
      let asked = 0
      for (let cycle = 0; cycle < 3; cycle++) {
        const server = await serving([], { cwd, env: own })
        if (cycle === 0) await price(server)
        const before = asked
        for (; asked < before + 20; asked++) await ask(server, asked)
        // In the middle of the writes, and later in the middle of a replay.
        await new Promise((resolve) => setTimeout(resolve, cycle * 4000))
        server.child.kill('SIGKILL')
        await server.exited
        const { rows, days, booked } = await stored(url)
        for (const { state, payload_sealed, score, challenger_cost_nano } of rows) {
          const waits = state === 'queued' || state === 'running'
          expect([waits, payload_sealed !== null]).toEqual([waits, waits])
          expect([score !== null, challenger_cost_nano !== null]).toEqual([!waits, !waits])
        }
        const kept = days.reduce((sum, { spent_nano, reserved_nano }) => sum + spent_nano + reserved_nano, 0)
        expect(kept).toBeGreaterThanOrEqual(booked)
      }
      const last = await serving([], { cwd, env: own })
      const exported = await (await fetch(`${last.url}/api/shadow/export`)).text()
      const lines = exported
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { state: string; content: unknown })
      expect(lines.length).toBeGreaterThan(20)
      for (const { state, content } of lines)
        if (state === 'queued' || state === 'running')
          expect(content).toMatchObject({ request: { messages: [{ role: 'user' }] }, answer: { text: 'An answer of dear.' } })
      last.child.kill('SIGTERM')
      await last.exited
      const db = await openDatabase(url, '.')
      for (const { name } of await db.all<{ name: string }>(sql`SELECT name FROM sqlite_master WHERE type = 'table'`)) {
        const rows = await db.all(sql`SELECT * FROM ${sql.id(name)}`)
        expect([name, JSON.stringify(rows).includes('canary of this sample')]).toEqual([name, false])
      }
      await db.close()
    } finally {
      rmSync(dataDir, { recursive: true, force: true })
    }
  })
})

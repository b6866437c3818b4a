// Batches while processes are killed: every item ends with exactly one result.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { choose, type ScriptedUpstream, scriptedUpstream } from '../../adapters/testing/index.ts'
import { type TestPostgres, testPostgres, whyNoPostgres } from '../support/postgres.ts'
import { runTs } from '../support/run-ts.ts'

const ITEMS = 120
const LEASE_MS = 1500
const MASTER_KEY = randomBytes(32).toString('base64')

interface Batch {
  id: string
  status: string
  request_counts: { total: number; completed: number; failed: number }
  results: { custom_id: string; response: { status_code: number; body: unknown } | null }[]
}

const children: ReturnType<typeof runTs>[] = []
let up: ScriptedUpstream | null = null
let postgres: TestPostgres | null = null
let dir: string | null = null
const given = { ...process.env }
afterEach(async () => {
  for (const child of children.splice(0)) await killed(child)
  await up?.close()
  await postgres?.drop()
  if (dir !== null) rmSync(dir, { recursive: true, force: true })
  up = postgres = dir = null
  process.env = { ...given }
})

async function start(): Promise<{ child: ReturnType<typeof runTs>; origin: string }> {
  const child = runTs('batch-runner.ts', up?.baseUrl('chat') as string, String(LEASE_MS))
  children.push(child)
  let errors = ''
  child.stderr.on('data', (chunk) => (errors += chunk))
  const port = await new Promise<string>((resolve, reject) => {
    child.stdout.once('data', (chunk) => resolve(String(chunk).trim()))
    child.once('exit', (code) => reject(new Error(`exit ${code}: ${errors}`)))
  })
  return { child, origin: `http://127.0.0.1:${port}` }
}

function killed(child: ReturnType<typeof runTs>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  child.kill('SIGKILL')
  return gone
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

async function create(origin: string): Promise<Batch> {
  const requests = Array.from({ length: ITEMS }, (_, at) => ({
    custom_id: `item-${at}`,
    url: '/v1/chat/completions',
    body: { model: 'up/m', messages: [{ role: 'user', content: `say item-${at}.` }] },
  }))
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${origin}/v1/batches`, { method: 'POST', headers, body: JSON.stringify({ requests }) })
  expect(response.status, await response.clone().text()).toBe(200)
  return (await response.json()) as Batch
}

async function ended(origin: string, id: string): Promise<Batch> {
  for (let tries = 0; tries < 150; tries++) {
    const batch = (await (await fetch(`${origin}/v1/batches/${id}`)).json()) as Batch
    if (batch.status === 'completed') return batch
    await pause(100)
  }
  throw new Error(
    `The batch did not end within a minute: ${(await (await fetch(`${origin}/v1/batches/${id}`)).text()).slice(0, 700)} after ${up?.requests.length} calls.`,
  )
}

/** The upstream says which item it was asked for. */
async function upstream(delayMs: number): Promise<ScriptedUpstream> {
  const named = (json: unknown) => /item-\d+/.exec(JSON.stringify(json))?.[0] as string
  up = await scriptedUpstream(
    choose(({ json }) => ({ kind: 'reply', reply: { text: `heard ${named(json.messages)}` }, delayMs })),
  )
  return up
}

/** Number of calls by item. */
function calls(): Map<string, number> {
  const found = new Map<string, number>()
  for (const { json } of up?.requests ?? []) {
    const name = /item-\d+/.exec(JSON.stringify(json.messages))?.[0] as string
    found.set(name, (found.get(name) ?? 0) + 1)
  }
  return found
}

function everyItemOnce({ results, request_counts }: Batch): void {
  expect(results.map(({ custom_id: id }) => id)).toEqual(Array.from({ length: ITEMS }, (_, at) => `item-${at}`))
  for (const { custom_id: id, response } of results) {
    if (response?.status_code === 200) expect(JSON.stringify(response.body)).toContain(`heard ${id}"`)
    else expect(JSON.stringify(response?.body ?? response)).toContain('interrupted')
  }
  const failed = results.filter(({ response }) => response?.status_code !== 200).length
  expect(request_counts).toEqual({ total: ITEMS, completed: ITEMS - failed, failed })
}

it('kill -9 ten times in the middle: each item has one result, and no item is called more than twice', async () => {
  await upstream(60)
  dir = mkdtempSync(join(tmpdir(), 'hookgate-batches-'))
  Object.assign(process.env, { GATEWAY_DATA_DIR: dir, GATEWAY_MASTER_KEY: MASTER_KEY })
  let { child, origin } = await start()
  const { id } = await create(origin)
  let repeated = 0
  for (let kill = 0; kill < 10; kill++) {
    const before = up?.requests.length as number
    // Items of the killed process wait for its lease.
    for (let tries = 0; tries < 100 && (up?.requests.length as number) < before + 5; tries++) await pause(50)
    await killed(child)
    const next = await start()
    child = next.child
    origin = next.origin
  }
  const batch = await ended(origin, id)
  everyItemOnce(batch)
  for (const count of calls().values()) {
    expect(count).toBeLessThanOrEqual(2)
    if (count > 1) repeated++
  }
  console.info(`10 kills: ${up?.requests.length} calls for ${ITEMS} items, ${repeated} items were called twice`)
})

const missing = await whyNoPostgres()

describe.skipIf(missing !== null)(`two replicas on PostgreSQL${missing === null ? '' : ` (skipped: ${missing})`}`, () => {
  const replicas = async () => {
    postgres = await testPostgres()
    Object.assign(process.env, { DATABASE_URL: postgres.url, GATEWAY_MASTER_KEY: MASTER_KEY })
    const one = await start()
    return [one, await start()] as const
  }

  it('share the items: none runs twice', async () => {
    await upstream(40)
    const [one, two] = await replicas()
    const { id } = await create(one.origin)
    everyItemOnce(await ended(two.origin, id))
    expect([...calls().values()].every((count) => count === 1)).toBe(true)
  })

  it('when one is killed, the other ends the batch', async () => {
    await upstream(40)
    const [one, two] = await replicas()
    const { id } = await create(one.origin)
    for (let tries = 0; tries < 100 && (up?.requests.length as number) < 20; tries++) await pause(20)
    await killed(one.child)
    everyItemOnce(await ended(two.origin, id))
    expect([...calls().values()].every((count) => count <= 2)).toBe(true)
  })
})

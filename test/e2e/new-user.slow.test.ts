// A new user's first day: start, create a key, add a connection, call through each SDK, restart; then the same with PostgreSQL, Redis and
// two processes. It uses real processes, the built command line and the official clients.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { text } from '../../adapters/testing/script.ts'
import { type ScriptedUpstream, scriptedUpstream } from '../../adapters/testing/scripted-upstream.ts'
import { hookgate, type Serving, serving } from '../adapters/cli/hookgate.ts'
import { eventually } from '../adapters/node/support.ts'
import { testPostgres, whyNoPostgres } from '../support/postgres.ts'
import { REDIS_URL, whyNoRedis } from '../support/redis.ts'

interface Place {
  env: Record<string, string>
  clear(): Promise<void>
}

const SECRET = 'sk-lab-0123456789'
let upstream: ScriptedUpstream
let cwd: string
beforeAll(async () => {
  upstream = await scriptedUpstream()
  cwd = mkdtempSync(join(tmpdir(), 'hookgate-user-'))
})
afterAll(async () => {
  await upstream.close()
  rmSync(cwd, { recursive: true, force: true })
})

async function json(place: Place, ...args: string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await hookgate([...args, '--json'], { cwd, env: place.env })
  if (code !== 0) throw new Error(`hookgate ${args.join(' ')}: ${code} ${stderr}`)
  return JSON.parse(stdout) as Record<string, unknown>
}

async function stop(server: Serving): Promise<void> {
  server.child.kill('SIGTERM')
  expect((await server.exited).code).toBe(0)
}

/** Returns what each SDK gets from `model`. */
async function heard(url: string, apiKey: string, model: string): Promise<string[]> {
  const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 })
  const anthropic = new Anthropic({ baseURL: url, apiKey, maxRetries: 0 })
  const google = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: url } })
  const messages = [{ role: 'user' as const, content: 'hello' }]
  const chat = await openai.chat.completions.create({ model, messages })
  const response = await openai.responses.create({ model, input: 'hello' })
  const message = await anthropic.messages.create({ model, messages, max_tokens: 20 })
  const content = await google.models.generateContent({ model, contents: 'hello' })
  const block = message.content[0]
  return [
    chat.choices[0]?.message.content ?? '',
    response.output_text,
    block?.type === 'text' ? block.text : '',
    content.text ?? '',
  ]
}

const status = async (url: string, key: string): Promise<number> => {
  const response = await fetch(`${url}/v1/messages/count_tokens`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: 'echo/echo-1', messages: [{ role: 'user', content: 'hi' }] }),
  })
  await response.arrayBuffer()
  return response.status
}

async function firstDay(place: Place): Promise<void> {
  const first = await serving([], { cwd, env: place.env })
  const lab = ['provider', 'add', 'lab', '--base-url', upstream.baseUrl('chat'), '--wire-format', 'chat', '--api-key', SECRET]
  const [made, connection] = (await Promise.all([json(place, 'key', 'create', '--label', 'me'), json(place, ...lab)])) as [
    { id: number; key: string },
    { id: number },
  ]
  await eventually(async () => (await status(first.url, made.key)) === 200)
  expect(await heard(first.url, made.key, 'echo/echo-1')).toEqual(['hello', 'hello', 'hello', 'hello'])
  upstream.script(...Array.from({ length: 4 }, () => text('from the lab')))
  await eventually(async () => (await (await fetch(`${first.url}/api/providers`)).text()).includes('"lab"'))
  expect(await heard(first.url, made.key, 'lab/m')).toEqual(Array.from({ length: 4 }, () => 'from the lab'))
  expect(upstream.requests.at(-1)?.headers.authorization).toBe(`Bearer ${SECRET}`)
  await stop(first)

  const second = await serving([], { cwd, env: place.env })
  const lists = await Promise.all([json(place, 'key', 'list'), json(place, 'provider', 'list')])
  const [keys, connections] = lists as [{ data: { id: number }[] }, { data: { id: number; provider: string }[] }]
  expect(keys.data.map(({ id }) => id)).toEqual([made.id])
  expect(connections.data.map(({ provider }) => provider).sort()).toEqual(['echo', 'lab'])
  expect(connections.data.map(({ id }) => id)).toContain(connection.id)
  upstream.script(...Array.from({ length: 4 }, () => text('still there')))
  expect(await heard(second.url, made.key, 'lab/m')).toEqual(Array.from({ length: 4 }, () => 'still there'))
  await stop(second)
}

it('one process and SQLite', { timeout: 300_000 }, async () => {
  const dir = mkdtempSync(join(tmpdir(), 'hookgate-user-data-'))
  await firstDay({ env: { GATEWAY_DATA_DIR: dir, GATEWAY_REQUIRE_API_KEY: 'true' }, clear: async () => {} })
  rmSync(dir, { recursive: true, force: true })
})

const missing = [await whyNoPostgres(), await whyNoRedis()].filter((reason) => reason !== null).join('; ')

describe.skipIf(missing !== '')(`PostgreSQL and Redis${missing && ` (skipped: ${missing})`}`, () => {
  let place: Place
  beforeAll(async () => {
    const database = await testPostgres()
    const env = {
      GATEWAY_PROFILE: 'cloud',
      GATEWAY_DATABASE_URL: database.url,
      GATEWAY_REDIS_URL: REDIS_URL,
      GATEWAY_MASTER_KEY: randomBytes(32).toString('base64'),
      GATEWAY_REQUIRE_API_KEY: 'true',
      GATEWAY_LIMITER_REDIS_FALLBACK: 'fail-closed',
    }
    place = { env, clear: () => database.drop() }
  })
  afterAll(() => place.clear())

  it('two processes are one gateway: keys, revocation, one rpm cap over both', {
    timeout: 300_000,
  }, async () => {
    // On the cloud profile `echo` exists only when the file has a connection to it.
    const file = join(mkdtempSync(join(tmpdir(), 'hookgate-user-config-')), 'gateway.config.mjs')
    writeFileSync(file, `export default { connections: { echo: { provider: 'echo' } } }`)
    const env = { ...place.env, GATEWAY_CONFIG: file }
    const servers = await Promise.all([serving([], { cwd, env }), serving([], { cwd, env })])
    const [a, b] = servers.map(({ url }) => url) as [string, string]
    const made = (await json(place, 'key', 'create', '--label', 'shared', '--rpm', '60')) as { id: number; key: string }
    // The model list needs a key and does not count against its limit.
    const models = async (url: string, key: string) =>
      (await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })).status
    const known = async (key: string) => {
      for (const url of [a, b]) await eventually(async () => (await models(url, key)) === 200)
    }
    await known(made.key)

    const capped = (await json(place, 'key', 'create', '--rpm', '60')) as { id: number; key: string }
    await known(capped.key)
    const statuses = await Promise.all(Array.from({ length: 160 }, (_, i) => status(i % 2 ? a : b, capped.key)))
    const count = (wanted: number) => statuses.filter((one) => one === wanted).length
    expect(count(200)).toBeLessThanOrEqual(60)
    expect(count(200) + count(503)).toBeGreaterThanOrEqual(60)
    expect(count(200) + count(429) + count(503)).toBe(160)

    await json(place, 'key', 'revoke', String(made.id))
    for (const url of [a, b]) await eventually(async () => (await status(url, made.key)) === 401)
    for (const server of servers) server.child.kill('SIGTERM')
    for (const server of servers) expect((await server.exited).code).toBe(0)
  })

  it('an SDK call through each dialect, and after a restart', { timeout: 300_000 }, async () => {
    const dir = mkdtempSync(join(tmpdir(), 'hookgate-user-'))
    const local = { ...place, env: { ...place.env, GATEWAY_PROFILE: 'local' } }
    // Another database than the one above, because the list of keys is compared.
    const database = await testPostgres()
    await firstDay({ ...local, env: { ...local.env, GATEWAY_DATABASE_URL: database.url, GATEWAY_DATA_DIR: dir } })
    await database.drop()
    rmSync(dir, { recursive: true, force: true })
  })
})

// Thoughts survive a restart and are shared by replicas, through a table in which they are unreadable.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { openDatabase } from '../../../adapters/stores/open-database.ts'
import {
  createTestGateway,
  fakeClock,
  reply,
  type TestGateway,
  type TestGatewayOptions,
} from '../../../adapters/testing/index.ts'
import { sql } from '../../../core/db/sql.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { Database } from '../../../core/types/ports/db.ts'
import { migrations } from '../../../plugins/reasoning-replay/migrations.ts'
import { ENGINES } from '../../support/engines.ts'
import { connected } from '../../support/own-connection.ts'
import { whileTimePasses } from '../../support/passing-time.ts'
import { recordingLog } from '../../support/recording-log.ts'
import { toolTurn } from '../../support/tool-history.ts'
import { watchedDatabase } from '../../support/watched-database.ts'
import { bearer, makeKey } from '../keys/support.ts'
import { called, replayed, switched, THOUGHT } from './support.ts'

const MASTER_KEY = randomBytes(32).toString('base64')
const TABLE = 'reasoning_replay_cache'
const CALL = { id: 'call_rome', name: 'weather', args: '{"city": "Rome"}' }

const open: TestGateway[] = []
const dirs: string[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true })
})

async function gateway(options: TestGatewayOptions): Promise<TestGateway> {
  const t = await createTestGateway({ ...options, env: { REASONING_REPLAY: 'true', MASTER_KEY, ...options.env } })
  open.push(t)
  return t
}

/** A header selects the organization of a request. */
const organizations = definePlugin({
  name: 'test-organizations',
  setup(gateway) {
    gateway.hook(
      'authenticate',
      ({ headers }) => {
        const org = headers.get('x-org')
        return org === null ? undefined : { keyId: 1, label: null, orgId: Number(org), allowedModels: null }
      },
      { order: 'pre' },
    )
  },
})

/** Waits until delayed writes are done. */
async function closed(t: TestGateway): Promise<void> {
  open.splice(open.indexOf(t), 1)
  await t.close()
}

const rowsOf = (db: Database) => db.all<{ key: string; thoughts_sealed: string }>(sql`SELECT * FROM ${sql.id(TABLE)}`)

describe.each(ENGINES)('on $name', ({ missing, with: withDatabase }) => {
  const onDatabase = (use: (db: Database) => Promise<void>) =>
    withDatabase('reasoning-replay', migrations, async (db) => {
      await use(db)
      // Before their database: a gateway that closes after it retries its writes for a second.
      for (const one of open.splice(0)) await one.close()
    })

  it.skipIf(missing !== null)('a thought outlives a restart, streamed or not, for chat and for messages upstreams', () =>
    onDatabase(async (db) => {
      const messages = { model: 'messages/claude-sonnet-4-5', stream: true }
      const before = await gateway({ ports: { db } })
      const calls = await called(before, 'chat')
      const signed = await called(before, 'messages', messages)
      await closed(before)
      const after = await gateway({ ports: { db } })
      expect(await replayed(after, 'chat', calls)).toHaveProperty('reasoning_content', THOUGHT)
      const { content } = await replayed(after, 'messages', signed, messages)
      expect(content).toMatchObject([{ type: 'thinking', thinking: THOUGHT, signature: 'EqQBsigned' }, { type: 'tool_use' }])
    }),
  )

  it.skipIf(missing !== null)('a turn on one replica has its thought from another, and asks for it once', () =>
    onDatabase(async (inner) => {
      const db = watchedDatabase(inner)
      const here = await gateway({ ports: { db: inner } })
      const there = await gateway({ ports: { db } })
      const calls = await called(here, 'chat')
      await expect.poll(async () => (await rowsOf(inner)).length).toBe(1)
      const reads = () => db.asked.filter((text) => /^SELECT/.test(text) && text.includes(TABLE)).length
      for (const _ of [1, 2]) expect(await replayed(there, 'chat', calls)).toHaveProperty('reasoning_content', THOUGHT)
      expect(reads()).toBe(1)
    }),
  )

  it.skipIf(missing !== null)('no other organization, key or model gets it from there', () =>
    onDatabase(async (db) => {
      const before = await gateway({ ports: { db }, plugins: [organizations()] })
      const { key } = await makeKey(before)
      const { key: other } = await makeKey(before)
      await called(before, 'chat', { headers: bearer(key) })
      await connected(before, 7, { priority: 10 })
      await called(before, 'chat', { headers: { 'x-org': '7' }, model: 'chat/glm' })
      await closed(before)
      const after = await gateway({ ports: { db }, plugins: [organizations()] })
      for (const orgId of [7, 8]) await connected(after, orgId, { priority: 1 })
      const thoughtOf = async (headers: Record<string, string>, model = 'chat/kimi') =>
        (await replayed(after, 'chat', [CALL], { headers, model })).reasoning_content
      expect(await thoughtOf(bearer(other))).toBeUndefined()
      expect(await thoughtOf({})).toBeUndefined()
      expect(await thoughtOf(bearer(key), 'chat/glm')).toBeUndefined()
      expect(await thoughtOf({ 'x-org': '8' }, 'chat/glm')).toBeUndefined()
      expect(await thoughtOf(bearer(key))).toBe(THOUGHT)
      expect(await thoughtOf({ 'x-org': '7' }, 'chat/glm')).toBe(THOUGHT)
    }),
  )

  it.skipIf(missing !== null)('a thought of two hours is not given any more, and its row goes', () =>
    onDatabase(async (db) => {
      const clock = fakeClock()
      const before = await gateway({ ports: { db, clock } })
      const calls = await called(before, 'chat')
      await closed(before)
      await clock.advance('119m')
      const young = await gateway({ ports: { db, clock } })
      expect(await replayed(young, 'chat', calls)).toHaveProperty('reasoning_content', THOUGHT)
      await clock.advance('61s')
      expect(await replayed(young, 'chat', calls)).not.toHaveProperty('reasoning_content')
      await whileTimePasses(clock, async () => (await rowsOf(db)).length, '10s').toBe(0)
    }),
  )

  it.skipIf(missing !== null)('of more than 2000 rows the oldest go, and one call has one row', () =>
    onDatabase(async (db) => {
      const t = await gateway({ ports: { db } })
      const now = Date.now()
      const values = Array.from({ length: 2000 }, (_, n) => [`old-${String(n).padStart(4, '0')}`, 0, now + n, 'sealed'])
      await db.run(sql`INSERT INTO ${sql.id(TABLE)} (key, org_id, expires_at, thoughts_sealed) VALUES ${sql.values(values)}`)
      for (const _ of [1, 2]) await called(t, 'chat')
      await closed(t)
      const rows = await rowsOf(db)
      expect(rows).toHaveLength(2000)
      const keys = rows.map(({ key }) => key)
      expect(keys).not.toContain('old-0000')
      expect(keys).toContain('old-0001')
    }),
  )
})

describe('in the file', () => {
  const stored = (dir: string): string =>
    readdirSync(dir)
      .filter((name) => name.startsWith('gateway.db'))
      .map((name) => readFileSync(join(dir, name), 'latin1'))
      .join('')

  it('neither the thought nor the id of its call can be read, and a gateway with another master key does not start on it', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'hookgate-reasoning-'))
    dirs.push(dir)
    const env = { DATA_DIR: dir, DATABASE_URL: 'sqlite:gateway.db' }
    const thought = `canary-${randomBytes(8).toString('hex')}`
    const id = `call_${randomBytes(8).toString('hex')}`
    const before = await gateway({ env })
    before.upstream.script(reply({ reasoning: { text: thought }, toolCalls: [{ ...CALL, id }] }))
    const { path, body } = toolTurn('chat', 'chat/kimi')
    await (await before.post(path, body)).text()
    await closed(before)
    expect(stored(dir)).toContain(TABLE)
    expect(stored(dir)).not.toContain(thought)
    expect(stored(dir)).not.toContain(id)
    await expect(gateway({ env: { ...env, MASTER_KEY: randomBytes(32).toString('base64') } })).rejects.toThrow(/master key/i)
    const after = await gateway({ env })
    expect(await replayed(after, 'chat', [{ ...CALL, id }])).toHaveProperty('reasoning_content', thought)
  })

  it('a row that was moved or altered is a miss and a line of the log', async () => {
    const db = await openDatabase('sqlite::memory:', '.')
    const before = await gateway({ ports: { db } })
    const calls = await called(before, 'chat')
    await called(before, 'chat', { model: 'chat/glm' })
    await closed(before)
    const rows = await rowsOf(db)
    expect(rows).toHaveLength(2)
    for (const [index, { key }] of rows.entries())
      await db.run(
        sql`UPDATE ${sql.id(TABLE)} SET thoughts_sealed = ${rows[1 - index]?.thoughts_sealed as string} WHERE key = ${key}`,
      )
    const log = recordingLog()
    const after = await gateway({ ports: { db, log } })
    expect(await replayed(after, 'chat', calls)).not.toHaveProperty('reasoning_content')
    expect(log.lines.map(({ message }) => message)).toContain('reasoning_replay.unreadable')
    await closed(after)
    await db.close()
  })
})

describe('the table', () => {
  const touched = (asked: readonly string[]) => asked.filter((text) => text.includes(TABLE))

  it('is not asked while the switch is off, nor for histories whose thoughts are known or there', async () => {
    const inner = await openDatabase('sqlite::memory:', '.')
    const db = watchedDatabase(inner)
    const t = await gateway({ ports: { db, clock: fakeClock() }, env: { REASONING_REPLAY: 'false' } })
    db.asked.length = 0
    const calls = await called(t, 'chat')
    await replayed(t, 'chat', calls)
    expect(touched(db.asked)).toEqual([])
    await switched(t, true)
    const known = await called(t, 'chat')
    expect(await replayed(t, 'chat', known)).toHaveProperty('reasoning_content', THOUGHT)
    const { path, body } = toolTurn('chat', 'chat/kimi', { calls })
    Object.assign((body.messages as object[])[1]!, { reasoning_content: 'my own' })
    await (await t.post(path, body)).text()
    expect(touched(db.asked)).toEqual([])
    await closed(t)
    expect(touched(db.asked)).not.toEqual([])
    await db.close()
  })

  it('is emptied when the switch is turned off, and what was left by an earlier run goes as it runs out', async () => {
    const db = await openDatabase('sqlite::memory:', '.')
    const clock = fakeClock()
    const t = await gateway({ ports: { db, clock } })
    await called(t, 'chat')
    await switched(t, false)
    await expect.poll(async () => (await rowsOf(db)).length).toBe(0)
    await switched(t, true)
    await called(t, 'chat')
    await closed(t)
    expect(await rowsOf(db)).toHaveLength(1)
    const off = await gateway({ ports: { db, clock }, env: { REASONING_REPLAY: 'false' } })
    await clock.advance('122m')
    await expect.poll(async () => (await rowsOf(db)).length).toBe(0)
    await closed(off)
    await db.close()
  })

  it('failing is a miss: the request goes on, memory works, and the log says so once', async () => {
    const inner = await openDatabase('sqlite::memory:', '.')
    const failing: Database = {
      ...watchedDatabase(inner),
      all: (query, row) => (query.text.includes(TABLE) ? Promise.reject(new Error('The disk is gone.')) : inner.all(query, row)),
    }
    const log = recordingLog()
    const t = await gateway({ ports: { db: failing, log } })
    for (const _ of [1, 2]) expect(await replayed(t, 'chat', [CALL])).not.toHaveProperty('reasoning_content')
    const calls = await called(t, 'chat')
    expect(await replayed(t, 'chat', calls)).toHaveProperty('reasoning_content', THOUGHT)
    expect(log.lines.filter(({ message }) => message === 'reasoning_replay.read_failed')).toHaveLength(1)
    await closed(t)
    await inner.close()
  })
})

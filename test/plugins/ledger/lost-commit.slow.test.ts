// PostgreSQL commits and its answer is lost, at every commit of a request: each is booked once, no reservation stays, and refused
// requests cost nothing. Both when the process continues and when another one takes over.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { openDatabase } from '../../../adapters/stores/open-database.ts'
import { fileSpool } from '../../../adapters/stores/spool.ts'
import { reply } from '../../../adapters/testing/script.ts'
import { sql } from '../../../core/db/sql.ts'
import { type CommitProxy, commitProxy } from '../../support/commit-proxy.ts'
import { testPostgres, whyNoPostgres } from '../../support/postgres.ts'
import { type Books, openBooks, PRICE } from './support.ts'

const KEY = randomBytes(32).toString('base64')
const COST = 3 * PRICE.input + 7 * PRICE.output
const missing = await whyNoPostgres()
const body = { model: 'chat/m', messages: [{ role: 'user', content: 'hi' }] }

const cleaning: (() => unknown)[] = []
afterEach(async () => {
  for (const clean of cleaning.splice(0).reverse()) await clean()
})

interface World {
  proxy: CommitProxy
  books: Books
  /** The process dies, and another one starts over the same database and directory. */
  kill(): Promise<void>
}

async function world(): Promise<World> {
  const database = await testPostgres()
  cleaning.push(() => database.drop())
  const proxy = await commitProxy(database.url)
  cleaning.push(() => proxy.close())
  const dir = mkdtempSync(join(tmpdir(), 'hookgate-commit-'))
  cleaning.push(() => rmSync(dir, { recursive: true, force: true }))
  const start = async () => {
    const db = await openDatabase(proxy.url, '.')
    const books = await openBooks({
      upstream: [reply({ text: 'Hi.', usage: { input: 3, output: 7 } })],
      env: { MASTER_KEY: KEY },
      ports: { db, spool: fileSpool(join(dir, 'spool')) },
    })
    cleaning.push(async () => {
      proxy.heal()
      await books.gateway.close()
      await db.close()
    })
    return books
  }
  const made: World = {
    proxy,
    books: await start(),
    async kill() {
      // A process that writes nothing counts as dead: its requests belong to another boot, long ago.
      await made.books.inside.db.run(sql`UPDATE ledger_dispatch SET boot_id = 'of a process that is gone', at = 0`)
      made.books = await start()
    },
  }
  return made
}

const nothingOpen = async ({ books }: World, spent: number): Promise<void> => {
  await expect.poll(() => books.balance('a'), { timeout: 8000 }).toEqual({ spent, reserved: 0 })
  await expect.poll(() => books.dispatched(), { timeout: 8000 }).toBe(0)
}

describe.skipIf(missing !== null)('the answer to a COMMIT is lost', () => {
  it.each([1, 2])('number %d of a request: it is answered, booked once, and nothing stays reserved', async (which) => {
    const w = await world()
    w.proxy.drop(which)
    const response = await w.books.gateway.post('/v1/chat/completions', body, { 'x-hold': 'a 500/1000' })
    expect(response.status).toBe(200)
    await response.arrayBuffer()
    await expect.poll(() => w.proxy.dropped, { timeout: 8000 }).toBe(true)
    await nothingOpen(w, COST)
    expect(await w.books.rows()).toHaveLength(1)
  })

  it('and a limit that holds one request holds one, not two and not none', async () => {
    const w = await world()
    w.proxy.drop(1)
    const ask = () => w.books.gateway.post('/v1/chat/completions', body, { 'x-hold': 'a 1000/1000' })
    expect((await ask()).status).toBe(200)
    await nothingOpen(w, COST)
  })

  it.each([
    ['is refused and never sent: it costs nothing', false, false],
    ['is refused, and the process is killed: it costs nothing', false, true],
    ['goes on unreserved: it is booked once', true, false],
  ])(
    'and the database stays away: the request %s',
    async (_what, open, killed) => {
      const w = await world()
      w.proxy.drop(1, 'stay away')
      const hold = `a 500/1000${open ? ' open' : ''}`
      const response = await w.books.gateway.post('/v1/chat/completions', body, { 'x-hold': hold })
      expect(w.proxy.dropped).toBe(true)
      expect(response.status).toBe(open ? 200 : 503)
      await response.arrayBuffer()
      await w.books.gateway.untilSettled(1)
      w.proxy.heal()
      if (killed) await w.kill()
      // The spool is replayed with the next successful commit.
      const next = await w.books.gateway.post('/v1/chat/completions', body, { 'x-hold': 'b 500/1000' })
      expect(next.status).toBe(200)
      await nothingOpen(w, open ? COST : 0)
      expect(await w.books.rows()).toHaveLength(open ? 2 : 1)
    },
    20_000,
  )

  it('of a settlement, and the process is killed before it can ask again: it is booked once', async () => {
    const w = await world()
    w.proxy.drop(2, 'stay away')
    const response = await w.books.gateway.post('/v1/chat/completions', body, { 'x-hold': 'a 500/1000' })
    expect(response.status).toBe(200)
    await response.arrayBuffer()
    await expect.poll(() => w.proxy.dropped, { timeout: 8000 }).toBe(true)
    w.proxy.heal()
    await w.kill()
    await nothingOpen(w, COST)
    expect(await w.books.rows()).toHaveLength(1)
  }, 20_000)
})

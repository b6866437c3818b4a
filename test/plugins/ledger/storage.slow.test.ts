// The ledger without its database, on engines that really fail: a file locked by another process, a full disk, a lost server. Writes that
// may wait are spooled, others are refused, and none is lost.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterEach, describe, expect, it } from 'vitest'
import { openDatabase } from '../../../adapters/stores/open-database.ts'
import { fileSpool } from '../../../adapters/stores/spool.ts'
import { reply } from '../../../adapters/testing/script.ts'
import { sql } from '../../../core/db/sql.ts'
import { requestId } from '../../../core/ids/ids.ts'
import type { Database } from '../../../core/types/ports/db.ts'
import { ownPostgres } from '../../support/own-postgres.ts'
import { watchedDatabase } from '../../support/watched-database.ts'
import { type Books, openBooks, PRICE } from './support.ts'

const COST = 20 * PRICE.input + 5 * PRICE.output
const chat = { model: 'chat/m', messages: [{ role: 'user', content: 'Hello' }] }

let dir: string
let books: Books
const cleaning: (() => Promise<void>)[] = []
afterEach(async () => {
  await books.gateway.close()
  for (const clean of cleaning.splice(0)) await clean()
  rmSync(dir, { recursive: true, force: true })
})

async function open(database: (dir: string) => Promise<Database>): Promise<Database> {
  dir = mkdtempSync(join(tmpdir(), 'hookgate-books-'))
  const db = await database(dir)
  const spool = fileSpool(join(dir, 'spool'))
  cleaning.push(
    () => db.close(),
    () => spool.close(),
  )
  books = await openBooks({
    upstream: [reply({ text: 'Hi.', usage: { input: 20, output: 5 } })],
    ports: { db, spool },
  })
  return db
}
const file = (dir: string) => openDatabase(`sqlite:${join(dir, 'gateway.db')}`, '.')
const ask = (hold?: string) => books.gateway.post('/v1/chat/completions', chat, hold ? { 'x-hold': hold } : {})

/** Returns false when it does not fit any more. */
async function filler(db: Database, bytes: number): Promise<boolean> {
  const row = [requestId(), 'filler', 4e12, 'x'.repeat(bytes)]
  try {
    await db.run(sql`INSERT INTO ledger_dispatch (request_id, boot_id, at, facts) VALUES ${sql.values([row])}`)
    return true
  } catch {
    return false
  }
}

/** One request before, three during the outage, one after: their answers, and the final state of the ledger. */
async function through(away: () => Promise<void>, back: () => Promise<void>): Promise<void> {
  expect((await ask('a 500/1000')).status).toBe(200)
  await books.gateway.untilSettled(1)
  await expect.poll(() => books.dispatched()).toBe(0)
  await away()
  const refused = await ask('a 500/1000')
  expect(refused.status).toBe(503)
  expect(await refused.json()).toMatchObject({ error: { code: 'storage_unavailable' } })
  expect((await ask('a 500/1000 open')).status).toBe(200)
  expect((await ask()).status).toBe(200)
  await books.gateway.untilSettled(4)
  await back()
  // The first successful unit replays the spool.
  await expect.poll(async () => (await ask('b 1/1000000')).status, { interval: 100 }).toBe(200)
  const asked = books.gateway.settled.filter(({ outcome }) => outcome.status === 200).length
  await expect.poll(async () => (await books.rows()).length).toBe(asked)
  await expect.poll(() => books.dispatched()).toBe(0)
  expect(await books.balance('a')).toEqual({ spent: 2 * COST, reserved: 0 })
  expect(await books.balance('b')).toEqual({ spent: (asked - 3) * COST, reserved: 0 })
}

const server = await ownPostgres()

describe('a hold is refused with 503 or let go, as its owner says, and what was served is booked in the end:', () => {
  it('while every statement is refused', { timeout: 120_000 }, async () => {
    let watched: ReturnType<typeof watchedDatabase> | undefined
    await open(async (dir) => (watched = watchedDatabase(await file(dir))))
    const set = (away: boolean) => async () => {
      if (watched) watched.away = away
    }
    await through(set(true), set(false))
  })

  it('while another process holds the write lock', { timeout: 120_000 }, async () => {
    await open(file)
    const other = new Sqlite(join(dir, 'gateway.db'))
    await through(
      async () => void other.exec('BEGIN IMMEDIATE'),
      async () => void other.exec('ROLLBACK'),
    )
    other.close()
  })

  it('while the disk is full', { timeout: 120_000 }, async () => {
    const db = await open(file)
    await through(
      async () => {
        // No further pages, and those of the requests' traces are full.
        await db.tx((tx) => tx.get(sql`PRAGMA max_page_count = 1`))
        while ((await filler(db, 200)) || (await filler(db, 1)));
      },
      async () => {
        await db.tx((tx) => tx.get(sql`PRAGMA max_page_count = 1000000`))
        await db.run(sql`DELETE FROM ledger_dispatch WHERE boot_id = 'filler'`)
      },
    )
  })

  it.skipIf(server === null)('while PostgreSQL is gone (needs its binaries)', { timeout: 120_000 }, async () => {
    if (server === null) return
    await server.start()
    await open(() => openDatabase(server.url, '.'))
    await through(
      () => server.stop(),
      () => server.start(),
    )
    cleaning.push(() => server.remove())
  })
})

// SQLite only: files and pragmas, other processes' locks, a full disk, and transactions that never end.
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type SqliteOptions, sqliteDatabase } from '../../../adapters/stores/sqlite.ts'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { sql } from '../../../core/db/sql.ts'
import { isStorageUnavailable } from '../../../core/db/storage-fault.ts'
import { systemClock } from '../../../core/timing/clock.ts'
import type { Database } from '../../../core/types/ports/db.ts'

let dir: string
let path: string
let open: { close(): unknown }[]

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'hookgate-'))
  path = join(dir, 'data', 'gateway.db')
  open = []
})
afterEach(async () => {
  for (const each of open) await each.close()
  rmSync(dir, { recursive: true })
})

async function database(options: Partial<SqliteOptions> = {}): Promise<Database> {
  const db = sqliteDatabase({ path, ...options })
  open.push(db)
  await db.run(sql`CREATE TABLE IF NOT EXISTS t (n INTEGER PRIMARY KEY, filler TEXT)`)
  return db
}

/** Longer than a machine stalls. */
const PATIENT = { busyTimeoutMs: 50_000 }

/** SQLite cannot distinguish this connection from another process. */
function stranger(): Sqlite.Database {
  const other = new Sqlite(path, { timeout: 0 })
  open.push(other)
  return other
}

const insert = (n: number) => sql`INSERT INTO t (n) VALUES (${n})`
const count = async (db: Database) => (await db.get<{ c: number }>(sql`SELECT count(*) AS c FROM t`))?.c
const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('the file', () => {
  it('is private, in WAL with synchronous NORMAL, foreign keys and a waiting time', async () => {
    const db = await database()
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(statSync(join(dir, 'data')).mode & 0o777).toBe(0o700)
    expect(statSync(`${path}-wal`).mode & 0o777).toBe(0o600)
    const pragma = async (text: string) => Object.values((await db.tx((tx) => tx.get({ text, params: [] }))) as object)[0]
    expect(await pragma('PRAGMA journal_mode')).toBe('wal')
    expect(await pragma('PRAGMA synchronous')).toBe(1)
    expect(await pragma('PRAGMA foreign_keys')).toBe(1)
  })

  it('can be asked for synchronous FULL', async () => {
    const db = await database({ synchronous: 'FULL' })
    expect(await db.tx((tx) => tx.get(sql`PRAGMA synchronous`))).toEqual({ synchronous: 2 })
  })

  it('that is none of SQLite’s is a clear error', () => {
    writeFileSync(join(dir, 'x.db'), 'hello '.repeat(1000))
    expect(() => sqliteDatabase({ path: join(dir, 'x.db') })).toThrow(/not a SQLite database/)
    expect(() => sqliteDatabase({ path: dir })).toThrow()
  })

  it('closes twice, waits for an open transaction, and refuses afterwards', async () => {
    const db = await database()
    const write = db.tx(async (tx) => {
      await turn()
      await tx.run(insert(1))
    })
    await Promise.all([db.close(), db.close()])
    await write
    await expect(db.run(insert(2))).rejects.toThrow(/closed/)
    await expect(db.ping()).rejects.toThrow(/closed/)
    expect(await count(await database())).toBe(1)
  })
})

describe('a commit', () => {
  it('is on disk when the call returns, before anybody awaits it', async () => {
    const db = await database()
    const done = db.commit([[{ sql: insert(1) }]])
    expect(stranger().prepare('SELECT count(*) FROM t').pluck().get()).toBe(1)
    expect(await done).toEqual([{ ok: true }])
  })

  it('waits for an interactive transaction', async () => {
    const db = await database()
    const order: string[] = []
    const slow = db.tx(async (tx) => {
      await tx.run(insert(1))
      for (let i = 0; i < 5; i++) await turn()
      order.push('tx')
    })
    await Promise.all([slow, db.commit([[{ sql: insert(2) }]]).then(() => order.push('commit'))])
    expect(order).toEqual(['tx', 'commit'])
  })
})

describe('inside a transaction', () => {
  it('the outer database reads what is committed and refuses to write, where it would wait for ever', async () => {
    for (const db of [await database(), await database({ path: ':memory:' })]) {
      await db.tx(async (tx) => {
        await tx.run(insert(1))
        expect(await count(db)).toBe(db === open[0] ? 0 : 1)
        for (const act of [
          () => db.run(insert(2)),
          () => db.atomic([{ sql: insert(2) }]),
          () => db.tx((inner) => inner.run(insert(2))),
        ])
          await expect(act()).rejects.toThrow(/Inside db\.tx\(\)/)
        await expect(db.all(sql`INSERT INTO t (n) VALUES (3) RETURNING n`)).rejects.toThrow(/Inside db\.tx\(\)/)
      })
      expect(await count(db)).toBe(1)
    }
  })

  it('thirty seconds without a statement end it; one that works is left alone', async () => {
    const clock = fakeClock()
    const db = await database({ clock })
    const stuck = db.tx(async (tx) => {
      await tx.run(insert(1))
      await new Promise(() => {})
    })
    const outcome = expect(stuck).rejects.toThrow(/without a statement and was rolled back/)
    await turn()
    const waiting = db.run(insert(2))
    await clock.advance('31s')
    await outcome
    await waiting
    const busy = db.tx(async (tx) => {
      for (let n = 10; n < 15; n++) {
        await tx.run(insert(n))
        await clock.sleep(20_000)
      }
    })
    await turn()
    await clock.advance('110s')
    await busy
    expect(await count(db)).toBe(6)
  })
})

describe('another process that holds the lock', () => {
  it('and both read before they write: no update is lost', async () => {
    const [one, two] = [await database(PATIENT), await database(PATIENT)]
    await one.run(insert(0))
    const step = (db: Database) =>
      db.tx(async (tx) => {
        const { filler } = (await tx.get<{ filler: string | null }>(sql`SELECT filler FROM t`)) as { filler: string | null }
        await turn()
        await tx.run(sql`UPDATE t SET filler = ${`${filler ?? ''}x`}`)
      })
    await Promise.all(Array.from({ length: 40 }, (_, i) => step(i % 2 === 0 ? one : two)))
    expect(await one.get(sql`SELECT length(filler) AS l FROM t`)).toEqual({ l: 40 })
  })

  it('is waited for without blocking the event loop', async () => {
    const db = await database(PATIENT)
    const other = stranger()
    other.exec('BEGIN IMMEDIATE')
    let turns = 0
    const writes = [db.run(insert(1)), db.commit([[{ sql: insert(2) }]]), db.tx((tx) => tx.run(insert(3)))]
    for (; turns < 20; turns++) await new Promise((resolve) => setTimeout(resolve, 5))
    expect(await count(db)).toBe(0)
    other.exec('COMMIT')
    await Promise.all(writes)
    expect(await count(db)).toBe(3)
  })

  it('too long is 503, and the next write succeeds', async () => {
    const db = await database({ busyTimeoutMs: 60 })
    const other = stranger()
    other.exec('BEGIN IMMEDIATE')
    for (const act of [
      () => db.run(insert(1)),
      () => db.commit([[{ sql: insert(1) }]]),
      () => db.tx((tx) => tx.run(insert(1))),
    ]) {
      const error = await act().then(
        () => null,
        (error: unknown) => error,
      )
      expect(isStorageUnavailable(error)).toBe(true)
      expect((error as Error).message).toContain('another process holds the write lock')
    }
    other.exec('COMMIT')
    await db.run(insert(1))
    expect(await count(db)).toBe(1)
  })
})

it('who waits for a lock behind others gives up when they do, not after all of them in turn', async () => {
  let now = 0
  const clock = {
    ...systemClock,
    monotonic: () => now,
    async sleep(ms: number) {
      now += ms
    },
  }
  const db = await database({ busyTimeoutMs: 100, clock })
  const other = stranger()
  other.exec('BEGIN IMMEDIATE')
  const writes = [1, 2, 3, 4].flatMap((n) => [db.run(insert(n)), db.tx((tx) => tx.run(insert(10 * n)))])
  const ends = await Promise.all(writes.map((write) => write.catch(isStorageUnavailable)))
  expect(ends).toEqual(Array(8).fill(true))
  expect(now).toBeLessThan(400)
  other.exec('COMMIT')
  await db.run(insert(1))
  expect(await count(db)).toBe(1)
})

describe('a full disk', () => {
  it('fails the whole commit as 503, leaves nothing half done, and passes', async () => {
    const db = await database()
    const filler = 'x'.repeat(5000)
    const big = (n: number) => ({ sql: sql`INSERT INTO t (n, filler) VALUES (${n}, ${filler})` })
    await db.tx((tx) => tx.get(sql`PRAGMA max_page_count = 20`))
    await db.commit([[big(1)]])
    const units = Array.from({ length: 30 }, (_, i) => [big(i + 2)])
    await expect(db.commit(units)).rejects.toSatisfy(isStorageUnavailable)
    await expect(db.commit(units)).rejects.toThrow(/disk is full/)
    await expect(
      db.tx(async (tx) => {
        for (const { sql } of units.flat()) await tx.run(sql)
      }),
    ).rejects.toSatisfy(isStorageUnavailable)
    expect(await count(db)).toBe(1)
    await db.tx((tx) => tx.get(sql`PRAGMA max_page_count = 10000`))
    await db.commit(units)
    expect(await count(db)).toBe(31)
  })
})

it('keeps a bounded number of prepared statements', async () => {
  const db = await database()
  await db.run(insert(1))
  for (let i = 0; i < 1200; i++) expect(await db.get({ text: `SELECT n + ${i} AS v FROM t`, params: [] })).toEqual({ v: 1 + i })
  expect(await db.get({ text: 'SELECT n + 0 AS v FROM t', params: [] })).toEqual({ v: 1 })
})

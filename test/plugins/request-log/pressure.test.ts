// A store that fails or is too slow: rows are lost and counted, requests continue.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterEach, describe, expect, it } from 'vitest'
import { openDatabase } from '../../../adapters/stores/open-database.ts'
import { type FakeClock, fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { text } from '../../../adapters/testing/script.ts'
import type { TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { recordingLog } from '../../support/recording-log.ts'
import { type WatchedDatabase, watchedDatabase } from '../../support/watched-database.ts'
import { ask, loggingGateway, logs } from './support.ts'

let t: TestGateway
let db: WatchedDatabase | null = null
let dir: string | null = null
let clock: FakeClock
afterEach(async () => {
  if (db !== null) db.away = false
  await meanwhile(t.close())
  await db?.close()
  if (dir !== null) rmSync(dir, { recursive: true })
  db = dir = null
})

/** Advances the time until it is done. */
async function meanwhile<T>(running: Promise<T>): Promise<T> {
  let done = false
  const watched = running.finally(() => {
    done = true
  })
  watched.catch(() => {})
  while (!done) await clock.advance(50)
  return watched
}

async function dropped(what: 'row' | 'body'): Promise<number> {
  const lines = (await (await t.fetch('/metrics')).text()).split('\n')
  const line = lines.find((each) => each.startsWith(`gateway_request_log_dropped_total{what="${what}"}`))
  return Number(line?.split(' ').at(-1))
}
const chats = async (count: number): Promise<number[]> => {
  const answers = await Promise.all(Array.from({ length: count }, () => t.post('/v1/chat/completions', ask('nobody/m'))))
  return answers.map(({ status }) => status)
}

describe('a database that is away', () => {
  it('costs rows, which are counted; requests go on, and so does the log when it is back', async () => {
    clock = fakeClock()
    const log = recordingLog()
    db = watchedDatabase(await openDatabase('sqlite::memory:', '.'))
    t = await loggingGateway({ ports: { db, clock, log } })
    db.away = true
    expect(await chats(5)).toEqual([400, 400, 400, 400, 400])
    await clock.advance('2s')
    expect(await dropped('row')).toBe(5)
    await chats(3)
    await clock.advance('2s')
    expect(await dropped('row')).toBe(8)
    // Logged once, not for every batch.
    expect(JSON.stringify(log).match(/batch_writer.failing/g)).toHaveLength(1)
    db.away = false
    await chats(2)
    expect((await logs(t)).data).toHaveLength(2)
    expect(await dropped('row')).toBe(8)
  })

  it('costs only the wait for it: the try after a second may succeed', async () => {
    clock = fakeClock()
    db = watchedDatabase(await openDatabase('sqlite::memory:', '.'))
    t = await loggingGateway({ ports: { db, clock } })
    db.away = true
    await chats(2)
    await clock.advance(50)
    db.away = false
    await clock.advance('1s')
    expect((await logs(t)).data).toHaveLength(2)
    expect(await dropped('row')).toBe(0)
  })

  it('does not keep a reader waiting', async () => {
    clock = fakeClock()
    db = watchedDatabase(await openDatabase('sqlite::memory:', '.'))
    t = await loggingGateway({ ports: { db, clock } })
    db.away = true
    await chats(1)
    const before = clock.monotonic()
    expect((await meanwhile(t.fetch('/api/logs'))).status).toBe(503)
    expect(clock.monotonic() - before).toBeLessThanOrEqual(400)
  })
})

describe('a full or locked SQLite file', () => {
  it('costs rows, and requests go on', async () => {
    dir = mkdtempSync(join(tmpdir(), 'hookgate-pressure-'))
    clock = fakeClock()
    const path = join(dir, 'gateway.db')
    t = await loggingGateway({ env: { DATA_DIR: dir }, ports: { clock } })
    // The gateway's start-up work is done.
    await clock.advance('1s')
    const other = new Sqlite(path)
    other.exec('BEGIN IMMEDIATE')
    expect(await chats(3)).toEqual([400, 400, 400])
    // The batch waits two seconds for the lock, one second, and two seconds again.
    for (let i = 0; i < 700 && (await dropped('row')) === 0; i++) await clock.advance(10)
    other.exec('ROLLBACK')
    other.close()
    const lost = await dropped('row')
    await chats(1)
    const seen = (await logs(t)).data.length
    expect(lost + seen).toBe(4)
  })

  it('that takes no more pages: what fits not is dropped and counted', async () => {
    dir = mkdtempSync(join(tmpdir(), 'hookgate-pressure-'))
    clock = fakeClock()
    const inner = await openDatabase(`sqlite:${join(dir, 'gateway.db')}`, '.')
    db = watchedDatabase(inner)
    t = await loggingGateway({
      env: { LOG_BODIES: 'true' },
      ports: { db, clock },
      upstream: Array.from({ length: 40 }, () => text('x y '.repeat(5000))),
    })
    const pages = await db.get<{ page_count: number }>({ text: 'SELECT page_count FROM pragma_page_count', params: [] })
    await db.run({ text: `PRAGMA max_page_count = ${(pages?.page_count ?? 0) + 20}`, params: [] })
    for (let i = 0; i < 40; i++) expect((await t.post('/v1/chat/completions', ask())).status).toBe(200)
    await clock.advance('3s')
    expect(await dropped('body')).toBeGreaterThan(0)
    expect((await t.post('/v1/chat/completions', ask('nobody/m'))).status).toBe(400)
  })
})

describe('more than the queue holds', () => {
  it('is dropped, bodies before rows, and counted', async () => {
    clock = fakeClock()
    db = watchedDatabase(await openDatabase('sqlite::memory:', '.'))
    t = await loggingGateway({ ports: { db, clock }, env: { LOG_BODIES: 'true' } })
    db.away = true
    await chats(1400)
    expect(await dropped('row')).toBe(0)
    const lost = await dropped('body')
    expect(lost).toBeGreaterThan(300)
    db.away = false
    await clock.advance('2s')
    expect(await dropped('row')).toBe(0)
    const kept = await db.get({
      text: 'SELECT (SELECT COUNT(*) FROM request_log) AS rows_kept, COUNT(*) AS bodies FROM request_log_bodies',
      params: [],
    })
    expect(kept).toEqual({ rows_kept: 1400, bodies: 1400 - lost })
  })
})

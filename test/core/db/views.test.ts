// Views: a write is visible here when it resolves and elsewhere after a poll; an old load never overwrites a newer value.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { postgresDatabase } from '../../../adapters/stores/postgres.ts'
import { sqliteDatabase } from '../../../adapters/stores/sqlite.ts'
import { type FakeClock, fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { migrate } from '../../../core/db/migrate.ts'
import { sql } from '../../../core/db/sql.ts'
import { isStorageUnavailable } from '../../../core/db/storage-fault.ts'
import { ViewHub } from '../../../core/db/views.ts'
import { systemClock } from '../../../core/timing/clock.ts'
import type { Database, Db, View } from '../../../core/types/ports/db.ts'
import { testPostgres, whyNoPostgres } from '../../support/postgres.ts'
import { type RecordingLog, recordingLog } from '../../support/recording-log.ts'

const noPostgres = await whyNoPostgres()
const PLUGINS = [
  { name: 'pets', migrations: [{ id: '1', up: 'CREATE TABLE pets (name TEXT); CREATE TABLE pets_toys (name TEXT)' }] },
]

const names = async (db: Db) => (await db.all<{ name: string }>(sql`SELECT name FROM pets ORDER BY name`)).map((row) => row.name)
const toys = async (db: Db) => (await db.all<{ name: string }>(sql`SELECT name FROM pets_toys`)).map((row) => row.name)
const add = (name: string) => (db: Db) => db.run(sql`INSERT INTO pets (name) VALUES (${name})`)

let dir: string
let clock: FakeClock
let here: { db: Database; hub: ViewHub; log: RecordingLog }
let there: typeof here

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'hookgate-'))
  clock = fakeClock()
  const open = () => {
    const db = sqliteDatabase({ path: join(dir, 'a.db') })
    const log = recordingLog()
    return { db, log, hub: new ViewHub(db, clock, log) }
  }
  here = open()
  there = open()
  await migrate(here.db, PLUGINS)
})

afterEach(async () => {
  for (const { hub, db } of [here, there]) {
    await hub.close()
    await db.close()
  }
  rmSync(dir, { recursive: true })
})

describe('a view', () => {
  it('has reloaded when its write resolves, and gives back what the change returned', async () => {
    const view = await here.hub.view('pets', names)
    expect(view.current).toEqual([])
    expect(await view.write(add('Rex'))).toEqual({ changes: 1 })
    expect(view.current).toEqual(['Rex'])
  })

  it('keeps its value when the change rejects', async () => {
    const view = await here.hub.view('pets', names)
    const refused = view.write(async (db) => {
      await add('Rex')(db)
      throw new Error('no')
    })
    await expect(refused).rejects.toThrow('no')
    expect([view.current, await names(here.db)]).toEqual([[], []])
  })

  it('follows another process within a second, and only what changed there', async () => {
    let loads = 0
    const pets = await here.hub.view('pets', names)
    await here.hub.view('toys', async (db) => {
      loads++
      return toys(db)
    })
    const theirs = await there.hub.view('pets', names)
    await theirs.write(add('Tom'))
    expect(pets.current).toEqual([])
    await clock.advance('1s')
    expect(pets.current).toEqual(['Tom'])
    await clock.advance('5s')
    expect(loads).toBe(1)
  })

  it('tells its watchers after each reload, and one that throws disturbs nobody', async () => {
    const view = await here.hub.view('pets', names)
    const theirs = await there.hub.view('pets', names)
    const seen: string[][] = []
    view.watch(() => {
      throw new Error('boom')
    })
    view.watch((value) => void seen.push(value))
    await view.write(add('a'))
    await theirs.write(add('b'))
    await clock.advance('2s')
    expect(seen).toEqual([['a'], ['a', 'b']])
    expect(here.log.lines.map(({ level }) => level)).toEqual(['error', 'error'])
  })

  it('reloads every view of the kind, until it is released', async () => {
    const [one, two] = [await here.hub.view('pets', names), await here.hub.view('pets', async (db) => (await names(db)).length)]
    await one.write(add('a'))
    expect(two.current).toBe(1)
    here.hub.release(two as View<unknown>)
    await one.write(add('b'))
    expect([one.current.length, two.current]).toEqual([2, 1])
  })

  it('does not come into being when it cannot be loaded', async () => {
    await expect(here.hub.view('pets', (db) => db.all(sql`SELECT * FROM nowhere`))).rejects.toThrow(/nowhere/)
    await clock.advance('2s')
    expect(here.log.lines).toEqual([])
  })
})

describe('races', () => {
  it('a load that began before a write is repeated: it cannot bring an old value back', async () => {
    const gates: (() => void)[] = []
    let slow = false
    const view = await here.hub.view('pets', async (db) => {
      const value = await names(db)
      if (slow) await new Promise<void>((resolve) => gates.push(resolve))
      return value
    })
    const theirs = await there.hub.view('pets', names)
    await theirs.write(add('old'))
    slow = true
    await clock.advance('1s')
    expect(gates.length).toBe(1)
    // The load has read ['old'] and hangs; now the row is deleted.
    const write = view.write((db) => db.run(sql`DELETE FROM pets`))
    await clock.advance(0)
    slow = false
    gates[0]?.()
    await write
    expect(view.current).toEqual([])
    await clock.advance('5s')
    expect(view.current).toEqual([])
  })

  it('loads of one view never overlap, however many write', async () => {
    let running = 0
    let most = 0
    const view = await here.hub.view('pets', async (db) => {
      most = Math.max(most, ++running)
      const value = await names(db)
      await new Promise((resolve) => setImmediate(resolve))
      running--
      return value
    })
    await Promise.all(Array.from({ length: 20 }, (_, i) => view.write(add(`n${String(i).padStart(2, '0')}`))))
    expect([most, view.current.length]).toEqual([1, 20])
  })

  it('each writer finds its own write in the view', async () => {
    const view = await here.hub.view('pets', names)
    await Promise.all(
      Array.from({ length: 20 }, async (_, i) => {
        await view.write(add(`n${i}`))
        expect(view.current).toContain(`n${i}`)
      }),
    )
  })
})

describe('writeAll', () => {
  it('changes several kinds in one transaction', async () => {
    const views = [await here.hub.view('pets', names), await here.hub.view('toys', toys)] as const
    const theirs = [await there.hub.view('pets', names), await there.hub.view('toys', toys)] as const
    const both = async (db: Db) => {
      await add('Rex')(db)
      await db.run(sql`INSERT INTO pets_toys (name) VALUES (${'ball'})`)
    }
    await here.hub.writeAll(views, both)
    await clock.advance('1s')
    for (const [pets, balls] of [views, theirs]) expect([pets.current, balls.current]).toEqual([['Rex'], ['ball']])
    await expect(here.hub.writeAll(views, async (db) => Promise.reject(await both(db)))).rejects.toBeUndefined()
    expect(views.map((view) => view.current.length)).toEqual([1, 1])
  })

  it('refuses a view of another hub', async () => {
    const theirs = await there.hub.view('pets', names)
    await expect(async () => here.hub.writeAll([theirs], add('x'))).rejects.toThrow(/does not follow/)
  })
})

describe('when the database fails', () => {
  it('keeps the last values, says so once, and follows again', async () => {
    const view = await here.hub.view('pets', names)
    const theirs = await there.hub.view('pets', names)
    await view.write(add('Rex'))
    await there.db.run(sql`ALTER TABLE gateway_versions RENAME TO gateway_away`)
    await clock.advance('5s')
    expect(view.current).toEqual(['Rex'])
    expect(here.log.lines.map(({ level }) => level)).toEqual(['warn'])
    await there.db.run(sql`ALTER TABLE gateway_away RENAME TO gateway_versions`)
    await theirs.write(add('Tom'))
    await clock.advance('1s')
    expect(view.current).toEqual(['Rex', 'Tom'])
    expect(here.log.lines.map(({ level }) => level)).toEqual(['warn', 'info'])
  })

  it('says that a change is saved when only reading it back failed, and reads it later', async () => {
    let broken = false
    const view = await here.hub.view('pets', async (db) => {
      if (broken) throw new Error('gone')
      return names(db)
    })
    broken = true
    await expect(view.write(add('Rex'))).rejects.toSatisfy(isStorageUnavailable)
    expect(view.current).toEqual([])
    broken = false
    await clock.advance('1s')
    expect(view.current).toEqual(['Rex'])
  })

  it('a version that went back, as a restored backup does, is a change', async () => {
    const view = await here.hub.view('pets', names)
    await view.write(add('Rex'))
    await view.write(add('Tom'))
    await there.db.atomic([{ sql: sql`DELETE FROM pets` }, { sql: sql`UPDATE gateway_versions SET version = 1` }])
    await clock.advance('1s')
    expect(view.current).toEqual([])
  })
})

describe.skipIf(noPostgres !== null)(`PostgreSQL${noPostgres === null ? '' : ` (${noPostgres})`}`, () => {
  it('two replicas write at once and agree', async () => {
    const server = await testPostgres()
    const replicas = await Promise.all(
      [1, 2].map(async () => {
        const db = await postgresDatabase({ url: server.url })
        return { db, hub: new ViewHub(db, systemClock, recordingLog(), { pollMs: 50 }) }
      }),
    )
    try {
      await migrate((replicas[0] as (typeof replicas)[0]).db, PLUGINS)
      const views = await Promise.all(replicas.map(({ hub }) => hub.view('pets', names)))
      await Promise.all(Array.from({ length: 20 }, (_, i) => views[i % 2]?.write(add(`n${String(i).padStart(2, '0')}`))))
      await expect.poll(() => views.map((view) => view.current.length)).toEqual([20, 20])
      expect(views[0]?.current).toEqual(views[1]?.current)
    } finally {
      for (const { hub, db } of replicas) {
        await hub.close()
        await db.close()
      }
      await server.drop()
    }
  })
})

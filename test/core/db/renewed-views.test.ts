// Views with many rows: after writes that name their rows, only these are read again, and the value equals a full load.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sqliteDatabase } from '../../../adapters/stores/sqlite.ts'
import { type FakeClock, fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { migrate } from '../../../core/db/migrate.ts'
import { sql } from '../../../core/db/sql.ts'
import { ViewHub } from '../../../core/db/views.ts'
import type { Database, Db, View } from '../../../core/types/ports/db.ts'
import { recordingLog } from '../../support/recording-log.ts'

const PLUGINS = [{ name: 'pets', migrations: [{ id: '1', up: 'CREATE TABLE pets (id {{id}}, name TEXT NOT NULL)' }] }]

type Pets = Map<number, string>
type Row = { id: number; name: string }

async function load(db: Db): Promise<Pets> {
  const rows = await db.all<Row>(sql`SELECT id, name FROM pets ORDER BY id`)
  return new Map(rows.map(({ id, name }) => [id, name]))
}

async function renew(db: Db, ids: readonly number[], pets: Pets): Promise<Pets> {
  const rows = await db.all<Row>(sql`SELECT id, name FROM pets WHERE id IN ${sql.in(ids)}`)
  for (const id of ids) pets.delete(id)
  for (const { id, name } of rows) pets.set(id, name)
  return pets
}

const put = (id: number, name: string) => (db: Db) =>
  db.run(sql`INSERT INTO pets (id, name) VALUES (${id}, ${name}) ON CONFLICT (id) DO UPDATE SET name = excluded.name`)
const drop = (id: number) => (db: Db) => db.run(sql`DELETE FROM pets WHERE id = ${id}`)
const sorted = (pets: Pets) => [...pets].sort(([a], [b]) => a - b)

interface Follower {
  readonly db: Database
  readonly hub: ViewHub
  readonly view: View<Pets>
  /** Each read of the rows: the ids, or all. */
  readonly reads: (readonly number[] | 'all')[]
}

let dir: string
let clock: FakeClock
const open: Follower[] = []

async function follower(): Promise<Follower> {
  const db = sqliteDatabase({ path: join(dir, 'a.db') })
  await migrate(db, PLUGINS)
  const hub = new ViewHub(db, clock, recordingLog())
  const reads: Follower['reads'] = []
  const view = await hub.view<Pets>(
    'pets',
    (from) => {
      reads.push('all')
      return load(from)
    },
    (from, ids, pets) => {
      reads.push(ids)
      return renew(from, ids, pets)
    },
  )
  const made = { db, hub, view, reads }
  open.push(made)
  return made
}

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'hookgate-'))
  clock = fakeClock()
})

afterEach(async () => {
  for (const { hub, db } of open.splice(0)) {
    await hub.close()
    await db.close()
  }
  rmSync(dir, { recursive: true })
})

describe('a view that can renew single rows', () => {
  it('reads only the named rows, here and in the other process, and passes their ids to its watchers', async () => {
    const [a, b] = [await follower(), await follower()]
    const told: unknown[] = []
    b.view.watch((_, rows) => void told.push(rows && [...rows]))
    await a.view.write(put(1, 'Rex'), () => [1])
    await a.view.write(put(2, 'Tom'), () => [2])
    await clock.advance('1s')
    await a.view.write(drop(1), () => [1])
    await clock.advance('1s')
    expect(a.reads).toEqual(['all', [1], [2], [1]])
    expect(b.reads).toEqual(['all', [1, 2], [1]])
    expect(told).toEqual([[1, 2], [1]])
    expect([sorted(a.view.current), sorted(b.view.current)]).toEqual([[[2, 'Tom']], [[2, 'Tom']]])
  })

  const unnamed: [string, (a: Follower) => Promise<unknown>][] = [
    ['a write that names no rows', (a) => a.view.write(put(9, 'Kim'))],
    ['a write over several views', (a) => a.hub.writeAll([a.view], put(9, 'Kim'))],
    [
      'a write that names more than a thousand rows',
      (a) => a.view.write(put(9, 'Kim'), () => Array.from({ length: 1001 }, (_, i) => i)),
    ],
    [
      'a version of a release that names no rows',
      (a) =>
        a.db.atomic([
          { sql: sql`UPDATE gateway_versions SET version = version + 1` },
          { sql: sql`UPDATE pets SET name = ${'Kim'}` },
        ]),
    ],
    [
      'rows that are no longer remembered',
      async (a) => {
        await a.view.write(put(9, 'Kim'), () => [9])
        await a.db.run(sql`DELETE FROM gateway_changed_rows`)
      },
    ],
  ]

  for (const [what, change] of unnamed) {
    it(`reads all rows after ${what}`, async () => {
      const [a, b] = [await follower(), await follower()]
      await a.view.write(put(1, 'Rex'), () => [1])
      await change(a)
      await a.view.write(put(2, 'Tom'), () => [2])
      await clock.advance('1s')
      expect(b.reads).toEqual(['all', 'all'])
      expect(sorted(b.view.current)).toEqual(sorted(await load(b.db)))
    })
  }

  it('reads all rows when it is more than a thousand versions behind, and so many are remembered', async () => {
    const a = await follower()
    const b = await follower()
    for (let i = 0; i < 1001; i++) await a.view.write(put(1, `n${i}`), () => [1])
    await clock.advance('1s')
    expect(b.reads).toEqual(['all', 'all'])
    expect(await a.db.get(sql`SELECT COUNT(*) AS n FROM gateway_changed_rows`)).toEqual({ n: 1000 })
  })

  it('remembers no rows of a change that was rolled back', async () => {
    const a = await follower()
    const refused = a.view.write(
      async (db) => {
        await put(1, 'Rex')(db)
        throw new Error('no')
      },
      () => [1],
    )
    await expect(refused).rejects.toThrow('no')
    expect(await a.db.get(sql`SELECT COUNT(*) AS n FROM gateway_changed_rows`)).toEqual({ n: 0 })
  })

  it('equals a full load after any order of writes in two processes', async () => {
    const step = fc.record({
      by: fc.nat(1),
      id: fc.integer({ min: 1, max: 6 }),
      name: fc.option(fc.string({ maxLength: 3 })),
      named: fc.boolean(),
      pass: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const both = [await follower(), await follower()] as const
        for (const { by, id, name, named, pass } of steps) {
          const writer = both[by] as Follower
          await writer.view.write(name === null ? drop(id) : put(id, name), named ? () => [id] : undefined)
          expect(sorted(writer.view.current)).toEqual(sorted(await load(writer.db)))
          if (pass) await clock.advance('1s')
        }
        await clock.advance('1s')
        for (const { view, db } of both) expect(sorted(view.current)).toEqual(sorted(await load(db)))
        for (const { hub, db } of open.splice(0)) {
          await hub.close()
          await db.close()
        }
      }),
      { numRuns: 40 },
    )
  })
})

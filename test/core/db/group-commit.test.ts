// The group commit: which units share a transaction, which are refused alone, and where writes go during a database outage.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sqliteDatabase } from '../../../adapters/stores/sqlite.ts'
import { type FakeClock, fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { GroupCommit } from '../../../core/db/group-commit.ts'
import { sql } from '../../../core/db/sql.ts'
import { isStorageUnavailable } from '../../../core/db/storage-fault.ts'
import type { Database, Spool, SpooledUnit, Statement } from '../../../core/types/ports/db.ts'
import { type RecordingLog, recordingLog } from '../../support/recording-log.ts'

let real: Database
let db: Database
let clock: FakeClock
let log: RecordingLog
/** Units of each attempted transaction. */
let groups: number[]
/** The faults of the next transactions. */
let faults: (Error | null)[]

beforeEach(async () => {
  real = sqliteDatabase({ path: ':memory:' })
  await real.run({ text: 'CREATE TABLE t (id TEXT PRIMARY KEY, n INTEGER)', params: [] })
  clock = fakeClock()
  log = recordingLog()
  groups = []
  faults = []
  db = Object.assign(Object.create(real) as Database, {
    commit: async (units: Parameters<Database['commit']>[0]) => {
      groups.push(units.length)
      const fault = faults.shift()
      if (fault instanceof Error) throw fault
      return real.commit(units)
    },
  })
})
afterEach(() => real.close())

const put = (id: string, n = 0): Statement => ({ sql: sql`INSERT INTO t (id, n) VALUES (${id}, ${n}) ON CONFLICT DO NOTHING` })
const take = (id: string, n: number): Statement => ({
  sql: sql`UPDATE t SET n = n - ${n} WHERE id = ${id} AND n >= ${n}`,
  expect: 1,
  refuse: () => new Error('used up'),
})
const ids = async () => (await real.all<{ id: string }>(sql`SELECT id FROM t ORDER BY id`)).map((row) => row.id)
const settled = async (promises: Promise<unknown>[]) =>
  (await Promise.allSettled(promises)).map((each) => (each.status === 'fulfilled' ? 'ok' : (each.reason as Error).message))

/** Advances the time of all attempts. */
async function retries(): Promise<void> {
  await clock.advance(0)
  await clock.advance('2s')
}

function memorySpool(): Spool & { units: SpooledUnit[]; broken: boolean } {
  return {
    units: [],
    broken: false,
    async append(units) {
      if (this.broken) throw new Error('disk full')
      this.units.push(...units)
    },
    async drain(apply) {
      const units = this.units.splice(0)
      if (units.length > 0) await apply(units)
      return units.length
    },
  }
}

describe('units', () => {
  it('of one turn share one transaction', async () => {
    const commits = new GroupCommit(db, clock, log)
    const done = Array.from({ length: 30 }, (_, i) => commits.add([put(`a${i}`)]))
    expect(commits.depth).toBe(30)
    await Promise.all(done)
    expect([groups, commits.depth]).toEqual([[30], 0])
    expect((await ids()).length).toBe(30)
  })

  const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

  it('of many settlements go together with the units of the next turn', async () => {
    const commits = new GroupCommit(db, clock, log)
    const settled = Array.from({ length: 12 }, (_, i) => commits.add([put(`end${i}`)], { spoolable: true }))
    await turn()
    expect(groups).toEqual([])
    const begun = commits.add([put('begin')])
    await Promise.all([...settled, begun])
    expect(groups).toEqual([13])
  })

  it('of many settlements wait a few turns only', async () => {
    const commits = new GroupCommit(db, clock, log)
    const settled = Array.from({ length: 12 }, (_, i) => commits.add([put(`end${i}`)], { spoolable: true }))
    for (let turns = 0; turns < 6; turns++) await turn()
    expect(groups).toEqual([12])
    await Promise.all(settled)
  })

  it.each([
    ['few settlements', 3, 0],
    ['a unit for which a request waits', 12, 1],
  ])('of a turn with %s do not wait', async (_, ends, begins) => {
    const commits = new GroupCommit(db, clock, log)
    const units = Array.from({ length: ends }, (_, i) => commits.add([put(`end${i}`)], { spoolable: true }))
    for (let i = 0; i < begins; i++) units.push(commits.add([put(`begin${i}`)]))
    await turn()
    await Promise.resolve()
    expect(groups).toEqual([ends + begins])
    await Promise.all(units)
  })

  it('queued while a commit is under way go together in the next', async () => {
    let release = () => {}
    const commits = new GroupCommit(
      Object.assign(Object.create(real) as Database, {
        commit: async (units: Parameters<Database['commit']>[0]) => {
          groups.push(units.length)
          await new Promise<void>((resolve) => {
            release = resolve
          })
          return real.commit(units)
        },
      }),
      clock,
      log,
    )
    const done = [commits.add([put('a')])]
    await clock.advance(0)
    for (const id of ['b', 'c', 'd']) {
      done.push(commits.add([put(id)]))
      await clock.advance(0)
    }
    release()
    await clock.advance(0)
    release()
    await Promise.all(done)
    expect(groups).toEqual([1, 3])
  })

  it('are committed in order, at most 200 at a time', async () => {
    const commits = new GroupCommit(db, clock, log)
    const order: number[] = []
    await Promise.all(Array.from({ length: 450 }, (_, i) => commits.add([put(`${i}`)]).then(() => order.push(i))))
    expect(groups).toEqual([200, 200, 50])
    expect(order).toEqual(Array.from({ length: 450 }, (_, i) => i))
  })

  it('of nothing resolve without a transaction', async () => {
    await new GroupCommit(db, clock, log).add([])
    expect(groups).toEqual([])
  })
})

describe('a unit that refuses', () => {
  it('is rolled back alone and says why', async () => {
    const commits = new GroupCommit(db, clock, log)
    await commits.add([put('budget', 10)])
    const outcome = await settled([
      commits.add([put('r1'), take('budget', 6)]),
      commits.add([put('r2'), take('budget', 6)]),
      commits.add([take('budget', 4), put('r3')]),
      commits.add([put('r4'), { sql: sql`INSERT INTO t (id) VALUES (${'r1'})` }]),
      commits.add([put('r5'), { sql: sql`DELETE FROM t WHERE id = ${'absent'}`, expect: 1 }]),
    ])
    expect(outcome).toEqual([
      'ok',
      'used up',
      'ok',
      expect.stringContaining('UNIQUE constraint failed'),
      expect.stringContaining('expects'),
    ])
    expect(await ids()).toEqual(['budget', 'r1', 'r3'])
    expect(log.lines).toEqual([])
  })
})

describe('when a transaction fails as a whole', () => {
  it('tries again, a few times', async () => {
    faults = [new Error('gone'), new Error('gone'), null]
    const commits = new GroupCommit(db, clock, log)
    const done = commits.add([put('a')])
    await retries()
    await done
    expect([groups, await ids(), log.lines]).toEqual([[1, 1, 1], ['a'], []])
  })

  it('spools what may be spooled, refuses the rest with 503, and says so once', async () => {
    faults = Array.from({ length: 6 }, () => new Error('gone'))
    const spool = memorySpool()
    const commits = new GroupCommit(db, clock, log, spool)
    const first = Promise.allSettled([
      commits.add([put('settle')], { spoolable: true }),
      commits.add([put('budget', 1), take('budget', 1)]),
    ])
    await retries()
    const [settle, admit] = await first
    expect(settle.status).toBe('fulfilled')
    expect(admit.status === 'rejected' && isStorageUnavailable(admit.reason) && admit.reason.status).toBe(503)
    // The outage is known now, so later units do not wait.
    await commits.add([put('settle-2')], { spoolable: true })
    expect([groups.length, spool.units.length, commits.spooled]).toEqual([5, 2, 2])
    expect(log.lines.map(({ level }) => level)).toEqual(['error'])
  })

  it('applies the spool, in order, with the first commit that succeeds', async () => {
    faults = Array.from({ length: 4 }, () => new Error('gone'))
    const spool = memorySpool()
    const commits = new GroupCommit(db, clock, log, spool)
    const first = [1, 2].map((n) =>
      commits.add([{ sql: sql`INSERT INTO t (id, n) VALUES ('x', ${n}) ON CONFLICT (id) DO UPDATE SET n = ${n}` }], {
        spoolable: true,
      }),
    )
    await retries()
    await Promise.all(first)
    expect(await ids()).toEqual([])
    await commits.add([put('after')])
    await commits.flush()
    expect(await real.all(sql`SELECT id, n FROM t ORDER BY id`)).toEqual([
      { id: 'after', n: 0 },
      { id: 'x', n: 2 },
    ])
    expect(spool.units).toEqual([])
    expect(log.lines.map(({ level }) => level)).toEqual(['error', 'info', 'info'])
  })

  it('rejects when the spool fails too, and counts what is lost in the log', async () => {
    faults = Array.from({ length: 4 }, () => new Error('gone'))
    const spool = Object.assign(memorySpool(), { broken: true })
    const done = settled([new GroupCommit(db, clock, log, spool).add([put('a')], { spoolable: true })])
    await retries()
    expect(await done).toEqual([expect.stringContaining('cannot be used')])
    expect(log.lines.map(({ message }) => message).join()).toContain('1 units of writes are lost')
  })

  it('works again afterwards', async () => {
    faults = Array.from({ length: 4 }, () => new Error('gone'))
    const commits = new GroupCommit(db, clock, log)
    const lost = settled([commits.add([put('a')], { spoolable: true })])
    await retries()
    await lost
    await commits.add([put('b')])
    expect(await ids()).toEqual(['b'])
  })
})

describe('recover', () => {
  it('applies at boot what an earlier process left, and twice does no harm', async () => {
    const spool = memorySpool()
    const commits = new GroupCommit(db, clock, log, spool)
    for (let i = 0; i < 2; i++) {
      spool.units.push([put('a')], [put('b')], [take('absent', 1)])
      expect(await commits.recover()).toBe(3)
    }
    expect(await ids()).toEqual(['a', 'b'])
    expect(log.lines.filter(({ level }) => level === 'warn').length).toBe(2)
  })

  it('does nothing without a spool', async () => {
    expect(await new GroupCommit(db, clock, log).recover()).toBe(0)
  })
})

it('bounds its queue: beyond it a unit is spooled or refused at once', async () => {
  let release = () => {}
  const spool = memorySpool()
  const slow = Object.assign(Object.create(real) as Database, {
    commit: async (units: Parameters<Database['commit']>[0]) => {
      await new Promise<void>((resolve) => {
        release = resolve
      })
      return units.map(() => ({ ok: true }))
    },
  })
  const commits = new GroupCommit(slow, clock, log, spool)
  const queued = Array.from({ length: 10_000 }, () => commits.add([put('a')]))
  await expect(commits.add([put('b')])).rejects.toSatisfy(isStorageUnavailable)
  await commits.add([put('c')], { spoolable: true })
  expect(spool.units.length).toBe(1)
  const all = Promise.all(queued)
  for (let i = 0; i < 60; i++) {
    await clock.advance(0)
    release()
  }
  await all
})

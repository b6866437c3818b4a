// In steady state a request reads nothing from the database, whatever restrictions its key has. It writes two units of the group
// commit: its trace at admission and its books at settlement. Concurrent requests share commits.
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { sqliteDatabase } from '../../../adapters/stores/sqlite.ts'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { type WatchedDatabase, watchedDatabase } from '../../support/watched-database.ts'
import { ask, bearer, makeKey } from './support.ts'

const REQUESTS = 100

let db: WatchedDatabase
let t: TestGateway
let once: (stream: boolean) => Promise<void>
/** Number of units of each commit. */
let units: () => number[]

beforeEach(async () => {
  db = watchedDatabase(sqliteDatabase({ path: ':memory:' }))
  const commit = vi.spyOn(db, 'commit')
  units = () => commit.mock.calls.map(([list]) => list.length)
  // The clock stands still, so that periodic background work is not counted.
  t = await createTestGateway({ ports: { db, clock: fakeClock() } })
  const { key } = await makeKey(t, { allowed_models: ['chat/*'], rate_limit_rpm: 1000, rate_limit_tpm: 1e6, cost_center: 'x' })
  once = async (stream) => {
    const response = await t.post('/v1/chat/completions', { ...ask('chat/m'), stream }, bearer(key))
    expect(response.status).toBe(200)
    await response.arrayBuffer()
  }
  await once(false)
  await booked(1)
  db.asked.length = 0
  commit.mockClear()
})
afterEach(async () => {
  await t.close()
  await db.close()
})

/** Waits until it is settled and committed, which no caller does. */
async function booked(count: number): Promise<void> {
  await t.untilSettled(count)
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
}

it('requests with keys and limits, streamed and not, read nothing: each commits once at admit, and once at settle', async () => {
  for (let i = 0; i < REQUESTS; i++) {
    await once(i % 2 === 1)
    await booked(i + 2)
  }
  expect(db.asked).toEqual(Array.from({ length: 2 * REQUESTS }, () => 'commit'))
  expect(new Set(units())).toEqual(new Set([1]))
})

it('a hundred at once share commits, and read nothing either', async () => {
  await Promise.all(Array.from({ length: REQUESTS }, (_, i) => once(i % 2 === 1)))
  await booked(REQUESTS + 1)
  expect(new Set(db.asked)).toEqual(new Set(['commit']))
  // The units of a commit are joined. They arrive in the same turns and are answered in different ones.
  expect(new Set(units())).toEqual(new Set([1]))
  expect(db.asked.length).toBeLessThan(1.5 * REQUESTS)
})

// The tables of prices, on each engine.
import { describe, expect, it } from 'vitest'
import type { Book } from '../../../plugins/pricing/book.ts'
import { migrations } from '../../../plugins/pricing/migrations.ts'
import { allOverrides, replaceOverrides } from '../../../plugins/pricing/overrides.ts'
import {
  allSources,
  cardRun,
  claimRun,
  drifts,
  finishRun,
  insertDrifts,
  lastRun,
  openDrifts,
  pruneRuns,
  reviewDrift,
  storeBook,
  storedBook,
  storeSource,
} from '../../../plugins/pricing/store.ts'
import { ENGINES } from '../../support/engines.ts'

const BIG = Number.MAX_SAFE_INTEGER
const book: Book = new Map([
  [
    'openai',
    new Map([
      ['m', { id: 'M', prices: { input: BIG, 'per_image:hd/1x1': 1 }, source: 'primary' as const, stale: { input: BIG } }],
    ]),
  ],
])
const source = {
  source: 'primary' as const,
  runId: 1,
  ref: null,
  url: 'https://example.com/',
  etag: '"x"',
  fetchedAt: BIG,
  confirmedAt: 2,
}
const ended = {
  source: 'primary' as const,
  ref: null,
  models: 3,
  changed: 1,
  drifted: 0,
  refused: 0,
  error: null,
  finished_at: 20,
}

describe.each(ENGINES)('$name', ({ missing, with: engine }) => {
  it.skipIf(missing)('keeps one card, and refuses one that is based on another', () =>
    engine('pricing', migrations, async (db) => {
      expect([await cardRun(db), await storedBook(db)]).toEqual([0, new Map()])
      expect(await db.tx((tx) => storeBook(tx, book, 4, 0))).toBe(true)
      expect([await cardRun(db), await storedBook(db)]).toEqual([4, book])
      expect(await db.tx((tx) => storeBook(tx, new Map(), 5, 3))).toBe(false)
      expect(await cardRun(db)).toBe(4)
      await storeSource(db, source)
      await storeSource(db, { ...source, confirmedAt: 9 })
      expect(await allSources(db)).toEqual([{ ...source, confirmedAt: 9 }])
    }),
  )

  it.skipIf(missing)('lets one run at a time, until its lease ends', () =>
    engine('pricing', migrations, async (db) => {
      const claim = (now: number, notSince: number | null = null) =>
        claimRun(db, { reason: 'timer', now, leaseMs: 100, notSince })
      const both = await Promise.all([claim(10), claim(10)])
      expect(both.filter((id) => id !== null)).toHaveLength(1)
      const id = both.find((one) => one !== null) as number
      expect(await claim(109)).toBeNull()
      expect(await finishRun(db, { ...ended, id, status: 'ok' })).toMatchObject({ id, reason: 'timer', status: 'ok', models: 3 })
      // It began at 10.
      expect(await claim(50, 9)).toBeNull()
      const second = await claim(50, 10)
      expect(second).toBeGreaterThan(id)
      expect(await lastRun(db)).toMatchObject({ id })
      const third = await claim(150)
      expect(third).not.toBeNull()
      expect(await lastRun(db)).toMatchObject({ id: second, status: 'failed', finished_at: 150 })
      await pruneRuns(db, 150)
      // A run that stored prices stays.
      expect(await lastRun(db)).toMatchObject({ id, status: 'ok' })
    }),
  )

  it.skipIf(missing)('keeps price changes until they are reviewed and old', () =>
    engine('pricing', migrations, async (db) => {
      const many = Array.from({ length: 250 }, (_, i) => ({
        provider: 'p',
        model: `m${i}`,
        field: 'input',
        before: 1,
        after: BIG,
      }))
      await insertDrifts(db, many, 7, 100)
      await insertDrifts(db, [], 7, 100)
      expect(await openDrifts(db)).toBe(250)
      const page = await drifts(db, { reviewed: false, before: null, limit: 2 })
      expect(page).toMatchObject([{ model: 'm249', new_nano: BIG, run_id: 7 }, { model: 'm248' }])
      const id = page[0]?.id as number
      expect(await reviewDrift(db, id, 'me', 200)).toMatchObject({ reviewed_at: 200, reviewed_by: 'me' })
      expect(await reviewDrift(db, id, 'you', 300)).toMatchObject({ reviewed_at: 200, reviewed_by: 'me' })
      expect(await reviewDrift(db, 9999, 'me', 1)).toBeUndefined()
      expect(await drifts(db, { reviewed: true, before: null, limit: 9 })).toHaveLength(1)
      expect((await drifts(db, { reviewed: false, before: id, limit: 1 }))[0]?.model).toBe('m248')
      await pruneRuns(db, 101)
      expect([await openDrifts(db), await drifts(db, { reviewed: true, before: null, limit: 9 })]).toEqual([249, []])
    }),
  )

  it.skipIf(missing)('keeps overrides by organization, in their order', () =>
    engine('pricing', migrations, async (db) => {
      const one = { pattern: 'z/*', prices: { input: 0 } }
      const two = { pattern: 'a/b', prices: { per_image: BIG } }
      await db.tx((tx) => replaceOverrides(tx, null, [one, two], 'me', 1))
      await db.tx((tx) => replaceOverrides(tx, 7, [one], 'them', 1))
      expect(await allOverrides(db)).toEqual(
        new Map([
          [0, [one, two]],
          [7, [one]],
        ]),
      )
      await db.tx((tx) => replaceOverrides(tx, null, [two], 'me', 2))
      expect(await allOverrides(db)).toEqual(
        new Map([
          [0, [two]],
          [7, [one]],
        ]),
      )
    }),
  )
})

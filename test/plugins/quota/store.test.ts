import { describe, expect, it } from 'vitest'
import { migrations } from '../../../plugins/quota/migrations.ts'
import type { Snapshot } from '../../../plugins/quota/snapshot.ts'
import { deleteExhausted, loadExhausted, loadSnapshots, storeExhausted, storeSnapshot } from '../../../plugins/quota/store.ts'
import { ENGINES } from '../../support/engines.ts'

const snapshot = (fetchedAt: number): Snapshot => ({
  plan: 'max',
  windows: [
    {
      name: '5h',
      unit: 'percent',
      model: null,
      used: 12.5,
      limit: 100,
      remaining: 87.5,
      resetsAt: 1_800_000_000_000,
      exhausted: false,
      from: 'api',
      heardAt: 1,
    },
  ],
  source: 'api',
  fetchedAt,
  error: null,
})

describe.each(ENGINES)('$name', ({ missing, with: engine }) => {
  const on = (use: Parameters<typeof engine>[2]) => () => engine('quota', migrations, use)

  it.skipIf(missing)(
    'keeps the newest snapshot, whoever writes last',
    on(async (db) => {
      await storeSnapshot(db, '4', snapshot(2000))
      await storeSnapshot(db, '4', snapshot(1000))
      await storeSnapshot(db, '5', { ...snapshot(1), plan: null, source: 'error', error: 'no' })
      expect(await loadSnapshots(db)).toEqual(
        new Map([
          ['4', snapshot(2000)],
          ['5', { ...snapshot(1), plan: null, source: 'error', error: 'no' }],
        ]),
      )
      await storeSnapshot(db, '4', snapshot(3000))
      expect((await loadSnapshots(db)).get('4')?.fetchedAt).toBe(3000)
    }),
  )

  it.skipIf(missing)(
    'says of one writer only that it was the first, and again after the end',
    on(async (db) => {
      const row = { connection_id: 4, model: '', until: 5000 }
      const found = (until: number, now: number) => db.tx((tx) => storeExhausted(tx, { ...row, until }, now))
      expect(await found(5000, 1000)).toBe(true)
      expect(await found(6000, 1000)).toBe(false)
      expect(await loadExhausted(db)).toEqual([{ ...row, until: 6000 }])
      expect(await db.tx((tx) => storeExhausted(tx, { ...row, model: '*opus*' }, 1000))).toBe(true)
      expect(await found(9000, 6000)).toBe(true)
      await deleteExhausted(db, 4, '')
      expect((await loadExhausted(db)).map(({ model }) => model)).toEqual(['*opus*'])
      expect(await found(9000, 6000)).toBe(true)
      const together = await Promise.all(
        [1, 2, 3, 4].map((connection_id) =>
          Promise.all(
            [1, 2, 3].map((until) =>
              db.tx((tx) => storeExhausted(tx, { connection_id: connection_id + 10, model: '', until: 9000 + until }, 1)),
            ),
          ),
        ),
      )
      for (const answers of together) expect(answers.filter(Boolean)).toHaveLength(1)
    }),
  )
})

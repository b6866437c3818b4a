// Rows inserted in groups are the rows that were given, whatever they have in common.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { sqliteDatabase } from '../../../adapters/stores/sqlite.ts'
import { groupedInsert } from '../../../core/db/grouped-insert.ts'

const value = fc.constantFrom(null, 0, 1, 2 ** 52, 'a', "b'c", '')
const row = fc.tuple(value, value, value)

it('every row is stored as it is, the first of each id', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(row, { maxLength: 300 }), fc.integer({ min: 1, max: 400 }), async (rows, ids) => {
      const db = sqliteDatabase({ path: ':memory:' })
      await db.run({ text: 'CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b INTEGER, c INTEGER)', params: [] })
      const insert = groupedInsert({ table: 't', shared: ['a', 'b'], own: ['id', 'c'], conflict: 'ON CONFLICT (id) DO NOTHING' })
      const given = rows.map(
        ([a, b, c], i) =>
          [typeof a === 'number' ? 'n' : a, typeof b === 'string' ? 3 : b, i % ids, typeof c === 'string' ? 4 : c] as const,
      )
      const statements = insert(given)
      expect(statements.length).toBeLessThanOrEqual(given.length)
      await db.atomic(statements)
      const expected = new Map<number, object>()
      // Groups are written one after the other.
      const first = await db.all<{ id: number; a: string | null; b: number | null; c: number | null }>({
        text: 'SELECT id, a, b, c FROM t ORDER BY id',
        params: [],
      })
      for (const [a, b, id, c] of given) if (!expected.has(id)) expected.set(id, { id, a, b, c })
      if (ids >= given.length) expect(first).toEqual([...expected.values()])
      expect(first.map(({ id }) => id)).toEqual([...expected.keys()])
      await db.close()
    }),
    { numRuns: 30 },
  )
})

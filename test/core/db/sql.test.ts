// The sql tag: its results, its refusals, and that no value ever becomes text.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sqliteDatabase } from '../../../adapters/stores/sqlite.ts'
import { sql } from '../../../core/db/sql.ts'

const plain = ({ text, params }: { text: string; params: readonly unknown[] }) => ({ text, params: [...params] })

describe('the tag', () => {
  it('makes parameters of values and splices fragments', () => {
    const where = sql`id = ${1} AND name = ${'x'}`
    expect(plain(sql`SELECT * FROM ${sql.id('t.a')} WHERE ${where} LIMIT ${5}`)).toEqual({
      text: 'SELECT * FROM "t"."a" WHERE id = ? AND name = ? LIMIT ?',
      params: [1, 'x', 5],
    })
    expect(plain(sql`a ${sql.empty} b`)).toEqual({ text: 'a  b', params: [] })
  })

  it('turns booleans into 0 and 1 and safe bigints into numbers', () => {
    expect(sql`${true} ${false} ${7n} ${null}`.params).toEqual([1, 0, 7, null])
  })

  it.each([
    ['undefined', undefined, /say null/],
    ['a date', new Date(0), /not a value/],
    ['a list', [1], /a list is not a value/],
    ['an object', { a: 1 }, /not a value/],
    ['a function', () => 1, /not a value/],
    ['NaN', Number.NaN, /cannot be stored/],
    ['infinity', Number.POSITIVE_INFINITY, /cannot be stored/],
    ['a large bigint', 2n ** 60n, /2\^53/],
    ['an object that looks like a fragment', { text: '1=1; DROP TABLE keys', params: [] }, /not a value/],
    ['a copy of a fragment', { ...sql`1=1` }, /not a value/],
  ])('refuses %s', (_, value, message) => {
    expect(() => sql`x = ${value}`).toThrow(message)
  })

  it('refuses a literal question mark, which would shift the parameters', () => {
    expect(() => sql`a LIKE '?%' AND b = ${1}`).toThrow(/literal/)
  })
})

describe('the helpers', () => {
  it('id: takes plain names only', () => {
    for (const name of ['a"b', 'a b', '', 'A', '1a', 'a.b.c', 'a;b', `${'a'.repeat(64)}`, 'a--']) {
      expect(() => sql.id(name), name).toThrow(TypeError)
    }
    expect(sql.id('rate_limits_2').text).toBe('"rate_limits_2"')
  })

  it('in: a list in parentheses; empty matches nothing; never after NOT', () => {
    expect(plain(sql`x IN ${sql.in([1, 'a'])}`)).toEqual({ text: 'x IN (?, ?)', params: [1, 'a'] })
    expect(plain(sql`x IN ${sql.in([])}`)).toEqual({ text: 'x IN (NULL)', params: [] })
    expect(() => sql`x NOT IN ${sql.in([])}`).toThrow(/NOT EXISTS/)
    expect(() => sql`x not  in ${sql.in([1])}`).toThrow(/NOT EXISTS/)
  })

  it('and, or: in parentheses; of nothing true and false', () => {
    expect(plain(sql.and([sql`a = ${1}`, sql.or([sql`b = ${2}`, sql`c`])]))).toEqual({
      text: '((a = ?) AND (((b = ?) OR (c))))',
      params: [1, 2],
    })
    expect([sql.and([]).text, sql.or([]).text]).toEqual(['(1=1)', '(1=0)'])
  })

  it('join: with a comma, or with a fragment', () => {
    expect(plain(sql.join([1, sql.id('b'), 'c']))).toEqual({ text: '?, "b", ?', params: [1, 'c'] })
    expect(plain(sql.join([sql`a`, sql`b`], sql` + ${2} + `))).toEqual({ text: 'a + ? + b', params: [2] })
    expect(() => sql.join([1], { text: ' OR 1=1 ', params: [] })).toThrow(/separator/)
  })

  it('values: rows of one length', () => {
    expect(
      plain(
        sql`VALUES ${sql.values([
          [1, null],
          [true, 'x'],
        ])}`,
      ),
    ).toEqual({ text: 'VALUES (?, ?), (?, ?)', params: [1, null, 1, 'x'] })
    for (const rows of [[], [[]], [[1], [1, 2]]]) expect(() => sql.values(rows)).toThrow(/same length/)
  })
})

const value = fc.oneof(fc.string({ unit: 'binary' }), fc.maxSafeInteger(), fc.constant(null))

describe('for any value', () => {
  it('the text does not depend on the values, and there are as many parameters as question marks', () => {
    fc.assert(
      fc.property(fc.array(value, { maxLength: 5 }), fc.array(value, { minLength: 1, maxLength: 5 }), (a, b) => {
        const build = (x: unknown[], y: unknown[]) =>
          sql`SELECT ${sql.join(x)} FROM t WHERE ${sql.and(y.map((one) => sql`c = ${one}`))} OR d IN ${sql.in(x)} ${sql.values([y, y])}`
        const made = build(a, b)
        expect(made.text).toBe(
          build(
            a.map(() => 0),
            b.map(() => 0),
          ).text,
        )
        expect(made.text.split('?').length - 1).toBe(made.params.length)
        expect(made.params).toEqual([...a, ...b, ...a, ...b, ...b])
      }),
    )
  })

  it('what is written is read', async () => {
    const db = sqliteDatabase({ path: ':memory:' })
    await fc.assert(
      fc.asyncProperty(fc.array(value, { minLength: 1, maxLength: 20 }), async (list) => {
        const rows = await db.all<{ v: unknown }>(
          sql`WITH t(v) AS (VALUES ${sql.values(list.map((one) => [one]))}) SELECT v FROM t`,
        )
        expect(rows.map((row) => row.v)).toEqual(list)
      }),
    )
    await db.close()
  })
})

// Every filter of GET /api/logs on each engine, pages, facets, and isolation of organizations.
import { describe, expect, it } from 'vitest'
import { queryValues } from '../../../core/http/api-routes.ts'
import type { Database, Db, Sql } from '../../../core/types/ports/db.ts'
import { newestRows } from '../../../plugins/request-log/api.ts'
import { deleteLogged } from '../../../plugins/request-log/body-store.ts'
import { cursorOf, logQuery } from '../../../plugins/request-log/filters.ts'
import { migrations } from '../../../plugins/request-log/migrations.ts'
import { facetsOf, rowOf } from '../../../plugins/request-log/store.ts'
import { ENGINES } from '../../support/engines.ts'
import { watchedDatabase } from '../../support/watched-database.ts'
import { AT, type EntryOptions, entry, idOf, write } from './rows.ts'

const numberOf = (requestId: string): number => Number.parseInt(requestId.slice(4, 17).replace('-', ''), 16)

async function found(db: Db, query: Record<string, string>, orgId: number | null = null): Promise<number[]> {
  const { limit, ...filter } = logQuery.parse(queryValues(logQuery, new URLSearchParams(query)))
  return (await newestRows(db, orgId, filter, limit)).map((row) => numberOf(row.request_id))
}

const DAY = 86_400_000
/** Row 1 is plain; each other row differs from it in the column of one filter. */
const ROWS: readonly EntryOptions[] = [
  { provider: 'anthropic' },
  { model: 'other' },
  { source: 'probe' },
  { status: 404, error: { code: 'x', message: 'There is No 100%_such thing' } },
  { status: 503, error: { code: 'x', message: 'Quota exceeded' } },
  { keyId: 7, keyLabel: 'seven' },
  { virtualModel: 'coder' },
  { sessionId: 's-1' },
  { userId: 'u-1' },
  { costCenter: 'c-1' },
  { cached: 'exact' },
  { latencyMs: 5000 },
  { costNano: 50_000_000 },
  { at: AT - DAY },
  { at: AT + DAY },
]
const row = (part: EntryOptions): number => ROWS.findIndex((options) => JSON.stringify(options) === JSON.stringify(part)) + 2
const all = [1, ...ROWS.map((_, i) => i + 2)]
const without = (...numbers: number[]) => all.filter((n) => !numbers.includes(n))
const [LATER, EARLIER] = [row({ at: AT + DAY }), row({ at: AT - DAY })]

/** Each parameter of the schema must have one. */
const CASES: Record<keyof typeof logQuery.shape, [query: string, expected: number[]][]> = {
  limit: [['1', [LATER]]],
  cursor: [[cursorOf([AT, 0]), [EARLIER]]],
  since: [
    ['2026-01-11', [LATER]],
    ['2026-01-10T00:00:00Z', without(EARLIER)],
  ],
  until: [
    ['2026-01-10', [EARLIER]],
    ['2026-01-10T01:00:00+01:00', [EARLIER]],
  ],
  provider: [
    ['anthropic', [2]],
    ['anthropic,openai', all],
    ['nobody', []],
  ],
  model: [['other', [3]]],
  source: [['probe', [4]]],
  status: [
    ['404', [5]],
    ['4xx', [5]],
    ['5xx', [6]],
    ['error', [5, 6]],
    ['200', without(5, 6)],
    ['2xx,503', without(5)],
    ['404,503', [5, 6]],
  ],
  key_id: [
    ['7', [7]],
    ['7,8', [7]],
  ],
  virtual_model: [['coder', [8]]],
  session_id: [['s-1', [9]]],
  user_id: [['u-1', [10]]],
  cost_center: [['c-1', [11]]],
  cached: [
    ['true', [12]],
    ['false', without(12)],
  ],
  free_pool: [
    ['true', []],
    ['false', all],
  ],
  min_latency_ms: [['5000', [13]]],
  min_cost_usd: [
    ['0.05', [14]],
    ['0.050000001', []],
  ],
  q: [
    ['quota', [6]],
    ['no 100%_such', [5]],
    ['100_', []],
    [idOf(3), [3]],
    ['req_00000000-000', all.filter((n) => n < 16)],
    ['req_0000', all],
    ['req_%', []],
  ],
}

for (const engine of ENGINES) {
  describe.skipIf(engine.missing !== null)(`on ${engine.name}`, () => {
    const withRows = (use: (db: Database) => Promise<void>) =>
      engine.with('request-log', migrations, async (db) => {
        await write(
          db,
          all.map((n) => entry(n, { at: AT, ...(ROWS[n - 2] ?? {}) })),
        )
        await use(db)
      })

    it('each filter finds what it names and nothing else, newest first', () =>
      withRows(async (db) => {
        for (const [name, cases] of Object.entries(CASES))
          for (const [value, expected] of cases) {
            const numbers = await found(db, { [name]: value })
            expect(
              [...numbers].sort((a, b) => a - b),
              `${name}=${value}`,
            ).toEqual(expected)
          }
        expect((await found(db, {})).at(0)).toBe(LATER)
        expect((await found(db, {})).at(-1)).toBe(EARLIER)
        expect(await found(db, { provider: 'openai', status: 'error', q: 'quota' })).toEqual([6])
      }))

    it('pages hold every row once while rows are added', () =>
      engine.with('request-log', migrations, async (db) => {
        // Many in the same ms: the number decides.
        await write(
          db,
          Array.from({ length: 450 }, (_, n) => entry(n, { at: AT + Math.floor(n / 60) })),
        )
        const seen: number[] = []
        let cursor: string | undefined
        for (let added = 1000; ; added++) {
          const { limit, ...filter } = logQuery.parse({ limit: '37', ...(cursor === undefined ? {} : { cursor }) })
          const rows = await newestRows(db, null, filter, limit + 1)
          const page = rows.slice(0, limit)
          seen.push(...page.map(({ request_id }) => numberOf(request_id)))
          const last = page.at(-1)
          if (rows.length <= limit || last === undefined) break
          cursor = cursorOf([last.created_at, last.id])
          await write(db, [entry(added, { at: AT + added })])
        }
        expect(seen).toEqual(Array.from({ length: 450 }, (_, n) => 449 - n))
      }))

    it('what is rare is found in a long log, page by page, while requests are served', () =>
      engine.with('request-log', migrations, async (db) => {
        const rare = [3, 4, 9_999, 10_000, 10_001, 25_000, 31_000]
        for (let n = 0; n < 32_000; n += 1000)
          await write(
            db,
            Array.from({ length: 1000 }, (_, i) => entry(n + i, rare.includes(n + i) ? { model: 'rare', sessionId: 's' } : {})),
          )
        const newest = [...rare].reverse()
        let turns = 0
        let counting = true
        const count = (): void => {
          turns++
          if (counting) setImmediate(count)
        }
        setImmediate(count)
        expect(await found(db, { model: 'rare' })).toEqual(newest)
        counting = false
        // On PostgreSQL the server searches, and this process is not blocked.
        if (db.dialect === 'sqlite') expect(turns).toBeGreaterThanOrEqual(3)
        expect(await found(db, { session_id: 's', model: 'rare' })).toEqual(newest)
        expect(await found(db, { model: 'rare', limit: '3' })).toEqual(newest.slice(0, 3))
        const rows = await newestRows(db, null, { model: ['rare'] }, 3)
        const last = rows[2] as (typeof rows)[number]
        expect(await found(db, { model: 'rare', cursor: cursorOf([last.created_at, last.id]) })).toEqual(newest.slice(3))
        const at = (n: number) => new Date(AT + n).toISOString()
        expect(await found(db, { model: 'rare', since: at(4), until: at(10_001) })).toEqual([10_000, 9_999, 4])
        expect(await found(db, { model: 'rare', until: at(10_001), cursor: cursorOf([AT + 9_999, 0]) })).toEqual([4, 3])
        expect(await found(db, { model: 'none' })).toEqual([])
      }))

    it('of a user and of a session only their own rows are looked at, in pieces too', () =>
      engine.with('request-log', migrations, async (db) => {
        for (let n = 0; n < 24_000; n += 1000)
          await write(
            db,
            Array.from({ length: 1000 }, (_, i) => entry(n + i, { userId: 'u', sessionId: n + i === 500 ? 's' : null })),
          )
        const asked: Sql[] = []
        const all: Db['all'] = (query, row) => {
          asked.push(query)
          return db.all(query, row)
        }
        const noted: Db = { ...watchedDatabase(db), all }
        expect(await found(noted, { session_id: 's' })).toEqual([500])
        expect(await found(noted, { user_id: 'u', session_id: 's' })).toEqual([500])
        expect(asked).toHaveLength(2)
        expect(await found(noted, { user_id: 'u', limit: '2' })).toEqual([23_999, 23_998])
        // Other filters may match few of them.
        expect(await found(db, { user_id: 'u', model: 'none' })).toEqual([])
        expect(await found(db, { user_id: 'u,v', session_id: 's' })).toEqual([500])
        if (db.dialect !== 'sqlite') return
        for (const { text, params } of asked) {
          const plan = await db.all<{ detail: string }>({ text: `EXPLAIN QUERY PLAN ${text}`, params })
          expect(plan.map(({ detail }) => detail).join()).toMatch(/USING INDEX request_log_(session|user) /)
        }
      }))

    it('facets are those of the newest 5,000 rows, sorted, without nulls', () =>
      engine.with('request-log', migrations, async (db) => {
        await write(db, [entry(1, { provider: 'forgotten', model: 'old', source: 'mitm' })])
        for (let n = 2; n < 5002; n += 500)
          await write(
            db,
            Array.from({ length: 500 }, (_, i) =>
              entry(n + i, { provider: (n + i) % 3 === 0 ? null : ['b', 'a'][i % 2], model: `m${i % 2}`, source: 'api' }),
            ),
          )
        expect(await facetsOf(db, null)).toEqual({ providers: ['a', 'b'], models: ['m0', 'm1'], sources: ['api'] })
      }))

    it('an organization finds, counts and removes its own rows only', () =>
      engine.with('request-log', migrations, async (db) => {
        await write(db, [
          entry(1, { orgId: 1, provider: 'one' }),
          entry(2, { orgId: 2, provider: 'two' }),
          entry(3, { orgId: null, provider: 'none' }),
        ])
        for (const [orgId, own, provider] of [
          [1, 1, 'one'],
          [2, 2, 'two'],
          [null, 3, 'none'],
        ] as const) {
          expect(await found(db, {}, orgId)).toEqual([own])
          expect(await found(db, { q: 'req_00000000' }, orgId)).toEqual([own])
          expect((await facetsOf(db, orgId)).providers).toEqual([provider])
          for (const n of [1, 2, 3]) {
            const isOwn = n === own
            expect((await rowOf(db, orgId, idOf(n))) !== undefined).toBe(isOwn)
            if (!isOwn) expect(await deleteLogged(db, orgId, idOf(n))).toBe(false)
          }
        }
        expect(await deleteLogged(db, 1, idOf(1))).toBe(true)
        expect(await found(db, {}, 1)).toEqual([])
        expect(await found(db, {}, 2)).toEqual([2])
      }))

    it('a batch that was written already is not written twice, and what PostgreSQL cannot keep is no obstacle', () =>
      engine.with('request-log', migrations, async (db) => {
        const odd = entry(1, {
          status: 400,
          error: { code: 'x', message: 'a\0b\ud800c' },
          model: 'm\0',
          properties: { a: 'b\0' },
        })
        const batch = [odd, ...Array.from({ length: 299 }, (_, n) => entry(n + 2))]
        await write(db, batch)
        await write(db, batch)
        const count = await db.get<{ n: number }>({ text: 'SELECT COUNT(*) AS n FROM request_log', params: [] })
        expect(count?.n).toBe(300)
        expect(await rowOf(db, null, idOf(1))).toMatchObject({ error_message: 'a\uFFFDb\uFFFDc', model: 'm\uFFFD' })
      }))
  })
}

// The chain of receipts: verified without the gateway's code, every alteration is detected, pruning works, and any number of writers make
// one chain.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openDatabase } from '../../../adapters/stores/open-database.ts'
import { migrate } from '../../../core/db/migrate.ts'
import { sql } from '../../../core/db/sql.ts'
import type { Database, Db, Sql } from '../../../core/types/ports/db.ts'
import { csv, jsonLines } from '../../../plugins/savings/api.ts'
import { migrations } from '../../../plugins/savings/migrations.ts'
import type { Booked } from '../../../plugins/savings/receipt.ts'
import { chainOf, chainPending, insertReceipt, pruneOldest, unchained } from '../../../plugins/savings/store.ts'
import { ROLLUPS, rolledUp, savedIn, savedOf, totalOf } from '../../../plugins/savings/sums.ts'
import { verifyChain } from '../../../plugins/savings/verify.ts'
import { testPostgres, whyNoPostgres } from '../../support/postgres.ts'
import { booked, firstWrong, NOW } from './support.ts'

const DAY = 86_400_000
const ALL = { since: 0, until: Number.MAX_SAFE_INTEGER, orgId: null }

async function place(): Promise<{ url: string; remove(): Promise<void> | void }> {
  const dir = mkdtempSync(join(tmpdir(), 'hookgate-savings-'))
  return { url: `sqlite:${join(dir, 'gateway.db')}`, remove: () => rmSync(dir, { recursive: true }) }
}

const missing = await whyNoPostgres()
const ENGINES = [
  { name: 'SQLite', skipped: false, place },
  {
    name: missing === null ? 'PostgreSQL' : `PostgreSQL (${missing})`,
    skipped: missing !== null,
    place: async () => {
      const server = await testPostgres()
      return { url: server.url, remove: server.drop }
    },
  },
]

const insert = async (db: Db, receipts: readonly Booked[]): Promise<void> => {
  for (const receipt of receipts) await db.run(insertReceipt(receipt).sql)
}
const fill = async (db: Db, count: number, of: (index: number) => Partial<Booked> = () => ({})): Promise<void> => {
  await insert(
    db,
    Array.from({ length: count }, (_, index) => booked({ at: NOW + index, ...of(index) })),
  )
  for (const orgId of await unchained(db)) await chainPending(db, orgId)
}
const linesOf = async (db: Db, orgId = 0): Promise<string[]> => {
  let content = ''
  for await (const piece of jsonLines(db, orgId, 0)) content += piece
  return content.split('\n').slice(0, -1)
}

for (const engine of ENGINES) {
  describe.skipIf(engine.skipped)(engine.name, () => {
    let db: Database
    let other: Database
    let remove: () => Promise<void> | void
    beforeAll(async () => {
      const made = await engine.place()
      remove = made.remove
      db = await openDatabase(made.url, '.')
      other = await openDatabase(made.url, '.')
      await migrate(db, [{ name: 'savings', migrations }])
    })
    afterAll(async () => {
      await db.close()
      await other.close()
      await remove()
    })
    beforeEach(async () => {
      await db.run(sql`DELETE FROM savings_receipts`)
      await db.run(sql`DELETE FROM savings_chains`)
    })

    it('an empty one is whole', async () => {
      expect(await verifyChain(db, 0)).toEqual({ ok: true, count: 0, first_bad_seq: null })
    })

    it('can be checked by whoever holds its lines, whatever is in them', async () => {
      await insert(db, [
        booked({ model: 'ünï "quoted" \\ \n', user_id: '\u2028', cost_center: '=1+1', usd_saved_nano: -5 }),
        booked({ details: '{"a":[1,null,"\\ud800"],"b":{"ä":"\u2028"}}', price_ref: '{"input_per_1m":0.1,"ref":"x"}' }),
        booked({ key_id: null, provider: null, model: null, at: 0 }),
      ])
      await chainPending(db, 0)
      await fill(db, 450)
      const lines = await linesOf(db)
      expect(lines).toHaveLength(453)
      expect(firstWrong(lines)).toBeNull()
      expect(lines.map((line) => (JSON.parse(line) as { seq: number }).seq)).toEqual(lines.map((_, index) => index + 1))
      expect(await verifyChain(db, 0)).toEqual({ ok: true, count: 453, first_bad_seq: null })
      const altered = (lines[6] as string).replace('"usd_saved_nano":1000', '"usd_saved_nano":1001')
      expect(firstWrong(lines.with(6, altered))).toBe(7)
    })

    it('CSV has the same, and no cell is a formula', async () => {
      await fill(db, 1, () => ({ cost_center: '=1+1', model: 'a,"b"' }))
      let content = ''
      for await (const piece of csv(db, 0, 0)) content += piece
      const [head, line, ...rest] = content.split('\r\n')
      expect(rest).toEqual([''])
      expect(head?.split(',').slice(0, 4)).toEqual(['seq', 'org_id', 'request_id', 'at'])
      expect(line).toContain(`,p,"a,""b""",1,,'=1+1,`)
    })

    const set = (assignment: Sql) => sql`UPDATE savings_receipts SET ${assignment} WHERE seq = 4`
    it.each([
      ['an amount', set(sql`usd_saved_nano = 999999`), 4],
      ['tokens', set(sql`tokens_saved = 16`), 4],
      ['a model', set(sql`model = 'other'`), 4],
      ['a cost center', set(sql`cost_center = 'mine'`), 4],
      ['a time beyond all times', set(sql`at = 9007199254740991`), 4],
      ['its hash', set(sql`hash = ${'0'.repeat(64)}`), 4],
      ['the hash before it', set(sql`prev_hash = ${'0'.repeat(64)}`), 4],
      ['its number', set(sql`seq = 40`), 4],
      ['a receipt that is gone', sql`DELETE FROM savings_receipts WHERE seq = 4`, 4],
      ['the first that is gone', sql`DELETE FROM savings_receipts WHERE seq = 1`, 1],
      ['the last that is gone', sql`DELETE FROM savings_receipts WHERE seq = 9`, 9],
      ['all that are gone', sql`DELETE FROM savings_receipts`, 1],
      ['one that was added', sql`UPDATE savings_receipts SET seq = 10, org_id = 0 WHERE org_id = 7`, 10],
    ])('after a change behind its back, verify names the first bad one: %s', async (_, change, seq) => {
      await fill(db, 9)
      await fill(db, 1, () => ({ org_id: 7 }))
      await db.run(change)
      expect(await verifyChain(db, 0)).toEqual({ ok: false, count: 9, first_bad_seq: seq })
    })

    it('each organization has its own, counted from 1', async () => {
      await fill(db, 6, (index) => ({ org_id: index % 3 }))
      for (const orgId of [0, 1, 2]) {
        const lines = await linesOf(db, orgId)
        expect(lines.map((line) => (JSON.parse(line) as { seq: number }).seq)).toEqual([1, 2])
        expect(firstWrong(lines)).toBeNull()
      }
    })

    it('pruned by age it keeps its hold, and goes on', async () => {
      await fill(db, 10, (index) => ({ at: NOW - (20 - index) * DAY }))
      expect(await pruneOldest(db, 0, NOW - 15 * DAY, 3)).toBe(3)
      expect(await pruneOldest(db, 0, NOW - 15 * DAY, 100)).toBe(2)
      expect(await pruneOldest(db, 0, NOW - 15 * DAY, 100)).toBe(0)
      const anchor = await chainOf(db, 0)
      expect(anchor.anchor_seq).toBe(5)
      expect(await verifyChain(db, 0)).toEqual({ ok: true, count: 5, first_bad_seq: null })
      await fill(db, 2)
      const lines = await linesOf(db)
      expect(firstWrong(lines, anchor.anchor_hash)).toBeNull()
      expect(lines).toHaveLength(7)
      await db.run(sql`UPDATE savings_receipts SET tokens_saved = 1 WHERE seq = 6`)
      expect(await verifyChain(db, 0)).toMatchObject({ ok: false, first_bad_seq: 6 })
      await db.run(sql`DELETE FROM savings_receipts`)
      expect(await verifyChain(db, 0)).toMatchObject({ ok: false, first_bad_seq: 6 })
    })

    it('pruned to nothing it goes on behind what was there', async () => {
      await fill(db, 3, () => ({ at: 1 }))
      expect(await pruneOldest(db, 0, NOW, 100)).toBe(3)
      expect(await verifyChain(db, 0)).toEqual({ ok: true, count: 0, first_bad_seq: null })
      await fill(db, 1)
      expect(await verifyChain(db, 0)).toEqual({ ok: true, count: 1, first_bad_seq: null })
      expect((await chainOf(db, 0)).head_seq).toBe(4)
    })

    it('two connections that write and chain at once make one chain without a fork', { timeout: 60_000 }, async () => {
      const one = async (mine: Database, first: number) => {
        for (let turn = 0; turn < 12; turn++) {
          await insert(
            mine,
            Array.from({ length: 5 }, (_, i) => booked({ at: NOW + first + turn, usd_saved_nano: i })),
          )
          await chainPending(mine, 0)
        }
      }
      await Promise.all([one(db, 0), one(other, 3), one(db, 5), one(other, 7)])
      await chainPending(db, 0)
      const lines = await linesOf(db)
      expect(lines).toHaveLength(240)
      expect(firstWrong(lines)).toBeNull()
      expect(await verifyChain(other, 0)).toEqual({ ok: true, count: 240, first_bad_seq: null })
    })

    it('of any history: one unbroken chain an organization, and every sum is that of its receipts', {
      timeout: 120_000,
    }, async () => {
      const receipt = fc.record({
        org_id: fc.constantFrom(0, 0, 5),
        at: fc.integer({ min: NOW - 70 * DAY, max: NOW }),
        source: fc.constantFrom('exact_cache', 'prompt_cache'),
        provider: fc.constantFrom('a', 'b', null),
        model: fc.constantFrom('x', 'é "q"', null),
        key_id: fc.constantFrom(1, 2, null),
        virtual_model: fc.constantFrom('vm', null),
        user_id: fc.constantFrom('u', null),
        cost_center: fc.constantFrom('c', null),
        usd_saved_nano: fc.integer({ min: -1_000_000, max: 9_000_000_000 }),
      })
      const step = fc.oneof(
        { weight: 4, arbitrary: fc.record({ do: fc.constant('book' as const), receipts: fc.array(receipt, { maxLength: 6 }) }) },
        { weight: 3, arbitrary: fc.constant({ do: 'chain' as const }) },
        { weight: 1, arbitrary: fc.record({ do: fc.constant('prune' as const), days: fc.integer({ min: 1, max: 70 }) }) },
      )
      const groups = ['provider', 'model', 'key', 'user', 'virtual_model', 'cost_center', 'day', 'month', 'org'] as const
      const property = fc.asyncProperty(
        fc.array(step, { maxLength: 12 }),
        fc.uniqueArray(fc.constantFrom(...groups), { maxLength: 3 }),
        async (steps, by) => {
          await db.run(sql`DELETE FROM savings_receipts`)
          await db.run(sql`DELETE FROM savings_chains`)
          for (const each of steps) {
            if (each.do === 'book')
              await insert(
                db,
                each.receipts.map((one) => booked(one)),
              )
            else
              for (const orgId of [0, 5])
                await (each.do === 'chain' ? chainPending(db, orgId) : pruneOldest(db, orgId, NOW - each.days * DAY, 1000))
          }
          for (const orgId of [0, 5]) await chainPending(db, orgId)
          const rows = await db.all<Booked & { seq: number }>(sql`SELECT * FROM savings_receipts WHERE org_id = 0 ORDER BY seq`)
          const { anchor_seq } = await chainOf(db, 0)
          expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, index) => anchor_seq + index + 1))
          for (const orgId of [0, 5]) expect(await verifyChain(db, orgId)).toMatchObject({ ok: true })
          const sum = rows.reduce((nano, row) => nano + row.usd_saved_nano, 0)
          expect((await savedIn(db, ALL)).usdSavedNano).toBe(sum)
          expect((await totalOf(db, ALL)).usdSavedNano).toBe(sum)
          for (const rollup of ROLLUPS) {
            const sums = await rolledUp(db, ALL, rollup, 1000)
            expect(sums.reduce((nano, { usdSavedNano }) => nano + usdSavedNano, 0)).toBe(sum)
            expect(sums.reduce((count, { receipts }) => count + receipts, 0)).toBe(rows.length)
            expect(new Set(sums.map(({ key }) => key)).size).toBe(sums.length)
          }
          const range = { since: NOW - 80 * DAY, until: NOW + 1, orgId: null }
          const named = new Map(rows.map((row) => [JSON.stringify(by.map((group) => stored(group, row))), 0]))
          for (const row of rows) {
            const name = JSON.stringify(by.map((group) => stored(group, row)))
            named.set(name, (named.get(name) as number) + row.usd_saved_nano)
          }
          const asked = [...named.keys()].map((name) => JSON.parse(name) as string[])
          expect(await savedOf(db, range, by, asked)).toEqual([...named.values()])
        },
      )
      await fc.assert(property, { numRuns: 40, seed: 11 })
    })
  })
}

/** In the form of the ledger's usage rows. */
function stored(group: string, row: Booked): string {
  const day = new Date(row.at)
  switch (group) {
    case 'org':
      return String(row.org_id)
    case 'key':
      return String(row.key_id ?? -1)
    case 'day':
      return String(Math.floor(row.at / DAY))
    case 'month':
      return String(day.getUTCFullYear() * 12 + day.getUTCMonth())
    default:
      return String((row as unknown as Record<string, unknown>)[group === 'user' ? 'user_id' : group] ?? '')
  }
}

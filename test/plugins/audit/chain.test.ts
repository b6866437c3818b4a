// The chain: complete for any number of concurrent writers, every alteration is detected, and it can be pruned.
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sql } from '../../../core/db/sql.ts'
import type { Db, Sql } from '../../../core/types/ports/db.ts'
import { exportLine, GENESIS, type Link } from '../../../plugins/audit/chain.ts'
import { chainState, linksAfter, moveExportCursor, pruneOldest } from '../../../plugins/audit/store.ts'
import { verifyChain } from '../../../plugins/audit/verify.ts'
import { chainWriter } from '../../../plugins/audit/writer.ts'
import { outputOf, runTs } from '../../support/run-ts.ts'
import { ENGINES, entry, type Store } from './support.ts'

const WHOLE = { ok: true, first_bad_seq: null, anchor_seq: null }

for (const engine of ENGINES) {
  describe.skipIf(engine.skipped)(engine.name, () => {
    let store: Store
    let db: Db
    beforeAll(async () => {
      store = await engine.make()
      db = store.db
    })
    afterAll(() => store.close())
    beforeEach(async () => {
      await db.run(sql`DELETE FROM audit_log`)
      await db.run(
        sql`UPDATE audit_state SET head_seq = 0, head_hash = ${GENESIS}, anchor_seq = 0, anchor_hash = ${GENESIS}, exported_seq = 0`,
      )
    })
    const all = () => linksAfter(db, 0, 10_000)
    const fill = async (count: number, from = 1) => {
      const append = chainWriter(db)
      await Promise.all(Array.from({ length: count }, (_, i) => append(entry(from + i))))
    }

    it('an empty one is whole', async () => {
      expect(await verifyChain(db)).toEqual({ ...WHOLE, from_seq: null, to_seq: null })
    })

    it('keeps the order of one process, from the genesis on', async () => {
      await fill(120)
      const links = await all()
      expect(links.map(({ seq }) => seq)).toEqual(Array.from({ length: 120 }, (_, i) => i + 1))
      expect(links.map(({ target }) => target)).toEqual(links.map(({ seq }) => String(seq)))
      expect(links[0]?.prev_hash).toBe('0'.repeat(64))
      expect(await verifyChain(db)).toEqual({ ...WHOLE, from_seq: 1, to_seq: 120 })
    })

    it('can be checked by whoever holds its lines and this much code', async () => {
      const odd = {
        actor: 'ünï "quoted" \\ \n',
        target: null,
        ip: null,
        org_id: 7,
        details: '{"a":[1,null,"\\ud800"],"b":{"ä":"\u2028"}}',
      }
      await chainWriter(db)(entry(1, odd))
      await fill(20, 2)
      const lines = (await all()).map(exportLine)
      let previous = '0'.repeat(64)
      for (const line of lines) {
        const { hash, prev_hash, ...record } = JSON.parse(line)
        const sorted = (value: unknown): unknown =>
          Array.isArray(value)
            ? value.map(sorted)
            : value !== null && typeof value === 'object'
              ? Object.fromEntries(
                  Object.entries(value)
                    .sort(([a], [b]) => (a < b ? -1 : 1))
                    .map(([k, v]) => [k, sorted(v)]),
                )
              : value
        expect(prev_hash).toBe(previous)
        expect(
          createHash('sha256')
            .update(`${prev_hash}\n${JSON.stringify(sorted(record))}`)
            .digest('hex'),
        ).toBe(hash)
        previous = hash
      }
      expect(JSON.parse(lines[0] as string)).toMatchObject({ actor: odd.actor, org_id: 7, at: '2023-11-14T22:13:20.001Z' })
      expect(await verifyChain(db)).toMatchObject(WHOLE)
    })

    it('stays one when a hundred are appended at once from two instances', async () => {
      const other = await store.open()
      const writers = [chainWriter(db), chainWriter(other)] as const
      await Promise.all(Array.from({ length: 100 }, (_, i) => writers[(i % 2) as 0 | 1](entry(i))))
      const links = await all()
      expect(links.map(({ seq }) => seq)).toEqual(Array.from({ length: 100 }, (_, i) => i + 1))
      expect(new Set(links.map(({ target }) => target)).size).toBe(100)
      expect(await verifyChain(db)).toEqual({ ...WHOLE, from_seq: 1, to_seq: 100 })
    })

    it('stays one when ten instances append without gathering', async () => {
      const many = await Promise.all(Array.from({ length: 10 }, () => store.open()))
      await Promise.all(
        many.map(async (each, i) => {
          const append = chainWriter(each)
          for (let n = 0; n < 10; n++) await append(entry(n, { actor: `instance-${i}` }))
        }),
      )
      expect(await verifyChain(db)).toEqual({ ...WHOLE, from_seq: 1, to_seq: 100 })
      for (let i = 0; i < 10; i++) {
        const mine = (await all()).filter(({ actor }) => actor === `instance-${i}`)
        expect(mine.map(({ target }) => target)).toEqual(Array.from({ length: 10 }, (_, n) => String(n)))
      }
    })

    it('stays one over two processes beside this one', async () => {
      const children = ['one', 'two'].map((name) => outputOf(runTs('audit-appender.ts', store.url, name, '50')))
      const append = chainWriter(db)
      const mine: Promise<Link>[] = []
      const until = Promise.all(children)
      let done = false
      void until.finally(() => {
        done = true
      })
      for (let n = 0; !done; n++) {
        mine.push(append(entry(n)))
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      const given = [
        ...(await until).map((text) => JSON.parse(text) as number[]),
        (await Promise.all(mine)).map(({ seq }) => seq),
      ]
      const seqs = given.flat().sort((a, b) => a - b)
      expect(seqs).toEqual(Array.from({ length: seqs.length }, (_, i) => i + 1))
      expect(given.slice(0, 2).map(({ length }) => length)).toEqual([50, 50])
      expect(await verifyChain(db)).toEqual({ ...WHOLE, from_seq: 1, to_seq: seqs.length })
    })

    it('loses nobody when a batch fails: every entry in it is told', async () => {
      await fill(3)
      const append = chainWriter(db)
      await db.run(sql`DELETE FROM audit_state`)
      const outcomes = await Promise.allSettled([append(entry(4)), append(entry(5))])
      expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
      const last = (await all()).at(-1) as Link
      await db.run(
        sql`INSERT INTO audit_state (id, head_seq, head_hash, anchor_seq, anchor_hash, exported_seq)
            VALUES (1, 3, ${last.hash}, 0, ${GENESIS}, 0)`,
      )
      expect((await append(entry(6))).seq).toBe(4)
      expect(await verifyChain(db)).toMatchObject({ ok: true, to_seq: 4 })
    })

    const alterations: [string, (db: Db) => Promise<unknown>, number][] = [
      ...(['actor', 'action', 'target', 'details', 'ip', 'prev_hash', 'hash'] as const).map(
        (column): [string, (db: Db) => Promise<unknown>, number] => [
          `one byte of ${column}`,
          async (db) => {
            const row = (await linksAfter(db, 11, 1))[0] as Link
            const text = row[column] as string
            const at = column === 'details' ? text.length - 2 : 0
            const flipped = text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ 1) + text.slice(at + 1)
            return db.run(sql`UPDATE audit_log SET ${sql.id(column)} = ${flipped} WHERE seq = 12`)
          },
          12,
        ],
      ),
      ['white space in details', (db) => db.run(sql`UPDATE audit_log SET details = ${'{"n": 12}'} WHERE seq = 12`), 12],
      ['the time by a millisecond', (db) => db.run(sql`UPDATE audit_log SET at = at + 1 WHERE seq = 12`), 12],
      [
        'the time to one that is none',
        (db) => db.run(sql`UPDATE audit_log SET at = ${Number.MAX_SAFE_INTEGER} WHERE seq = 12`),
        12,
      ],
      ['the organization', (db) => db.run(sql`UPDATE audit_log SET org_id = 1 WHERE seq = 12`), 12],
      ['a target to none', (db) => db.run(sql`UPDATE audit_log SET target = NULL WHERE seq = 12`), 12],
      ['an entry taken out', (db) => db.run(sql`DELETE FROM audit_log WHERE seq = 12`), 12],
      ['a gap moved to the end', (db) => db.run(sql`UPDATE audit_log SET seq = 1000 WHERE seq = 12`), 12],
      ['the first one taken out', (db) => db.run(sql`DELETE FROM audit_log WHERE seq = 1`), 1],
      ['the last ones taken out', (db) => db.run(sql`DELETE FROM audit_log WHERE seq > 28`), 29],
      ['all of them taken out', (db) => db.run(sql`DELETE FROM audit_log`), 1],
    ]
    it.each(alterations)('names where it was broken: %s', async (_, alter, seq) => {
      await fill(30)
      await alter(db)
      expect(await verifyChain(db)).toEqual({ ok: false, from_seq: 1, to_seq: 30, first_bad_seq: seq, anchor_seq: null })
    })

    it('names the first entry that was made anew, although each fits the one before', async () => {
      await fill(10)
      const swap = async (a: number, b: number): Promise<Sql> => {
        const row = (await linksAfter(db, a - 1, 1))[0] as Link
        return sql`UPDATE audit_log SET actor = ${row.actor}, target = ${row.target}, details = ${row.details}, at = ${row.at} WHERE seq = ${b}`
      }
      const updates = [await swap(4, 7), await swap(7, 4)]
      for (const update of updates) await db.run(update)
      expect(await verifyChain(db)).toMatchObject({ ok: false, first_bad_seq: 4 })
    })

    it('walks on over pages, and beside writers', async () => {
      await fill(1203)
      const append = chainWriter(db)
      const [report] = await Promise.all([verifyChain(db), ...Array.from({ length: 20 }, (_, i) => append(entry(i)))])
      expect(report).toMatchObject({ ok: true, from_seq: 1 })
      expect(await verifyChain(db)).toMatchObject({ ok: true, to_seq: 1223 })
      await db.run(sql`UPDATE audit_log SET actor = 'x' WHERE seq = 1001`)
      expect(await verifyChain(db)).toMatchObject({ ok: false, first_bad_seq: 1001 })
    })

    describe('pruning', () => {
      const cutoff = 1_700_000_000_000 + 21
      it('takes nothing that was never exported', async () => {
        await fill(30)
        expect(await pruneOldest(db, cutoff, 1000)).toBe(0)
        expect(await all()).toHaveLength(30)
      })

      it('takes what is old, up to the export cursor, and the rest still hangs together', async () => {
        await fill(30)
        await moveExportCursor(db, 10)
        expect(await pruneOldest(db, cutoff, 1000)).toBe(10)
        expect(await verifyChain(db)).toEqual({ ok: true, from_seq: 11, to_seq: 30, first_bad_seq: null, anchor_seq: 10 })
        await moveExportCursor(db, 30)
        expect(await pruneOldest(db, cutoff, 1000)).toBe(10)
        expect(await verifyChain(db)).toMatchObject({ ok: true, from_seq: 21, anchor_seq: 20 })
        expect(await pruneOldest(db, cutoff, 1000)).toBe(0)
        await fill(5, 31)
        expect(await verifyChain(db)).toMatchObject({ ok: true, from_seq: 21, to_seq: 35 })
      })

      it('stops at the first entry that is young, even when older ones follow', async () => {
        await fill(3)
        await chainWriter(db)(entry(9000))
        await fill(3, 4)
        await moveExportCursor(db, 7)
        expect(await pruneOldest(db, cutoff, 1000)).toBe(3)
        expect((await all()).map(({ seq }) => seq)).toEqual([4, 5, 6, 7])
      })

      it('can take everything, and goes on from there', async () => {
        await fill(8)
        await moveExportCursor(db, 8)
        expect(await pruneOldest(db, Number.MAX_SAFE_INTEGER, 1000)).toBe(8)
        expect(await verifyChain(db)).toEqual({ ok: true, from_seq: null, to_seq: null, first_bad_seq: null, anchor_seq: 8 })
        await fill(2)
        expect((await all()).map(({ seq }) => seq)).toEqual([9, 10])
        expect(await verifyChain(db)).toMatchObject({ ok: true, from_seq: 9, to_seq: 10 })
      })

      it('goes in steps, beside writers and readers', async () => {
        await fill(100)
        await moveExportCursor(db, 100)
        const append = chainWriter(db)
        const steps = async () => {
          let gone = 0
          for (let n = 1; n > 0; gone += n) n = await pruneOldest(db, 1_700_000_000_000 + 91, 7)
          return gone
        }
        const [gone, report] = await Promise.all([
          steps(),
          verifyChain(db),
          ...Array.from({ length: 20 }, (_, i) => append(entry(5000 + i))),
        ])
        expect(gone).toBe(90)
        expect(report).toMatchObject({ ok: true })
        expect(await verifyChain(db)).toEqual({ ok: true, from_seq: 91, to_seq: 120, first_bad_seq: null, anchor_seq: 90 })
      })

      it('shows when the anchor is moved to hide what was taken', async () => {
        await fill(20)
        await db.run(sql`DELETE FROM audit_log WHERE seq <= 5`)
        await db.run(sql`UPDATE audit_state SET anchor_seq = 5`)
        expect(await verifyChain(db)).toMatchObject({ ok: false, first_bad_seq: 6 })
      })
    })

    it('moves the export cursor forward only, and not beyond the end', async () => {
      await fill(10)
      for (const [asked, expected] of [
        [4, 4],
        [2, 4],
        [11, 4],
        [10, 10],
      ] as const) {
        await moveExportCursor(db, asked)
        expect((await chainState(db)).exported_seq).toBe(expected)
      }
    })
  })
}

// Contract tests for a database driver: the behaviour that plugins may rely on, the same on every engine.
import assert from 'node:assert/strict'
import { migrate } from '../../../core/db/migrate.ts'
import { sql } from '../../../core/db/sql.ts'
import { isUniqueViolation } from '../../../core/db/storage-fault.ts'
import type { Database, Sql, Statement } from '../../../core/types/ports/db.ts'
import type { ContractCase } from './contract.ts'

/** @param database an open one; tables `contract_…` are created in it. */
export function databaseContract(database: () => Database): ContractCase[] {
  let tables = 0
  /** Creates a table (id, n, label unique) for one case. */
  const table = async (db: Database): Promise<Sql> => {
    const name = `contract_${process.pid}_${++tables}`
    const up = `CREATE TABLE ${name} (id {{id}}, n {{int}} NOT NULL, label TEXT UNIQUE, CHECK (n >= 0)); CREATE INDEX ${name}_n ON ${name} (n)`
    await migrate(db, [{ name: 'contract', migrations: [{ id: name, up }] }])
    return sql.id(name)
  }
  const write = (t: Sql, n: number, label: string | null = null): Sql => sql`INSERT INTO ${t} (n, label) VALUES (${n}, ${label})`
  const add = (t: Sql, label: string, n: number, ceiling: number): Statement => ({
    sql: sql`UPDATE ${t} SET n = n + ${n} WHERE label = ${label} AND n + ${n} <= ${ceiling}`,
    expect: 1,
    refuse: () => new Error('over the limit'),
  })
  const labels = async (db: Database, t: Sql) =>
    (await db.all<{ label: string }>(sql`SELECT label FROM ${t} ORDER BY label`)).map((row) => row.label)
  const number = async (db: Database, t: Sql) => (await db.get<{ n: number }>(sql`SELECT n FROM ${t}`))?.n

  const cases: Record<string, (db: Database, t: Sql) => Promise<void>> = {
    'gives back the values that were written': async (db, t) => {
      const text = 'it\'s "quoted" ? $1 \\ é 😀 \n --x'
      for (const [n, label] of [
        [0, null],
        [Number.MAX_SAFE_INTEGER, text],
        [1.0, ''],
      ] as const) {
        await db.run(write(t, n, label))
      }
      assert.deepEqual(await db.all(sql`SELECT n, label FROM ${t} ORDER BY id`), [
        { n: 0, label: null },
        { n: Number.MAX_SAFE_INTEGER, label: text },
        { n: 1, label: '' },
      ])
      assert.equal(await db.get(sql`SELECT n FROM ${t} WHERE label = ${'absent'}`), undefined)
    },
    'stores booleans as 0 and 1 and small bigints as numbers': async (db, t) => {
      await db.run(sql`INSERT INTO ${t} (n) VALUES (${true}), (${false}), (${5n})`)
      assert.deepEqual(
        (await db.all<{ n: number }>(sql`SELECT n FROM ${t} ORDER BY n`)).map(({ n }) => n),
        [0, 1, 5],
      )
    },
    'answers counts, sums and comparisons as numbers': async (db, t) => {
      await db.run(sql`INSERT INTO ${t} (n) VALUES ${sql.values([[2 ** 40], [2], [3]])}`)
      const row = await db.get(sql`SELECT count(*) AS count, sum(n) AS sum, max(n) > 5 AS big FROM ${t}`)
      assert.deepEqual(row, { count: 3, sum: 2 ** 40 + 5, big: 1 })
    },
    'parses rows with a schema': async (db, t) => {
      await db.run(write(t, 7))
      const row = { parse: (value: unknown) => ({ seven: (value as { n: number }).n === 7 }) }
      assert.deepEqual(await db.all(sql`SELECT n FROM ${t}`, row), [{ seven: true }])
      assert.deepEqual(await db.get(sql`SELECT n FROM ${t}`, row), { seven: true })
    },
    'counts changed rows, and returned ones of RETURNING': async (db, t) => {
      assert.equal((await db.run(sql`INSERT INTO ${t} (n) VALUES ${sql.values([[1], [2], [3]])}`)).changes, 3)
      assert.equal((await db.run(sql`UPDATE ${t} SET n = n WHERE n > ${1}`)).changes, 2)
      assert.equal((await db.run(sql`UPDATE ${t} SET n = n WHERE n > ${1} RETURNING id`)).changes, 2)
      assert.equal((await db.run(sql`DELETE FROM ${t} WHERE n > ${5}`)).changes, 0)
    },
    'writes through all and get when the statement returns rows': async (db, t) => {
      assert.deepEqual(await db.get(sql`INSERT INTO ${t} (n) VALUES (${4}) RETURNING n`), { n: 4 })
      assert.deepEqual(await db.all(sql`UPDATE ${t} SET n = n + 1 RETURNING n`), [{ n: 5 }])
      const up = sql`INSERT INTO ${t} (n, label) VALUES (1, ${'u'}) ON CONFLICT (label) DO UPDATE SET n = ${t}.n + 1 RETURNING n`
      assert.deepEqual([await db.get(up), await db.get(up)], [{ n: 1 }, { n: 2 }])
      assert.equal((await db.run(sql`INSERT INTO ${t} (n, label) VALUES (1, ${'u'}) ON CONFLICT DO NOTHING`)).changes, 0)
    },
    'understands every fragment': async (db, t) => {
      await db.run(
        sql`INSERT INTO ${t} (n, label) VALUES ${sql.values([
          [1, 'a'],
          [2, 'b'],
          [3, 'c'],
        ])}`,
      )
      const select = async (where: Sql) =>
        (await db.all<{ n: number }>(sql`SELECT n FROM ${t} WHERE ${where} ORDER BY n`)).map((row) => row.n)
      assert.deepEqual(await select(sql`n IN ${sql.in([1, 3, 9])}`), [1, 3])
      assert.deepEqual(await select(sql`n IN ${sql.in([])}`), [])
      assert.deepEqual(await select(sql`label IN ${sql.in([])}`), [])
      assert.deepEqual(await select(sql.and([])), [1, 2, 3])
      assert.deepEqual(await select(sql.or([])), [])
      assert.deepEqual(await select(sql.and([sql`n > ${1}`, sql.or([sql`label = ${'a'}`, sql`label = ${'c'}`])])), [3])
      assert.deepEqual(await select(sql`n = ${1} OR ${sql.join([sql`n = 2`, sql`n = ${3}`], sql` OR `)}`), [1, 2, 3])
    },
    'says when a row with this key is there already': async (db, t) => {
      await db.run(write(t, 1, 'same'))
      await assert.rejects(db.run(write(t, 2, 'same')), isUniqueViolation)
      await assert.rejects(db.run(write(t, -1)), (error) => !isUniqueViolation(error))
      await assert.rejects(db.run(sql`SELECT nothing FROM nowhere`))
      await db.run(write(t, 3))
    },
    'atomic: all or nothing, and names the statement that fell short': async (db, t) => {
      await db.run(write(t, 6, 'a'))
      const one = [add(t, 'a', 3, 10), add(t, 'a', 3, 10)]
      assert.deepEqual(await db.atomic(one), { ok: false, index: 1 })
      assert.equal(await number(db, t), 6)
      assert.deepEqual(await db.atomic(one.slice(1)), { ok: true })
      assert.equal(await number(db, t), 9)
      await assert.rejects(db.atomic([{ sql: sql`UPDATE ${t} SET n = 1` }, { sql: write(t, 1, 'a') }]), isUniqueViolation)
      assert.equal(await number(db, t), 9)
    },
    'atomic: a SELECT with expect is a guard': async (db, t) => {
      const guard = { sql: sql`SELECT 1 FROM ${t} WHERE label = ${'open'}`, expect: 1 }
      assert.deepEqual(await db.atomic([guard, { sql: write(t, 1) }]), { ok: false, index: 0 })
      await db.run(write(t, 1, 'open'))
      assert.deepEqual(await db.atomic([guard, { sql: write(t, 2, 'second') }]), { ok: true })
      assert.deepEqual(await labels(db, t), ['open', 'second'])
    },
    'commit: a refused unit is rolled back alone': async (db, t) => {
      await db.run(write(t, 0, 'budget'))
      const results = await db.commit([
        [{ sql: write(t, 1, 'one') }, add(t, 'budget', 6, 10)],
        [{ sql: write(t, 1, 'two') }, add(t, 'budget', 6, 10)],
        [{ sql: write(t, 1, 'three') }, { sql: write(t, 1, 'one') }],
        [add(t, 'budget', 4, 10), { sql: write(t, 1, 'four') }],
        [],
      ])
      assert.deepEqual(
        results.map((result) => (result.ok ? 'ok' : `${result.index} ${result.error === null ? 'count' : 'error'}`)),
        ['ok', '1 count', '1 error', 'ok', 'ok'],
      )
      assert.deepEqual(await labels(db, t), ['budget', 'four', 'one'])
      assert.deepEqual(await db.get(sql`SELECT n FROM ${t} WHERE label = ${'budget'}`), { n: 10 })
    },
    'commit: what two commits lock in opposite order does not stop them': async (db, t) => {
      for (const label of ['a', 'b', 'c']) await db.run(write(t, 0, label))
      const units = (labels: readonly string[]) => labels.map((label) => [{ ...add(t, label, 1, 1000), lock: label }])
      const rounds = Array.from({ length: 40 }, (_, i) => db.commit(units(i % 2 ? ['a', 'b', 'c'] : ['c', 'b', 'a'])))
      for (const results of await Promise.all(rounds)) assert.ok(results.every(({ ok }) => ok))
      assert.deepEqual(
        (await db.all<{ n: number }>(sql`SELECT n FROM ${t}`)).map(({ n }) => n),
        [40, 40, 40],
      )
    },
    'tx: is seen when it is over, and not at all when it rejects': async (db, t) => {
      const result = await db.tx(async (tx) => {
        await tx.run(write(t, 1, 'in'))
        assert.deepEqual(await tx.get(sql`SELECT n FROM ${t}`), { n: 1 })
        return 'done'
      })
      assert.equal(result, 'done')
      await assert.rejects(
        db.tx(async (tx) => {
          await tx.run(write(t, 2, 'never'))
          throw new Error('changed my mind')
        }),
        /changed my mind/,
      )
      assert.deepEqual(await labels(db, t), ['in'])
    },
    'tx: the failure of a statement cannot be swallowed': async (db, t) => {
      await db.run(write(t, 1, 'a'))
      await assert.rejects(
        db.tx(async (tx) => {
          await tx.run(write(t, 2, 'b'))
          await tx.run(write(t, 3, 'a')).catch(() => {})
        }),
        isUniqueViolation,
      )
      assert.deepEqual(await labels(db, t), ['a'])
    },
    'tx: one inside another can fail alone': async (db, t) => {
      await db.run(write(t, 1, 'a'))
      await db.tx(async (tx) => {
        await tx.run(write(t, 1, 'b'))
        await assert.rejects(
          tx.tx(async (inner) => {
            await inner.run(write(t, 1, 'lost'))
            await inner.run(write(t, 1, 'a'))
          }),
          isUniqueViolation,
        )
        assert.deepEqual(await tx.atomic([{ sql: write(t, 1, 'lost') }, add(t, 'a', 9, 5)]), { ok: false, index: 1 })
        assert.deepEqual(await tx.atomic([{ sql: write(t, 1, 'c') }, add(t, 'a', 1, 5)]), { ok: true })
        await Promise.all(['d', 'e', 'f'].map((label) => tx.tx((inner) => inner.run(write(t, 1, label)))))
      })
      assert.deepEqual(await labels(db, t), ['a', 'b', 'c', 'd', 'e', 'f'])
    },
    'tx: its db is of no use afterwards': async (db, t) => {
      let kept: Pick<Database, 'run'> = db
      await db.tx(async (tx) => {
        kept = tx
      })
      await assert.rejects(kept.run(write(t, 1)), /over/)
      assert.deepEqual(await labels(db, t), [])
    },
    'a hundred parallel transactions lose no update': async (db, t) => {
      await db.run(write(t, 0))
      await Promise.all(
        Array.from({ length: 100 }, () =>
          db.tx(async (tx) => {
            const { n } = (await tx.get<{ n: number }>(sql`SELECT n FROM ${t}`)) as { n: number }
            await new Promise((resolve) => setImmediate(resolve))
            await tx.run(sql`UPDATE ${t} SET n = ${n + 1}`)
          }),
        ),
      )
      assert.equal(await number(db, t), 100)
    },
    'nothing else gets into an open transaction': async (db, t) => {
      const inner = db.tx(async (tx) => {
        await tx.run(write(t, 1, 'gone too'))
        for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve))
        throw new Error('roll back')
      })
      const outside = [
        db.run(write(t, 1, 'run')),
        db.atomic([{ sql: write(t, 1, 'atomic') }]),
        db.commit([[{ sql: write(t, 1, 'commit') }]]),
        db.all(sql`INSERT INTO ${t} (n, label) VALUES (1, ${'returning'}) RETURNING id`),
        db.tx((tx) => tx.run(write(t, 1, 'tx'))),
      ]
      await assert.rejects(inner, /roll back/)
      await Promise.all(outside)
      assert.deepEqual(await labels(db, t), ['atomic', 'commit', 'returning', 'run', 'tx'])
    },
    'parallel reservations never pass the limit': async (db, t) => {
      await db.run(write(t, 0, 'a'))
      const answers = await Promise.all(
        Array.from({ length: 60 }, (_, i) => db.atomic([add(t, 'a', 7, 100), { sql: write(t, 7, `r${i}`) }])),
      )
      assert.equal(answers.filter((answer) => answer.ok).length, 14)
      assert.equal((await db.get<{ n: number }>(sql`SELECT n FROM ${t} WHERE label = ${'a'}`))?.n, 98)
      assert.equal((await labels(db, t)).length, 15)
    },
    'runs several statements in one text': async (db, t) => {
      await db.tx(async (tx) => {
        const text = `INSERT INTO ${t.text} (n, label) VALUES (1, 'a;b'); INSERT INTO ${t.text} (n, label) VALUES (2, 'c')`
        await tx.run({ text, params: [] })
      })
      assert.deepEqual(await labels(db, t), ['a;b', 'c'])
    },
    'follows a change of the schema': async (db, t) => {
      await db.run(write(t, 1, 'a'))
      const before = sql`SELECT * FROM ${t} WHERE n = ${1}`
      for (let i = 0; i < 3; i++) assert.deepEqual(Object.keys((await db.get(before)) as object), ['id', 'n', 'label'])
      await db.run(sql`ALTER TABLE ${t} ADD COLUMN extra TEXT`)
      for (let i = 0; i < 3; i++) assert.deepEqual(Object.keys((await db.get(before)) as object), ['id', 'n', 'label', 'extra'])
    },
    'answers ping': (db) => db.ping(),
  }

  return Object.entries(cases).map(([name, run]) => ({
    name,
    run: async () => {
      const db = database()
      await run(db, await table(db))
    },
  }))
}

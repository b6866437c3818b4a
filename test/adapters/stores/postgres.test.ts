// PostgreSQL only: placeholders, lost connections, time limits, deadlocks, a read-only server, a restart.
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { numbered } from '../../../adapters/stores/postgres/statement-names.ts'
import { type PostgresOptions, postgresDatabase } from '../../../adapters/stores/postgres.ts'
import { sql } from '../../../core/db/sql.ts'
import { isStorageUnavailable } from '../../../core/db/storage-fault.ts'
import { systemClock } from '../../../core/timing/clock.ts'
import type { Database } from '../../../core/types/ports/db.ts'
import { ownPostgres } from '../../support/own-postgres.ts'
import { type TestPostgres, testPostgres, whyNoPostgres } from '../../support/postgres.ts'

describe('placeholders', () => {
  it.each([
    ['SELECT ?, ?', 'SELECT $1, $2'],
    ["SELECT 'a?''?', ?", "SELECT 'a?''?', $1"],
    ['SELECT "a?""?", ?', 'SELECT "a?""?", $1'],
    ["SELECT E'\\'?', ?", "SELECT E'\\'?', $1"],
    ['SELECT $$?$$, $x$ ? $$ $x$, ?', 'SELECT $$?$$, $x$ ? $$ $x$, $1'],
    ['SELECT ? -- ?\n, ?', 'SELECT $1 -- ?\n, $2'],
    ['SELECT /* ? */ ?', 'SELECT /* ? */ $1'],
    ["SELECT '?", "SELECT '$1"],
  ])('%s', (text, expected) => expect(numbered(text)).toBe(expected))

  it('are numbered in order whatever stands between them', () => {
    const piece = fc.constantFrom("'?'", '"?"', '-- ?\n', '/*?*/', '$$?$$', ' x ', ', ', '(')
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.constant('?')), { maxLength: 20 }), (pieces) => {
        let n = 0
        const text = pieces.join(' ')
        expect(numbered(text)).toBe(pieces.map((each) => (each === '?' ? `$${++n}` : each)).join(' '))
      }),
    )
  })
})

const noPostgres = await whyNoPostgres()

describe.skipIf(noPostgres !== null)(`PostgreSQL${noPostgres === null ? '' : ` (${noPostgres})`}`, () => {
  let server: TestPostgres
  const open: Database[] = []
  beforeAll(async () => {
    server = await testPostgres()
    const db = await database()
    await db.run(sql`CREATE TABLE t (id TEXT PRIMARY KEY, n BIGINT NOT NULL)`)
  })
  afterEach(async () => {
    for (const db of open.splice(0)) await db.close()
  })
  afterAll(() => server.drop())

  const database = async (options: Partial<PostgresOptions> = {}): Promise<Database> => {
    const db = await postgresDatabase({ url: server.url, ...options })
    open.push(db)
    return db
  }
  const others = () =>
    `FROM pg_stat_activity WHERE datname = '${server.name}' AND pid <> pg_backend_pid() AND backend_type = 'client backend'`
  /** Waits until the condition holds on the server. */
  const awaited = (condition: string) =>
    server.admin(`DO $$ BEGIN WHILE NOT (${condition}) LOOP
      PERFORM pg_sleep(0.01); PERFORM pg_stat_clear_snapshot(); END LOOP; END $$`)
  const cutAll = async () => {
    await server.admin(`SELECT pg_terminate_backend(pid) ${others()}`)
    await awaited(`NOT EXISTS (SELECT 1 ${others()})`)
  }
  const put = (id: string) => sql`INSERT INTO t (id, n) VALUES (${id}, 0)`
  const has = async (db: Database, id: string) => (await db.get(sql`SELECT 1 FROM t WHERE id = ${id}`)) !== undefined

  it('idle connections that were cut are replaced, and nobody notices', async () => {
    const db = await database()
    await Promise.all(Array.from({ length: 10 }, () => db.ping()))
    await cutAll()
    await new Promise((resolve) => setTimeout(resolve, 100))
    await Promise.all(Array.from({ length: 10 }, () => db.ping()))
  })

  it('a transaction whose connection is cut is 503 and rolled back; the next works', async () => {
    const db = await database()
    const cut = db.tx(async (tx) => {
      await tx.run(put('cut'))
      await cutAll()
      await tx.run(put('cut-2'))
    })
    await expect(cut).rejects.toSatisfy(isStorageUnavailable)
    expect(await has(db, 'cut')).toBe(false)
    // Cut while it holds a connection without a running statement.
    const idle = db.tx(async (tx) => {
      await tx.run(put('idle'))
      await cutAll()
      await new Promise((resolve) => setTimeout(resolve, 100))
    })
    await expect(idle).rejects.toSatisfy(isStorageUnavailable)
    expect(await has(db, 'idle')).toBe(false)
  })

  it('a commit whose connection is cut rejects as a whole', async () => {
    const db = await database()
    const slow = { sql: sql`SELECT pg_sleep(60)` }
    const commit = db.commit([[{ sql: put('whole') }], [slow]])
    const outcome = expect(commit).rejects.toSatisfy(isStorageUnavailable)
    await awaited(`EXISTS (SELECT 1 ${others()} AND state = 'active' AND query LIKE '%pg_sleep(60)%')`)
    await cutAll()
    await outcome
    expect(await has(db, 'whole')).toBe(false)
  })

  it('a statement over its time limit is 503', async () => {
    const db = await database({ statementTimeoutMs: 100 })
    await expect(db.get(sql`SELECT pg_sleep(30)`)).rejects.toThrow(/took too long/)
    const answers = () =>
      db.ping().then(
        () => true,
        () => false,
      )
    await expect.poll(answers).toBe(true)
  })

  it('a read-only server is named as such', async () => {
    await server.admin(`ALTER DATABASE ${server.name} SET default_transaction_read_only = on`)
    const db = await database()
    try {
      await expect(db.run(put('ro'))).rejects.toThrow(/read-only/)
      await expect(db.commit([[{ sql: put('ro') }]])).rejects.toSatisfy(isStorageUnavailable)
    } finally {
      await server.admin(`ALTER DATABASE ${server.name} RESET default_transaction_read_only`)
    }
  })

  it('a database that takes no connections is 503, whatever it says of it', async () => {
    const db = await database()
    await server.admin(`ALTER DATABASE ${server.name} ALLOW_CONNECTIONS false`)
    try {
      await expect(db.ping()).rejects.toSatisfy(isStorageUnavailable)
    } finally {
      await server.admin(`ALTER DATABASE ${server.name} ALLOW_CONNECTIONS true`)
    }
    await db.ping()
  })

  it('a lock that a role may not wait for any longer is 503', async () => {
    const url = new URL(server.url)
    url.searchParams.set('options', '-c lock_timeout=20')
    const [holder, impatient] = [await database(), await database({ url: url.toString() })]
    await holder.tx(async (tx) => {
      await tx.run(sql`LOCK TABLE t IN ACCESS EXCLUSIVE MODE`)
      await expect(impatient.run(put('locked'))).rejects.toThrow(/took too long/)
    })
    await impatient.run(put('locked'))
  })

  it('who meets other transactions again and again gives up with 503', async () => {
    const db = await database({ clock: { ...systemClock, sleep: async () => {} } })
    const met = Object.assign(new Error('could not serialize access'), { code: '40001' })
    await expect(db.tx(() => Promise.reject(met))).rejects.toSatisfy(isStorageUnavailable)
  })

  it('more callers than connections wait their turn', async () => {
    const db = await database({ max: 2 })
    const results = await Promise.all(Array.from({ length: 40 }, (_, i) => db.get(sql`SELECT CAST(${i} AS BIGINT) AS i`)))
    expect(results).toEqual(Array.from({ length: 40 }, (_, i) => ({ i })))
  })

  it('groups of two replicas that touch the same rows in opposite orders are all committed', async () => {
    const replicas = [await database(), await database()]
    await replicas[0]?.commit([[{ sql: put('a') }, { sql: put('b') }]])
    const add = (id: string) => [{ sql: sql`UPDATE t SET n = n + 1 WHERE id = ${id}`, expect: 1 }]
    const groups = [
      [add('a'), add('b')],
      [add('b'), add('a')],
    ] as const
    for (let round = 0; round < 2; round++) {
      const results = await Promise.all(replicas.map((db, i) => db.commit(groups[i] as (typeof groups)[0])))
      expect(results.flat().every((result) => result.ok)).toBe(true)
    }
    expect(await replicas[0]?.all(sql`SELECT n FROM t WHERE id IN ${sql.in(['a', 'b'])}`)).toEqual([{ n: 4 }, { n: 4 }])
  })

  it('the search path of the URL is obeyed', async () => {
    const db = await database()
    await db.run(sql`CREATE SCHEMA other`)
    const url = new URL(server.url)
    url.searchParams.set('options', '-c search_path=other')
    const other = await database({ url: url.toString() })
    await other.run(sql`CREATE TABLE only_here (n BIGINT)`)
    expect(await db.all(sql`SELECT n FROM other.only_here`)).toEqual([])
  })
})

const own = await ownPostgres()

describe.skipIf(own === null)(`a server that restarts${own === null ? ' (no PostgreSQL binaries on this machine)' : ''}`, () => {
  afterAll(() => own?.remove())

  it('is found again without help; meanwhile 503; what was acknowledged is there', { timeout: 120_000 }, async () => {
    if (own === null) return
    const db = await postgresDatabase({ url: own.url, connectTimeoutMs: 20_000 })
    try {
      await expect(db.ping()).rejects.toSatisfy(isStorageUnavailable)
      await own.start()
      await db.run(sql`CREATE TABLE t (n BIGINT)`)
      for (let n = 0; n < 3; n++) {
        await Promise.all(Array.from({ length: 10 }, () => db.run(sql`INSERT INTO t (n) VALUES (${n})`)))
        await own.stop()
        await expect(db.run(sql`INSERT INTO t (n) VALUES (99)`)).rejects.toSatisfy(isStorageUnavailable)
        await own.start()
      }
      expect(await db.get(sql`SELECT count(*) AS c FROM t WHERE n < 99`)).toEqual({ c: 30 })
    } finally {
      await db.close()
    }
  })
})

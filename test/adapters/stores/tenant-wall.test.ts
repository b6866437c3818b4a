// PostgreSQL hides the rows of other organizations by itself: whatever a statement asks for, it sees the rows of one.
import { setTimeout as later } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDatabase } from '../../../adapters/stores/open-database.ts'
import { postgresDatabase } from '../../../adapters/stores/postgres.ts'
import { migrate } from '../../../core/db/migrate.ts'
import { sql } from '../../../core/db/sql.ts'
import { ViewHub } from '../../../core/db/views.ts'
import { wallTables } from '../../../core/db/wall.ts'
import { silentLog } from '../../../core/log.ts'
import { systemClock } from '../../../core/timing/clock.ts'
import type { Database, TenantWall } from '../../../core/types/ports/db.ts'
import { type TestPostgres, testPostgres, whyNoPostgres } from '../../support/postgres.ts'

const missing = await whyNoPostgres()

const THINGS = {
  name: 'things',
  migrations: [
    {
      id: '001-things',
      up: `CREATE TABLE things (id {{id}}, org_id {{int}} NOT NULL DEFAULT 0, name TEXT NOT NULL);
        CREATE TABLE things_parts (thing_id {{int}} NOT NULL, name TEXT NOT NULL);
        CREATE TABLE things_lost (thing_id {{int}} NOT NULL);
        CREATE TABLE things_kinds (name TEXT NOT NULL)`,
      belonging: {
        things_parts: { column: 'thing_id', table: 'things', key: 'id' },
        things_lost: { column: 'thing_id', table: 'absent', key: 'id' },
      },
    },
  ],
}
const TABLES = wallTables([THINGS])
const ALL = sql`SELECT name FROM things ORDER BY id`

function wallOf(db: Database): TenantWall {
  if (db.wall === undefined) throw new Error('This database has no wall.')
  return db.wall
}

describe.skipIf(missing !== null)(`The wall of PostgreSQL${missing === null ? '' : ` (${missing})`}`, () => {
  let server: TestPostgres
  let db: Database
  let wall: TenantWall

  beforeAll(async () => {
    server = await testPostgres()
    db = await openDatabase(server.url, '.')
    wall = wallOf(db)
    await migrate(db, [THINGS])
    await db.run(sql`INSERT INTO things (org_id, name) VALUES (0, 'own'), (1, 'first'), (2, 'second')`)
    await db.run(sql`INSERT INTO things_parts SELECT id, 'part of ' || name FROM things`)
    await db.run(sql`INSERT INTO things_lost SELECT id FROM things`)
    await db.run(sql`INSERT INTO things_kinds VALUES ('kind')`)
  })
  afterAll(async () => {
    await db.close()
    await server.drop()
  })

  it('does nothing before it is built', async () => {
    expect(wall.state).toBeNull()
    expect(await wall.within(1, () => db.all(ALL))).toHaveLength(3)
  })

  it('is built once, and again changes nothing', async () => {
    expect(await wall.build(TABLES)).toEqual({ by: 'role' })
    const oid = sql`SELECT oid FROM pg_policy ORDER BY oid`
    const before = await db.all(oid)
    expect(before).toHaveLength(3)
    expect(await wall.build(TABLES)).toEqual({ by: 'role' })
    expect(await db.all(oid)).toEqual(before)
  })

  it('shows one organization its own rows, by every verb', async () => {
    await wall.within(1, async () => {
      const own = [{ name: 'first' }]
      expect(await db.all(ALL)).toEqual(own)
      expect(await db.get(sql`SELECT name FROM things WHERE org_id = ${2}`)).toBeUndefined()
      expect(await db.tx((tx) => tx.all(ALL))).toEqual(own)
      expect(await db.tx((tx) => tx.tx((inner) => inner.all(ALL)))).toEqual(own)
      expect((await db.run(sql`UPDATE things SET name = name WHERE id > ${0}`)).changes).toBe(1)
      expect(await db.atomic([{ sql: sql`DELETE FROM things WHERE org_id = ${2}`, expect: 1 }])).toEqual({ ok: false, index: 0 })
      await later(1)
      expect(await db.all(ALL)).toEqual(own)
    })
    expect(await db.all(ALL)).toHaveLength(3)
  })

  it('shows rows that belong to a row of the organization, and tables without an owner', async () => {
    await wall.within(2, async () => {
      expect(await db.all(sql`SELECT name FROM things_parts`)).toEqual([{ name: 'part of second' }])
      expect(await db.all(sql`SELECT thing_id FROM things_lost`)).toEqual([])
      expect(await db.all(sql`SELECT name FROM things_kinds`)).toEqual([{ name: 'kind' }])
    })
  })

  it('refuses rows that would belong to another organization', async () => {
    const refused = /row-level security/
    await wall.within(1, async () => {
      await expect(db.run(sql`INSERT INTO things (org_id, name) VALUES (${2}, ${'planted'})`)).rejects.toThrow(refused)
      await expect(db.run(sql`UPDATE things SET org_id = ${2} WHERE id > ${0}`)).rejects.toThrow(refused)
      await expect(db.tx((tx) => tx.run(sql`INSERT INTO things (name) VALUES (${'unowned'})`))).rejects.toThrow(refused)
      const { id } = (await db.get<{ id: number }>(sql`INSERT INTO things (org_id, name) VALUES (1, 'more') RETURNING id`)) ?? {
        id: 0,
      }
      expect((await db.run(sql`DELETE FROM things WHERE id = ${id}`)).changes).toBe(1)
    })
    expect(await db.all(ALL)).toHaveLength(3)
  })

  it('gives the connection back without the organization', async () => {
    await Promise.all(Array.from({ length: 30 }, (_, i) => wall.within(1 + (i % 2), () => db.all(ALL))))
    const rows = await Promise.all(Array.from({ length: 30 }, () => db.all(ALL)))
    expect(rows.every((each) => each.length === 3)).toBe(true)
  })

  it('lets detached work, group commits and the views of a write see all rows', async () => {
    const views = new ViewHub(db, systemClock, silentLog, { detached: (fn) => wall.detached(fn) })
    const view = await views.view('things', (reader) => reader.all<{ name: string }>(ALL))
    await wall.within(1, async () => {
      expect(await wall.detached(() => db.all(ALL))()).toHaveLength(3)
      expect(await db.all(ALL)).toHaveLength(1)
      const unit = [{ sql: sql`UPDATE things SET name = name WHERE id > ${0}`, expect: 3 }]
      expect(await db.commit([unit])).toEqual([{ ok: true }])
      await view.write((tx) => tx.run(sql`UPDATE things SET name = 'first!' WHERE id > ${0}`))
    })
    expect(view.current.map(({ name }) => name)).toEqual(['own', 'first!', 'second'])
    await views.close()
  })

  it('leaves functions as they are outside of every organization', () => {
    const fn = () => 1
    expect(wall.detached(fn)).toBe(fn)
  })

  it('stands in a schema that only the user of the gateway may use', async () => {
    await db.run(sql`CREATE SCHEMA walled`)
    const url = new URL(server.url)
    url.searchParams.set('options', '-c search_path=walled')
    const inside = await openDatabase(url.toString(), '.')
    try {
      await migrate(inside, [THINGS])
      await inside.run(sql`INSERT INTO things (org_id, name) VALUES (1, 'mine'), (2, 'theirs')`)
      expect(await wallOf(inside).build(TABLES)).toEqual({ by: 'role' })
      expect(await wallOf(inside).within(1, () => inside.all(ALL))).toEqual([{ name: 'mine' }])
    } finally {
      await inside.close()
    }
  })

  it('protects tables of another schema and user no further than they are its own', async () => {
    await server.admin(`DROP ROLE IF EXISTS ${server.name}_plain`)
    await server.admin(`CREATE ROLE ${server.name}_plain LOGIN`)
    const url = new URL(server.url)
    url.username = `${server.name}_plain`
    const plain = await postgresDatabase({ url: url.toString() })
    try {
      await db.run({ text: `GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${server.name}_plain`, params: [] })
      await db.run({ text: `ALTER TABLE things DISABLE ROW LEVEL SECURITY`, params: [] })
      expect(await wallOf(plain).build(TABLES)).toMatchObject({ by: null, reason: expect.stringContaining('`things`') })
    } finally {
      await plain.close()
      await db.run({ text: `DROP OWNED BY ${server.name}_plain; ALTER TABLE things ENABLE ROW LEVEL SECURITY`, params: [] })
      await server.admin(`DROP ROLE ${server.name}_plain`)
    }
  })
})

describe.skipIf(missing !== null)('Without the right to create roles', () => {
  let server: TestPostgres
  let db: Database
  const login = () => `${server.name}_owner`

  beforeAll(async () => {
    server = await testPostgres()
    await server.admin(`DROP ROLE IF EXISTS ${login()}`)
    await server.admin(`CREATE ROLE ${login()} LOGIN`)
    await server.admin(`ALTER DATABASE ${server.name} OWNER TO ${login()}`)
    const url = new URL(server.url)
    url.username = login()
    db = await postgresDatabase({ url: url.toString() })
    await migrate(db, [THINGS])
    await db.run(sql`INSERT INTO things (org_id, name) VALUES (0, 'own'), (1, 'first'), (2, 'second')`)
  })
  afterAll(async () => {
    await db.close()
    await server.drop()
    await server.admin(`DROP ROLE ${login()}`)
  })

  it('binds the owner of the tables by policies, and says how to get the role', async () => {
    const state = await wallOf(db).build(TABLES)
    expect(state).toMatchObject({ by: 'owner', reason: expect.stringContaining('GRANT hookgate_tenant') })
    expect(await wallOf(db).within(1, () => db.all(ALL))).toEqual([{ name: 'first' }])
    expect(await db.all(ALL)).toHaveLength(3)
    await expect(
      wallOf(db).within(1, () => db.run(sql`INSERT INTO things (org_id, name) VALUES (${2}, ${'planted'})`)),
    ).rejects.toThrow(/row-level security/)
  })

  it('takes the role once an administrator has granted it', async () => {
    await server.admin(`GRANT hookgate_tenant TO ${login()}`)
    expect(await wallOf(db).build(TABLES)).toEqual({ by: 'role' })
    const forced = sql`SELECT relname FROM pg_class WHERE relforcerowsecurity`
    expect(await db.all(forced)).toEqual([])
    expect(await wallOf(db).within(2, () => db.all(ALL))).toEqual([{ name: 'second' }])
  })
})

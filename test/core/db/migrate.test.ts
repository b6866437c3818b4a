// Migrations: once, in order, by one process at a time; an applied one must not change.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openDatabase } from '../../../adapters/stores/open-database.ts'
import { sqliteDatabase } from '../../../adapters/stores/sqlite.ts'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { foreignTables, migrate, pending, refuseNewer } from '../../../core/db/migrate.ts'
import { sql } from '../../../core/db/sql.ts'
import type { Database, Migration } from '../../../core/types/ports/db.ts'
import { testPostgres, whyNoPostgres } from '../../support/postgres.ts'
import { outputOf, runTs } from '../../support/run-ts.ts'

const noPostgres = await whyNoPostgres()
const OWN = ['001-versions', '002-changed-rows'].map((id) => ({ plugin: 'gateway', id }))

let db: Database
beforeEach(() => {
  db = sqliteDatabase({ path: ':memory:' })
})
afterEach(() => db.close())

const shop = (...migrations: Migration[]) => [{ name: 'pet-shop', migrations }]
const first: Migration = { id: '001', up: 'CREATE TABLE pet_shop (id {{id}}, n {{int}} NOT NULL)' }

describe('migrate', () => {
  it('applies what is missing, in order, and writes down when', async () => {
    const second = { id: '002', up: 'INSERT INTO pet_shop (n) VALUES (1); INSERT INTO pet_shop (n) VALUES (2)' }
    expect(await pending(db, shop(first))).toEqual([...OWN, { plugin: 'pet-shop', id: '001' }])
    expect(await migrate(db, shop(first), fakeClock(1234))).toEqual([...OWN, { plugin: 'pet-shop', id: '001' }])
    expect(await migrate(db, shop(first, second))).toEqual([{ plugin: 'pet-shop', id: '002' }])
    expect(await migrate(db, shop(first, second))).toEqual([])
    expect(await pending(db, shop(first, second))).toEqual([])
    expect(await db.get(sql`SELECT sum(n) AS sum FROM pet_shop`)).toEqual({ sum: 3 })
    expect(await db.get(sql`SELECT applied_at FROM gateway_migrations WHERE id = ${'001'}`)).toEqual({ applied_at: 1234 })
  })

  it('of a newer version are refused by an older one, those of plugins that are not there are not', async () => {
    const second = { id: '002', up: 'INSERT INTO pet_shop (n) VALUES (1)' }
    await refuseNewer(db, shop(first))
    await migrate(db, shop(first, second))
    await refuseNewer(db, shop(first, second))
    await refuseNewer(db, [])
    await expect(refuseNewer(db, shop(first))).rejects.toThrow(
      'This database belongs to a newer version: `pet-shop` has applied the migration `002`',
    )
  })

  it('takes the text of the engine', async () => {
    await migrate(
      db,
      shop({ id: '1', up: { sqlite: 'CREATE TABLE pet_shop_s (a)', postgresql: 'CREATE TABLE pet_shop_p (a INT)' } }),
    )
    expect(await db.all(sql`SELECT * FROM pet_shop_s`)).toEqual([])
  })

  it('refuses one that changed after it was applied, naming it; white space does not count', async () => {
    await migrate(db, shop(first))
    const spaced = { ...first, up: `\n  ${(first.up as string).replaceAll(' ', '\n  ')}\n` }
    expect(await migrate(db, shop(spaced))).toEqual([])
    const changed = shop({ ...first, up: `${first.up as string}; DROP TABLE pet_shop` })
    await expect(migrate(db, changed)).rejects.toThrow(/`001` of the plugin `pet-shop` was changed/)
    await expect(pending(db, changed)).rejects.toThrow(/was changed/)
    expect(await db.all(sql`SELECT * FROM pet_shop`)).toEqual([])
  })

  it('rolls a failing one back whole, keeps those before it, and goes on from there', async () => {
    const bad = { id: '002', up: 'CREATE TABLE pet_shop_b (a {{int}}); INSERT INTO pet_shop_nowhere VALUES (1)' }
    await expect(migrate(db, shop(first, bad))).rejects.toThrow(/`002` of the plugin `pet-shop` failed: .*pet_shop_nowhere/)
    expect(await migrate(db, shop(first, { id: '002', up: 'CREATE TABLE pet_shop_b (a {{int}})' }))).toEqual([
      { plugin: 'pet-shop', id: '002' },
    ])
  })

  it('refuses an id twice and a token it does not know', async () => {
    await expect(migrate(db, shop(first, first))).rejects.toThrow(/two migrations `001`/)
    await expect(migrate(db, shop({ id: '1', up: 'CREATE TABLE pet_shop (id {{uuid}})' }))).rejects.toThrow(/\{\{uuid\}\}/)
  })

  it('refuses tables of others', async () => {
    await expect(migrate(db, shop({ id: '1', up: 'CREATE TABLE keys (id {{id}})' }))).rejects.toThrow(
      /`1` of the plugin `pet-shop` names `keys`: .*`pet_shop_…`/,
    )
  })
})

describe('the tables of a plugin', () => {
  it.each([
    'create table if not exists pet_shop (a int)',
    'CREATE UNIQUE INDEX pet_shop_i ON pet_shop (a)',
    'ALTER TABLE "pet_shop_x" RENAME TO pet_shop_y',
    "INSERT INTO pet_shop (t) VALUES ('create table keys; update keys set x')",
    'UPDATE pet_shop SET a = 1; DELETE FROM pet_shop_x -- delete from keys',
    'CREATE TABLE pet_shop (a INT REFERENCES pet_shop_x (id))',
    'CREATE TABLE pet_shop (a TEXT, updated {{int}}, "index" INT)',
  ])('%s', (text) => expect(foreignTables('pet-shop', text)).toEqual([]))

  it.each([
    ['create table pet_shopper (a int)', 'pet_shopper'],
    ['CREATE TABLE IF NOT EXISTS "keys" (a int)', 'keys'],
    ['CREATE INDEX by_a ON pet_shop (a)', 'by_a'],
    ['CREATE INDEX pet_shop_a ON keys (a)', 'keys'],
    ['DROP TABLE IF EXISTS keys', 'keys'],
    ['ALTER TABLE keys ADD COLUMN x', 'keys'],
    ['ALTER TABLE pet_shop RENAME TO keys', 'keys'],
    ['UPDATE keys SET a = 1', 'keys'],
    ['DELETE FROM keys', 'keys'],
    ['INSERT OR REPLACE INTO keys VALUES (1)', 'keys'],
    ['CREATE TABLE pet_shop (a INT REFERENCES keys (id))', 'keys'],
    ['/* x */ create table public.pet_shop (a int)', 'public.pet_shop'],
  ])('not: %s', (text, name) => expect(foreignTables('pet-shop', text)).toEqual([name]))
})

const race = async (url: string) => {
  const plugins = shop(
    first,
    ...Array.from({ length: 6 }, (_, i) => ({
      id: `1${i}`,
      up: `INSERT INTO pet_shop (n) VALUES (${i}); CREATE TABLE pet_shop_${i} (a {{int}})`,
    })),
  )
  const outputs = await Promise.all([1, 2].map(() => outputOf(runTs('migrator.ts', url, JSON.stringify(plugins)))))
  const applied = outputs.flatMap((text) => JSON.parse(text) as { id: string }[])
  const db = await openDatabase(url, '.')
  const rows = await db.all<{ n: number }>(sql`SELECT n FROM pet_shop ORDER BY n`)
  await db.close()
  return { applied: applied.map(({ id }) => id).sort(), rows: rows.map(({ n }) => n) }
}

const once = {
  applied: ['001', '001-versions', '002-changed-rows', '10', '11', '12', '13', '14', '15'],
  rows: [0, 1, 2, 3, 4, 5],
}

describe('two processes at once', () => {
  it('on SQLite: each migration is applied by one of them', { timeout: 180_000 }, async () => {
    const dir = mkdtempSync(join(tmpdir(), 'hookgate-'))
    try {
      expect(await race(`sqlite:${join(dir, 'a.db')}`)).toEqual(once)
    } finally {
      rmSync(dir, { recursive: true })
    }
  })
})

describe.skipIf(noPostgres !== null)(`PostgreSQL${noPostgres === null ? '' : ` (${noPostgres})`}`, () => {
  it('two processes at once: each migration is applied by one of them', { timeout: 180_000 }, async () => {
    const server = await testPostgres()
    try {
      expect(await race(server.url)).toEqual(once)
    } finally {
      await server.drop()
    }
  })

  it('eight gateways of one process at once', async () => {
    const server = await testPostgres()
    const gateways = await Promise.all(Array.from({ length: 8 }, () => openDatabase(server.url, '.')))
    try {
      const applied = await Promise.all(gateways.map((each) => migrate(each, shop(first))))
      expect(
        applied
          .flat()
          .map(({ id }) => id)
          .sort(),
      ).toEqual(['001', '001-versions', '002-changed-rows'])
    } finally {
      await Promise.all(gateways.map((each) => each.close()))
      await server.drop()
    }
  })
})

// A sealed value opens only in its own place, and a wrong master key changes nothing.
import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openDatabase } from '../../../adapters/stores/open-database.ts'
import { sqliteDatabase } from '../../../adapters/stores/sqlite.ts'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { givenMasterKey } from '../../../adapters/vault/master-key.ts'
import { type OpenVault, openVault } from '../../../adapters/vault/vault.ts'
import { sql } from '../../../core/db/sql.ts'
import type { Database } from '../../../core/types/ports/db.ts'
import type { SealedAt } from '../../../core/types/ports/ports.ts'
import { type TestPostgres, testPostgres, whyNoPostgres } from '../../support/postgres.ts'

const master = randomBytes(32)
const masterKey = givenMasterKey(master)
const AT: SealedAt = { table: 'connections', id: 7, column: 'api_key', orgId: 3 }
const REFUSED = /^The sealed value in \w+\.\w+ of \S+ cannot be opened: it was altered, moved here from another place, or sealed/

const noPostgres = await whyNoPostgres()
let postgres: TestPostgres | null = null
beforeAll(async () => {
  if (noPostgres === null) postgres = await testPostgres()
})
afterAll(async () => postgres?.drop())

const rows = (db: Database) => db.all(sql`SELECT * FROM vault_keys ORDER BY scope`)

describe.each(['sqlite', 'postgresql'] as const)('a vault on %s', (engine) => {
  const without = engine === 'postgresql' ? noPostgres : null
  let db: Database
  let vault: OpenVault
  const opened: Database[] = []

  const fresh = async (): Promise<Database> => {
    const database =
      engine === 'sqlite' ? sqliteDatabase({ path: ':memory:' }) : await openDatabase((postgres as TestPostgres).url, '.')
    opened.push(database)
    return database
  }
  beforeEach(async (context) => {
    context.skip(without !== null, without ?? '')
    db = await fresh()
    await db.run(sql`DROP TABLE IF EXISTS vault_keys`)
    vault = await openVault({ masterKey, db, clock: fakeClock(1_800_000_000_000) })
  })
  afterAll(async () => {
    for (const database of opened) await database.close()
  })

  it('opens what it sealed, whatever it is, wherever it lies', async () => {
    const places = fc.record({
      table: fc.string(),
      id: fc.oneof(fc.string(), fc.integer()),
      column: fc.string(),
      orgId: fc.constantFrom(null, 0, 1, 2),
    })
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme' }), places, async (plain, at) => {
        const sealed = await vault.seal(plain, at)
        expect(sealed).toMatch(/^v1\.[\w-]{12}\.[\w-]{16}\.[\w-]{22,}$/)
        expect(await vault.open(sealed, at)).toBe(plain)
      }),
    )
  })

  it('opens it again after a restart, and in another replica', async () => {
    const sealed = await vault.seal('sk-secret', AT)
    const again = await openVault({ masterKey, db, create: false })
    expect(await again.open(sealed, AT)).toBe('sk-secret')
    expect(again.mac('keys', 'x')).toBe(vault.mac('keys', 'x'))
    expect(await vault.open(await again.seal('other', { ...AT, orgId: 99 }), { ...AT, orgId: 99 })).toBe('other')
  })

  it('never seals the same twice', async () => {
    const sealed = await Promise.all(Array.from({ length: 500 }, () => vault.seal('same', AT)))
    expect(new Set(sealed.map((text) => text.split('.')[2])).size).toBe(500)
  })

  it.each<[string, Partial<SealedAt>]>([
    ['table', { table: 'webhooks' }],
    ['row', { id: 8 }],
    ['column', { column: 'token' }],
    ['organization', { orgId: 4 }],
    ['organization, to none', { orgId: null }],
    ['column and table, run together', { table: 'connectionsapi', column: '_key' }],
  ])('refuses a value moved to another %s', async (_, change) => {
    const sealed = await vault.seal('sk-secret', AT)
    await expect(vault.open(sealed, { ...AT, ...change })).rejects.toThrow(REFUSED)
  })

  it('refuses two values that changed places', async () => {
    const [one, two] = [await vault.seal('one', AT), await vault.seal('two', { ...AT, id: 8 })]
    await expect(vault.open(two, AT)).rejects.toThrow(REFUSED)
    await expect(vault.open(one, { ...AT, id: 8 })).rejects.toThrow(REFUSED)
  })

  it('refuses a value with any character changed, taken away or added', async () => {
    const sealed = await vault.seal('sk-12', AT)
    const tampered = [...sealed].flatMap((character, i) => [
      sealed.slice(0, i) + (character === 'A' ? 'B' : 'A') + sealed.slice(i + 1),
      sealed.slice(0, i) + (character === '_' ? '-' : '_') + sealed.slice(i + 1),
      sealed.slice(0, i) + sealed.slice(i + 1),
      `${sealed.slice(0, i)}=${sealed.slice(i)}`,
    ])
    tampered.push(`${sealed}.`, `${sealed}A`, '', 'v1', 'v1...', 'sk-12', sealed.toUpperCase())
    for (let end = 0; end < sealed.length; end++) tampered.push(sealed.slice(0, end))
    for (const text of tampered) if (text !== sealed) await expect(vault.open(text, AT), text).rejects.toThrow(REFUSED)
    expect(await vault.open(sealed, AT)).toBe('sk-12')
  })

  it('says nothing of the value or a key when it refuses', async () => {
    const sealed = await vault.seal('sk-canary', AT)
    const error = (await vault.open(sealed, { ...AT, id: 8 }).catch((thrown: Error) => thrown)) as Error
    for (const secret of ['canary', sealed.split('.')[3] as string, master.toString('hex')])
      expect(String(error.stack)).not.toContain(secret)
  })

  it('refuses to start under another master key and leaves every row as it was', async () => {
    await vault.seal('x', AT)
    const before = await rows(db)
    const other = randomBytes(32)
    for (const create of [true, false]) {
      const error = await openVault({ masterKey: givenMasterKey(other), db, create }).catch((thrown: Error) => thrown.message)
      expect(error).toMatch(
        /^GATEWAY_MASTER_KEY is not the master key this database was sealed with: .* Restore the former key; nothing was changed\.$/,
      )
      for (const form of ['hex', 'base64', 'base64url'] as const) expect(error).not.toContain(other.toString(form).slice(0, 12))
    }
    expect(await rows(db)).toEqual(before)
    await openVault({ masterKey, db })
  })

  it('keeps no key and no master key readable in the table', async () => {
    const text = JSON.stringify(await rows(db))
    for (const secret of [master, Buffer.from(vault.subkey('jwt'))])
      for (const form of ['hex', 'base64', 'base64url'] as const)
        expect(text).not.toContain(secret.toString(form).replace(/=+$/, ''))
    expect(await rows(db)).toMatchObject([
      { scope: 'org:none', created_at: 1_800_000_000_000 },
      { scope: 'root', created_at: 1_800_000_000_000 },
    ])
  })

  it('refuses a damaged or exchanged row of vault_keys', async () => {
    const sealed = await vault.seal('x', AT)
    await vault.prepare(4)
    await db.run(
      sql`UPDATE vault_keys SET wrapped = (SELECT wrapped FROM vault_keys WHERE scope = 'org:4') WHERE scope = 'org:3'`,
    )
    const again = await openVault({ masterKey, db })
    await expect(again.open(sealed, AT)).rejects.toThrow(
      'The key `org:3` in the table vault_keys is damaged: restore the table from a backup.',
    )
    await db.run(sql`UPDATE vault_keys SET wrapped = ${'AAAA.AAAA'} WHERE scope = 'root'`)
    await expect(openVault({ masterKey, db })).rejects.toThrow('The key `root` in the table vault_keys is damaged')
  })

  it('with create: false makes nothing', async () => {
    await db.run(sql`DROP TABLE vault_keys`)
    await expect(openVault({ masterKey, db, create: false })).rejects.toThrow('The database has no vault yet')
    await expect(rows(db)).rejects.toThrow()
  })

  it('gives replicas that start or meet an organization at the same time the same keys', async () => {
    await db.run(sql`DROP TABLE vault_keys`)
    const databases =
      engine === 'sqlite' ? Array.from({ length: 6 }, () => db) : await Promise.all(Array.from({ length: 6 }, fresh))
    const vaults = await Promise.all(databases.map((database) => openVault({ masterKey, db: database })))
    expect(new Set(vaults.map((each) => each.mac('keys', 'x'))).size).toBe(1)
    const sealed = await Promise.all(vaults.map((each) => each.seal('x', AT)))
    for (const each of vaults) for (const text of sealed) expect(await each.open(text, AT)).toBe('x')
    expect(await rows(db)).toHaveLength(3)
  })

  it('seals inside a transaction once the organization has its key', async () => {
    await vault.prepare(3)
    const sealed = await db.tx(() => vault.seal('x', AT))
    expect(await vault.open(sealed, AT)).toBe('x')
  })

  it('derives a key of its own for each purpose, and none of them is handed out for writing', () => {
    const purposes = ['jwt', 'keys', 'sessions', 'kek-v1', 'kek-id-v1', 'key-id-v1', '', 'GATEWAY_JWT_SECRET']
    const keys = purposes.map((purpose) => Buffer.from(vault.subkey(purpose)).toString('hex'))
    expect(new Set([...keys, master.toString('hex')]).size).toBe(purposes.length + 1)
    for (const key of keys) expect(key).toHaveLength(64)
    expect(new Set(purposes.map((purpose) => vault.mac(purpose, 'data'))).size).toBe(purposes.length)
    vault.subkey('jwt').fill(0)
    expect(Buffer.from(vault.subkey('jwt')).toString('hex')).toBe(keys[0])
  })

  it('macs as HMAC-SHA-256 under the sub-key', async () => {
    const key = await crypto.subtle.importKey(
      'raw',
      new Uint8Array(vault.subkey('keys')),
      { name: 'HMAC', hash: 'SHA-256' },
      false,
      ['sign'],
    )
    const expected = Buffer.from(await crypto.subtle.sign('HMAC', key, Buffer.from('gw_ü')))
    expect(vault.mac('keys', 'gw_ü')).toBe(expected.toString('hex'))
  })
})

describe('a wrong master key on a SQLite file', () => {
  it('leaves it identical to the byte', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'hookgate-'))
    const path = join(dir, 'gateway.db')
    const use = async (key: Buffer): Promise<unknown> => {
      const db = sqliteDatabase({ path })
      const result = await openVault({ masterKey: givenMasterKey(key), db }).catch((error: Error) => error)
      await db.close()
      return result
    }
    await use(master)
    const digest = () => createHash('sha256').update(readFileSync(path)).digest('hex')
    const before = digest()
    expect(await use(randomBytes(32))).toBeInstanceOf(Error)
    expect(digest()).toBe(before)
    rmSync(dir, { recursive: true })
  })
})

// A new master key: everything still opens, wherever the rotation is interrupted.
import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openDatabase } from '../../../adapters/stores/open-database.ts'
import { sqliteDatabase } from '../../../adapters/stores/sqlite.ts'
import { createKeyFile, nextPath } from '../../../adapters/vault/key-file.ts'
import { givenMasterKey, loadMasterKey } from '../../../adapters/vault/master-key.ts'
import { rotateKeyFile, rotateMasterKey } from '../../../adapters/vault/rotate.ts'
import { openVault } from '../../../adapters/vault/vault.ts'
import { sql } from '../../../core/db/sql.ts'
import type { Database } from '../../../core/types/ports/db.ts'
import { testPostgres, whyNoPostgres } from '../../support/postgres.ts'
import { runTs } from '../../support/run-ts.ts'
import { untilAlone } from '../../support/until-alone.ts'

const noPostgres = await whyNoPostgres()
const ORGS = [null, 1, 2, 3, 4]
const at = (orgId: number | null) => ({ table: 't', id: 1, column: 'c', orgId })
const rows = (db: Database) => db.all(sql`SELECT * FROM vault_keys ORDER BY scope`)

let dir: string
let path: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'hookgate-'))
  path = join(dir, 'master.key')
})
afterEach(() => rmSync(dir, { recursive: true }))

const fromFile = () => loadMasterKey({ key: null, path: null, dataDir: dir, profile: 'local' })

async function sealedValues(db: Database, masterKey = fromFile()) {
  const vault = await openVault({ masterKey, db })
  return { mac: vault.mac('keys', 'x'), values: await Promise.all(ORGS.map((orgId) => vault.seal(`secret ${orgId}`, at(orgId)))) }
}

async function expectIntact(db: Database, { mac, values }: Awaited<ReturnType<typeof sealedValues>>, masterKey = fromFile()) {
  const vault = await openVault({ masterKey, db })
  expect(vault.mac('keys', 'x')).toBe(mac)
  for (const [i, orgId] of ORGS.entries()) expect(await vault.open(values[i] as string, at(orgId))).toBe(`secret ${orgId}`)
}

describe('a rotation of a given key', () => {
  const [from, to] = [randomBytes(32), randomBytes(32)]

  it('keeps every value, look-up and session, and ends the former key', async () => {
    const db = sqliteDatabase({ path: ':memory:' })
    const before = await sealedValues(db, givenMasterKey(from))
    const wrapped = (await rows(db)).map((row) => row.wrapped)
    expect(await rotateMasterKey({ db, from, to })).toMatchObject({ rewrapped: ORGS.length + 1 })
    await expectIntact(db, before, givenMasterKey(to))
    await expect(openVault({ masterKey: givenMasterKey(from), db })).rejects.toThrow(
      /is not the master key this database was sealed with/,
    )
    for (const row of await rows(db)) expect(wrapped).not.toContain(row.wrapped)
    expect(await rotateMasterKey({ db, from, to })).toMatchObject({ rewrapped: 0 })
    await db.close()
  })

  it('under a key that is not the one changes nothing', async () => {
    const db = sqliteDatabase({ path: ':memory:' })
    await sealedValues(db, givenMasterKey(from))
    const before = await rows(db)
    await expect(rotateMasterKey({ db, from: randomBytes(32), to })).rejects.toThrow(
      /is sealed under the master key \w+, not under \w+\./,
    )
    await db.run(sql`UPDATE vault_keys SET wrapped = 'x.y' WHERE scope = 'root'`)
    const damaged = await rows(db)
    await expect(rotateMasterKey({ db, from, to })).rejects.toThrow('The key `root` in the table vault_keys is damaged')
    expect(await rows(db)).toEqual(damaged)
    expect(damaged).toHaveLength(before.length)
    await db.close()
  })

  it('leaves a running process what it has; a new organization waits for its restart', async () => {
    const db = sqliteDatabase({ path: ':memory:' })
    const running = await openVault({ masterKey: givenMasterKey(from), db })
    const sealed = await running.seal('x', at(1))
    await rotateMasterKey({ db, from, to })
    expect(await running.open(sealed, at(1))).toBe('x')
    await expect(running.seal('x', at(2))).rejects.toThrow(/^GATEWAY_MASTER_KEY is not the master key/)
    expect(await rows(db)).toHaveLength(3)
    await db.close()
  })
})

describe('a rotation of a key file', () => {
  it('replaces the file, for the owner only, and processes that run follow by themselves', async () => {
    const db = sqliteDatabase({ path: join(dir, 'gateway.db') })
    const before = await sealedValues(db)
    const running = await openVault({ masterKey: fromFile(), db })
    const former = readFileSync(path, 'utf8')
    await rotateKeyFile({ db, path })
    expect(readFileSync(path, 'utf8')).not.toBe(former)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(existsSync(nextPath(path))).toBe(false)
    await expectIntact(db, before)
    const sealed = await running.seal('new', at(77))
    expect(await (await openVault({ masterKey: fromFile(), db })).open(sealed, at(77))).toBe('new')
    await db.close()
  })

  it('interrupted before the database: the former key counts, and the next attempt uses the key that waits', async () => {
    const db = sqliteDatabase({ path: join(dir, 'gateway.db') })
    const before = await sealedValues(db)
    const waiting = await createKeyFile(nextPath(path), randomBytes(32), { variable: 'X', privateDirectory: true })
    await expectIntact(db, before)
    expect(existsSync(nextPath(path))).toBe(true)
    await rotateKeyFile({ db, path })
    expect(await fromFile().read()).toEqual([waiting])
    await expectIntact(db, before)
    await db.close()
  })

  it('interrupted after the database: the next start finishes it, and so does the next attempt', async () => {
    const db = sqliteDatabase({ path: join(dir, 'gateway.db') })
    const before = await sealedValues(db)
    for (const finish of [() => expectIntact(db, before), () => rotateKeyFile({ db, path })]) {
      const [from] = await fromFile().read()
      const to = await createKeyFile(nextPath(path), randomBytes(32), { variable: 'X', privateDirectory: true })
      await rotateMasterKey({ db, from: from as Uint8Array, to })
      await finish()
      expect(await fromFile().read()).toEqual([to])
      expect(existsSync(nextPath(path))).toBe(false)
      await expectIntact(db, before)
    }
    await db.close()
  })

  it('by several at once, and starts in between, is one rotation after the other', async () => {
    const db = sqliteDatabase({ path: join(dir, 'gateway.db') })
    const before = await sealedValues(db)
    const first = await fromFile().read()
    await Promise.all(
      Array.from({ length: 6 }, async () => {
        await rotateKeyFile({ db, path })
        await expectIntact(db, before)
        await rotateKeyFile({ db, path })
      }),
    )
    await expectIntact(db, before)
    const [last, ...waiting] = await fromFile().read()
    expect(waiting).toEqual([])
    expect(first).not.toContainEqual(last)
    await db.close()
  })

  it('needs a file', async () => {
    const db = sqliteDatabase({ path: ':memory:' })
    await expect(rotateKeyFile({ db, path })).rejects.toThrow(/is missing, so there is nothing to rotate from/)
    await db.close()
  })
})

describe('kill -9 during rotations', () => {
  /**
   * Each cycle kills `processes` that all rotate; `waiting` counts those that left a next key. `wait`: continues until one was
   * interrupted in between.
   */
  async function killed(url: string, options: { cycles: number; processes: number; seed: number; wait?: true }) {
    const random = seeded(options.seed)
    let db = await openDatabase(url, dir)
    const before = await sealedValues(db)
    const figures = { rotations: 0, waiting: 0 }
    for (let cycle = 0; cycle < options.cycles || (options.wait && figures.waiting === 0 && cycle < 100); cycle++) {
      await db.close()
      await Promise.all(
        Array.from({ length: options.processes }, async () => {
          const child = runTs('key-rotator.ts', url, path)
          let failure = ''
          child.stderr.on('data', (chunk) => (failure += chunk))
          child.stdout.once('data', () => setTimeout(() => child.kill('SIGKILL'), random() * 40))
          child.stdout.on('data', (chunk: Buffer) => (figures.rotations += chunk.length))
          const signal = await new Promise((resolve) => child.on('close', (_, by) => resolve(by)))
          expect(signal, failure).toBe('SIGKILL')
        }),
      )
      if (existsSync(nextPath(path))) figures.waiting++
      db = await openDatabase(url, dir)
      await untilAlone(db)
      await expectIntact(db, before)
    }
    await db.close()
    return figures
  }

  it('on SQLite: every value opens after each of 12', { timeout: 300_000 }, async () => {
    const { rotations, waiting } = await killed(`sqlite:${join(dir, 'gateway.db')}`, {
      cycles: 12,
      processes: 1,
      seed: 10,
      wait: true,
    })
    expect(rotations).toBeGreaterThanOrEqual(12)
    expect(waiting).toBeGreaterThan(0)
  })

  it('on PostgreSQL, two processes: every value opens after each of 5', { timeout: 300_000 }, async (context) => {
    context.skip(noPostgres !== null, noPostgres ?? '')
    const server = await testPostgres()
    try {
      expect((await killed(server.url, { cycles: 5, processes: 2, seed: 11 })).rotations).toBeGreaterThanOrEqual(10)
    } finally {
      await server.drop()
    }
  })
})

/** A linear congruential generator: any spread of times is sufficient, if it is reproducible. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

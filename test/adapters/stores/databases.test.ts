// The database contract for every driver.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pglite from 'db0/connectors/pglite'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { db0Database } from '../../../adapters/stores/db0.ts'
import { postgresDatabase } from '../../../adapters/stores/postgres.ts'
import { sqliteDatabase } from '../../../adapters/stores/sqlite.ts'
import { databaseContract } from '../../../adapters/testing/contracts/database-contract.ts'
import type { Database } from '../../../core/types/ports/db.ts'
import { testPostgres, whyNoPostgres } from '../../support/postgres.ts'

type Opened = { db: Database; remove(): Promise<void> | void }

const file = (): Opened => {
  const dir = mkdtempSync(join(tmpdir(), 'hookgate-'))
  return { db: sqliteDatabase({ path: join(dir, 'gateway.db') }), remove: () => rmSync(dir, { recursive: true }) }
}

const postgres = async (query = ''): Promise<Opened> => {
  const server = await testPostgres()
  return { db: await postgresDatabase({ url: server.url + query }), remove: server.drop }
}

const noPostgres = await whyNoPostgres()

const engines: Record<string, { skipped?: string | null; open(): Promise<Opened> | Opened }> = {
  'SQLite, file': { open: file },
  'SQLite, memory': { open: () => ({ db: sqliteDatabase({ path: ':memory:' }), remove: () => {} }) },
  PGlite: {
    open: () => ({ db: db0Database(pglite({ parsers: { 20: Number, 1700: Number } }), 'postgresql'), remove: () => {} }),
  },
  PostgreSQL: { skipped: noPostgres, open: () => postgres() },
  'PostgreSQL, without named statements': { skipped: noPostgres, open: () => postgres('?pooler=transaction') },
}

for (const [name, { skipped = null, open }] of Object.entries(engines)) {
  describe.skipIf(skipped !== null)(skipped === null ? name : `${name} (${skipped})`, () => {
    let opened: Opened
    beforeAll(async () => {
      opened = await open()
      // PGlite starts with the first statement, which takes time.
      await opened.db.ping()
    }, 60_000)
    afterAll(async () => {
      await opened.db.close()
      await opened.remove()
    })
    for (const { name, run } of databaseContract(() => opened.db)) it(name, run)
  })
}

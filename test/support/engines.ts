// Each engine that rows have to work on, empty but for the tables of one plugin.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '../../adapters/stores/open-database.ts'
import { migrate } from '../../core/db/migrate.ts'
import type { Database, Migration } from '../../core/types/ports/db.ts'
import { testPostgres, whyNoPostgres } from './postgres.ts'

export interface Engine {
  readonly name: string
  /** Why there is none here; null: there is. */
  readonly missing: string | null
  with(plugin: string, migrations: readonly Migration[], use: (db: Database) => Promise<void>): Promise<void>
}

const noPostgres = await whyNoPostgres()

async function used(
  url: string,
  plugin: { name: string; migrations: readonly Migration[] },
  use: (db: Database) => Promise<void>,
): Promise<void> {
  const db = await openDatabase(url, '.')
  try {
    await migrate(db, [{ name: plugin.name, migrations: [...plugin.migrations] }])
    await use(db)
  } finally {
    await db.close()
  }
}

export const ENGINES: readonly Engine[] = [
  {
    name: 'SQLite',
    missing: null,
    async with(name, migrations, use) {
      const dir = mkdtempSync(join(tmpdir(), 'hookgate-engine-'))
      await used(`sqlite:${join(dir, 'gateway.db')}`, { name, migrations }, use).finally(() => rmSync(dir, { recursive: true }))
    },
  },
  {
    name: noPostgres === null ? 'PostgreSQL' : `PostgreSQL (${noPostgres})`,
    missing: noPostgres,
    async with(name, migrations, use) {
      const server = await testPostgres()
      await used(server.url, { name, migrations }, use).finally(() => server.drop())
    },
  },
]

// The audit tables on each engine, and entries for them.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '../../../adapters/stores/open-database.ts'
import { migrate } from '../../../core/db/migrate.ts'
import type { Database } from '../../../core/types/ports/db.ts'
import type { Entry } from '../../../plugins/audit/chain.ts'
import { migrations } from '../../../plugins/audit/migrations.ts'
import { testPostgres, whyNoPostgres } from '../../support/postgres.ts'

export interface Store {
  /** For another process or connection. */
  readonly url: string
  readonly db: Database
  open(): Promise<Database>
  close(): Promise<void>
}

async function store(url: string, remove: () => Promise<void> | void): Promise<Store> {
  const opened: Database[] = []
  const open = async (): Promise<Database> => {
    const db = await openDatabase(url, '.')
    opened.push(db)
    return db
  }
  const db = await open()
  await migrate(db, [{ name: 'audit', migrations }])
  return {
    url,
    db,
    open,
    async close() {
      for (const each of opened) await each.close()
      await remove()
    },
  }
}

const noPostgres = await whyNoPostgres()

export const ENGINES: { name: string; skipped: boolean; make(): Promise<Store> }[] = [
  {
    name: 'SQLite',
    skipped: false,
    make: () => {
      const dir = mkdtempSync(join(tmpdir(), 'hookgate-'))
      return store(`sqlite:${join(dir, 'gateway.db')}`, () => rmSync(dir, { recursive: true }))
    },
  },
  {
    name: noPostgres === null ? 'PostgreSQL' : `PostgreSQL (${noPostgres})`,
    skipped: noPostgres !== null,
    make: async () => {
      const server = await testPostgres()
      return store(server.url, server.drop)
    },
  },
]

export const entry = (n: number, more: Partial<Entry> = {}): Entry => ({
  org_id: 0,
  at: 1_700_000_000_000 + n,
  actor: 'local',
  action: 'test.write',
  target: String(n),
  details: JSON.stringify({ n }),
  ip: '127.0.0.1',
  ...more,
})

// Where gateways keep their rows in tests: one SQLite file, or a database of a real PostgreSQL. Both outlive the gateways over
// them, and several may run over one.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { testPostgres, whyNoPostgres } from './postgres.ts'

export interface Site {
  /** GATEWAY_* without the prefix. */
  readonly env: Record<string, string>
  end(): Promise<void>
}

const noPostgres = await whyNoPostgres()

export async function openFile(): Promise<Site> {
  const dir = mkdtempSync(join(tmpdir(), 'hookgate-site-'))
  return { env: { DATA_DIR: dir }, end: async () => rmSync(dir, { recursive: true, force: true }) }
}

async function openPostgres(): Promise<Site> {
  const database = await testPostgres()
  const env = { DATABASE_URL: database.url, MASTER_KEY: randomBytes(32).toString('base64') }
  return { env, end: () => database.drop() }
}

/** Name, why it cannot be tested here, and how it is opened. */
export const SITES: readonly [name: string, missing: string | null, open: () => Promise<Site>][] = [
  ['SQLite', null, openFile],
  [noPostgres === null ? 'PostgreSQL' : `PostgreSQL (skipped: ${noPostgres})`, noPostgres, openPostgres],
]

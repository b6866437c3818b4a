// A database of its own on a real PostgreSQL: TEST_DATABASE_URL, or the server on the usual port, or one that is started
// here where the machine has the binaries. Where there is none the reason is for the name of the skipped tests.
import pg from 'pg'
import { afterAll } from 'vitest'
import { type OwnPostgres, ownPostgres } from './own-postgres.ts'

const USUAL = process.env.TEST_DATABASE_URL ?? 'postgres://postgres@127.0.0.1:5432/test'

let server: Promise<{ url: string } | { missing: string }> | null = null
let started: OwnPostgres | null = null
let databases = 0

// After the file that began it; one behind it in the same worker starts its own.
afterAll(async () => {
  if (started === null) return
  const ended = started
  started = null
  server = null
  await ended.remove()
})

/** Null: there is one. */
export async function whyNoPostgres(): Promise<string | null> {
  server ??= find()
  const found = await server
  return 'missing' in found ? found.missing : null
}

export interface TestPostgres {
  readonly url: string
  readonly name: string
  /** On the server's own database. */
  admin(text: string): Promise<void>
  drop(): Promise<void>
}

export async function testPostgres(): Promise<TestPostgres> {
  server ??= find()
  const found = await server
  if ('missing' in found) throw new Error(found.missing)
  const name = `hookgate_test_${process.pid}_${process.env.VITEST_POOL_ID ?? 0}_${++databases}`
  const admin = (text: string) => query(found.url, text)
  await admin(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
  await admin(`CREATE DATABASE ${name}`)
  const url = new URL(found.url)
  url.pathname = `/${name}`
  return { url: url.toString(), name, admin, drop: () => admin(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) }
}

async function find(): Promise<{ url: string } | { missing: string }> {
  try {
    await query(USUAL, 'SELECT 1')
    return { url: USUAL }
  } catch (error) {
    const { message, code } = error as { message: string; code?: string }
    const missing = `no PostgreSQL at ${new URL(USUAL).host} (${message || code}) and no server binaries`
    const own = await ownPostgres()
    if (own === null) return { missing }
    await own.start()
    started = own
    return { url: own.url }
  }
}

async function query(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 30_000 })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query(text)
  } finally {
    await client.end().catch(() => {})
  }
}

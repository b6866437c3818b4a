// GATEWAY_DATABASE_URL: the selected database, and the messages about an unreadable one.
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { openDatabase } from '../../../adapters/stores/open-database.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'hookgate-'))
})
afterEach(() => rmSync(dir, { recursive: true }))

describe('openDatabase', () => {
  it.each([
    ['nothing', () => null, 'gateway.db'],
    ['a relative path', () => 'sqlite:sub/a.db', 'sub/a.db'],
    ['an absolute path', () => `sqlite:${join(dir, 'b.db')}`, 'b.db'],
    ['an absolute path with slashes', () => `sqlite://${join(dir, 'c.db')}`, 'c.db'],
    ['file: and a path', () => `file:${join(dir, 'd.db')}`, 'd.db'],
    ['a file URL', () => pathToFileURL(join(dir, 'e f.db')).href, 'e f.db'],
  ])('%s', async (_, url, file) => {
    const db = await openDatabase(url(), dir)
    await db.ping()
    await db.close()
    expect([db.kind, existsSync(join(dir, file))]).toEqual(['sqlite', true])
  })

  it('memory', async () => {
    const db = await openDatabase('sqlite::memory:', join(dir, 'never'))
    await db.close()
    expect(existsSync(join(dir, 'never'))).toBe(false)
  })

  it.each([
    'mysql://root:hunter2@db/x',
    'gateway.db',
    'sqlite:',
    'postgres://user:hunter2@[bad/x',
    'postgres://user:hunter2@127.0.0.1:1/x?pooler=session',
  ])('refuses %s, naming the variable and no password', async (url) => {
    const error = (await openDatabase(url, dir).catch((error: unknown) => error)) as Error
    expect(error.message).toContain('GATEWAY_DATABASE_URL')
    expect(`${error.stack} ${JSON.stringify(error)} ${String(error.cause)}`).not.toContain('hunter2')
  })

  it('says which package PostgreSQL needs', async () => {
    vi.doMock('pg', () => {
      throw new Error('Cannot find package')
    })
    await expect(openDatabase('postgres://user:hunter2@127.0.0.1/x', dir)).rejects.toThrow(/npm install pg/)
    vi.doUnmock('pg')
  })

  it('connects to PostgreSQL only when asked something', async () => {
    const db = await openDatabase('postgresql://user:hunter2@127.0.0.1:1/x', dir)
    expect(db.dialect).toBe('postgresql')
    const error = (await db.ping().catch((error: unknown) => error)) as Error & { code: string; status: number }
    expect([error.code, error.status]).toEqual(['storage_unavailable', 503])
    expect(error.message).not.toContain('hunter2')
    await db.close()
  })
})

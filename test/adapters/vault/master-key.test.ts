// The sources of the master key, and the reasons for which the gateway refuses it.
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sqliteDatabase } from '../../../adapters/stores/sqlite.ts'
import { loadMasterKey, type MasterKeyOptions } from '../../../adapters/vault/master-key.ts'
import { openVault } from '../../../adapters/vault/vault.ts'

const key = randomBytes(32)
let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'hookgate-'))
})
afterEach(() => {
  chmodSync(dir, 0o700)
  rmSync(dir, { recursive: true })
})

const load = (options: Partial<MasterKeyOptions>) =>
  loadMasterKey({ key: null, path: null, dataDir: dir, profile: 'local', ...options })

async function boot(options: Partial<MasterKeyOptions>): Promise<string> {
  const db = sqliteDatabase({ path: ':memory:' })
  try {
    return (await openVault({ masterKey: load(options), db })).mac('x', 'y')
  } finally {
    await db.close()
  }
}

const refusal = (options: Partial<MasterKeyOptions>): Promise<string> =>
  boot(options).then(
    () => 'started',
    (error: Error) => error.message,
  )

describe('a key in GATEWAY_MASTER_KEY', () => {
  it.each([
    ['hex', key.toString('hex')],
    ['hex, upper case', key.toString('hex').toUpperCase()],
    ['base64', key.toString('base64')],
    ['base64url', key.toString('base64url')],
    ['with white space around it', ` ${key.toString('base64')}\n`],
  ])('may be %s', async (_, text) => {
    expect(await load({ key: text }).read()).toEqual([key])
  })

  it.each([
    ['31 bytes', randomBytes(31).toString('base64')],
    ['33 bytes', randomBytes(33).toString('base64')],
    ['16 bytes in hex', randomBytes(16).toString('hex')],
    ['text', 'correct horse battery staple secret'],
    ['nothing', ''],
  ])('may not be %s', async (_, text) => {
    const message = await refusal({ key: text })
    expect(message).toBe(
      'GATEWAY_MASTER_KEY must hold exactly 32 bytes: raw, base64 or hex. Make them with: openssl rand -base64 32',
    )
  })

  it.each(['0'.repeat(64), 'ab'.repeat(32), `${'A'.repeat(43)}=`])('may not be the placeholder %s', async (text) => {
    expect(await refusal({ key: text })).toMatch(/^GATEWAY_MASTER_KEY holds a placeholder/)
  })

  it('may not be there beside a path', async () => {
    expect(await refusal({ key: key.toString('hex'), path: '/x' })).toMatch(
      /^GATEWAY_MASTER_KEY and GATEWAY_MASTER_KEY_PATH are both set/,
    )
  })
})

describe('a key in a file', () => {
  const file = (content: string | Uint8Array, mode = 0o600): string => {
    const path = join(dir, 'secret')
    writeFileSync(path, content)
    chmodSync(path, mode)
    return path
  }

  it.each([
    ['raw', key],
    ['hex', key.toString('hex')],
    ['base64 with a line end', `${key.toString('base64')}\n`],
  ])('may be %s', async (_, content) => {
    expect(await load({ path: file(content) }).read()).toEqual([key])
  })

  it.each([0o600, 0o400, 0o700])('may have mode %o', async (mode) => {
    expect(await load({ path: file(key, mode) }).read()).toEqual([key])
  })

  it.each([0o604, 0o602, 0o601, 0o640, 0o620, 0o610, 0o644, 0o660, 0o666, 0o777])('may not have mode %o', async (mode) => {
    const path = file(key, mode)
    expect(await refusal({ path })).toBe(
      `GATEWAY_MASTER_KEY_PATH: ${path} can be read or written by others (mode 0${mode.toString(8)}). Run: chmod 600 ${path}`,
    )
  })

  it.each([
    [0o700, 'started'],
    [0o755, 'started'],
    [0o1777, 'started'],
    [0o775, /^GATEWAY_MASTER_KEY_PATH: others can replace files in .* Run: chmod go-w /],
    [0o757, /^GATEWAY_MASTER_KEY_PATH: others can replace files in /],
  ])('in a directory of mode %o: %s', async (mode, expected) => {
    const path = file(key)
    chmodSync(dir, mode)
    expect(await refusal({ path })).toMatch(expected)
  })

  it.each([
    ['31 bytes', randomBytes(31)],
    ['a raw key and a line end', Buffer.concat([key, Buffer.from('\n')])],
    ['nothing', ''],
    ['zeros', Buffer.alloc(32)],
    ['a whole book', 'x'.repeat(5000)],
  ])('may not hold %s, and nothing of it is said', async (_, content) => {
    const path = file(content)
    const message = await refusal({ path })
    expect(message).toMatch(/^GATEWAY_MASTER_KEY_PATH: .*(must hold|holds a placeholder)/)
    // The message may contain the path, and the random end of its directory's name may contain anything.
    expect(message.replace(path, '')).not.toContain('xx')
  })

  it('may be a link to a file beside it, as mounted secrets are, and no other', async () => {
    mkdirSync(join(dir, 'mount', '..data'), { recursive: true })
    writeFileSync(join(dir, 'mount', '..data', 'key'), key, { mode: 0o400 })
    symlinkSync('..data/key', join(dir, 'mount', 'key'))
    expect(await load({ path: join(dir, 'mount', 'key') }).read()).toEqual([key])
    symlinkSync(file(key), join(dir, 'mount', 'elsewhere'))
    expect(await refusal({ path: join(dir, 'mount', 'elsewhere') })).toMatch(
      /^GATEWAY_MASTER_KEY_PATH: .* is a link out of its directory\. Name the file itself\.$/,
    )
  })

  it('must be there, must be a file, and is not made', async () => {
    expect(await refusal({ path: join(dir, 'none') })).toMatch(/^GATEWAY_MASTER_KEY_PATH: the master key .*none is missing/)
    mkdirSync(join(dir, 'folder'))
    expect(await refusal({ path: join(dir, 'folder') })).toMatch(/^GATEWAY_MASTER_KEY_PATH: .*folder is not a file/)
    expect(readdirSync(dir)).toEqual(['folder'])
  })
})

describe('master.key in the data directory', () => {
  it('is made on the first start, for the owner only, and read on the next', async () => {
    const dataDir = join(dir, 'new', 'data')
    const db = sqliteDatabase({ path: ':memory:' })
    const mac = (await openVault({ masterKey: load({ dataDir }), db })).mac('x', 'y')
    expect(statSync(join(dataDir, 'master.key')).mode & 0o777).toBe(0o600)
    expect(statSync(dataDir).mode & 0o777).toBe(0o700)
    expect(readdirSync(dataDir)).toEqual(['master.key'])
    expect((await openVault({ masterKey: load({ dataDir }), db })).mac('x', 'y')).toBe(mac)
    await db.close()
  })

  it('is one key, however many processes make it at once', async () => {
    const keys = await Promise.all(Array.from({ length: 25 }, () => load({}).create?.()))
    expect(new Set(keys.map((made) => Buffer.from(made as Uint8Array).toString('hex'))).size).toBe(1)
    expect(await load({}).read()).toEqual([keys[0]])
    expect(readdirSync(dir)).toEqual(['master.key'])
  })

  it('is not made anew beside a database that was sealed with a lost one', async () => {
    const db = sqliteDatabase({ path: ':memory:' })
    await openVault({ masterKey: load({}), db })
    rmSync(join(dir, 'master.key'))
    await expect(openVault({ masterKey: load({}), db })).rejects.toThrow(
      /^GATEWAY_DATA_DIR: the master key .*master\.key is missing\. Restore it/,
    )
    expect(readdirSync(dir)).toEqual([])
    await db.close()
  })

  it.each([0o750, 0o705, 0o755, 0o777, 0o1777])('is refused in a directory of mode %o, present or to be made', async (mode) => {
    chmodSync(dir, mode)
    const expected = `GATEWAY_DATA_DIR: the directory ${dir} of the master key is open to others (mode ${mode.toString(8).padStart(4, '0')}). Run: chmod 700 ${dir}`
    expect(await refusal({})).toBe(expected)
    expect(readdirSync(dir)).toEqual([])
    writeFileSync(join(dir, 'master.key'), key, { mode: 0o600 })
    expect(await refusal({})).toBe(expected)
  })

  it('is refused with looser permissions', async () => {
    writeFileSync(join(dir, 'master.key'), key)
    chmodSync(join(dir, 'master.key'), 0o644)
    expect(await refusal({})).toMatch(/^GATEWAY_DATA_DIR: .*master\.key can be read or written by others \(mode 0644\)/)
    expect(readFileSync(join(dir, 'master.key'))).toEqual(key)
  })
})

describe('without a key of its own', () => {
  it('the cloud profile does not start: replicas would each make one', async () => {
    expect(await refusal({ profile: 'cloud' })).toMatch(/^The cloud profile needs GATEWAY_MASTER_KEY or GATEWAY_MASTER_KEY_PATH/)
    expect(readdirSync(dir)).toEqual([])
    expect(await refusal({ profile: 'cloud', key: key.toString('hex') })).toBe('started')
  })

  it('a database that lasts does not start without a directory, one in memory does', async () => {
    expect(await refusal({ dataDir: null })).toMatch(/set GATEWAY_MASTER_KEY, GATEWAY_MASTER_KEY_PATH or GATEWAY_DATA_DIR/)
    expect(await refusal({ dataDir: null, ephemeral: true })).toBe('started')
  })
})

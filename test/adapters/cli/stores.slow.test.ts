// The command line's effects on the stores: migrations, the file's entries, the master key, a password.
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sqliteDatabase } from '../../../adapters/stores/sqlite.ts'
import { sql } from '../../../core/db/sql.ts'
import { passwordCheck } from '../../../plugins/sign-in/password.ts'
import { testPostgres, whyNoPostgres } from '../../support/postgres.ts'
import { built, type Finished, folder, hookgateRoot, start } from './hookgate.ts'
import { command } from './in-process.ts'

const noPostgres = await whyNoPostgres()

function place(files: Record<string, string> = {}, env: Record<string, string> = {}) {
  const cwd = folder(files)
  const dir = folder({})
  const cli = (...args: string[]): Promise<Finished> => command(args, { cwd, env: { GATEWAY_DATA_DIR: dir, ...env } })
  const data = async <T>(...args: string[]): Promise<T[]> =>
    (JSON.parse((await cli(...args, '--json')).stdout) as { data: T[] }).data
  return { dir, cli, data }
}

describe('hookgate db migrate', () => {
  it('prints what is missing and makes nothing, then applies it, then finds nothing', async () => {
    const { dir, cli, data } = place()
    const missing = await data<{ plugin: string; id: string }>('db', 'migrate', '--dry-run')
    expect(missing).toContainEqual({ plugin: 'keys', id: expect.stringMatching(/^001/) })
    expect(existsSync(join(dir, 'gateway.db'))).toBe(false)
    expect((await cli('db', 'migrate')).stdout).toMatch(/^applied +keys +001/m)
    expect(await data('db', 'migrate', '--dry-run')).toEqual([])
    expect(await cli('db', 'migrate')).toMatchObject({ code: 0, stdout: '', stderr: expect.stringMatching(/up to date/) })
  })

  it.skipIf(noPostgres)(`on PostgreSQL${noPostgres ? ` (${noPostgres})` : ''}`, async () => {
    const db = await testPostgres()
    const { cli, data } = place({}, { DATABASE_URL: db.url })
    expect((await data('db', 'migrate', '--dry-run')).length).toBeGreaterThan(2)
    expect((await cli('db', 'migrate')).code).toBe(0)
    expect(await data('db', 'migrate', '--dry-run')).toEqual([])
    expect((await cli('key', 'create')).stdout).toMatch(/^gw_/)
    expect(await data('key', 'list')).toHaveLength(1)
    await db.drop()
  })

  it('a wrong master key changes nothing', async () => {
    const { dir, cli } = place()
    await cli('db', 'migrate')
    const other = await command(['db', 'migrate'], {
      cwd: dir,
      env: { GATEWAY_DATA_DIR: dir, GATEWAY_MASTER_KEY: randomBytes(32).toString('base64') },
    })
    expect(other).toMatchObject({ code: 1, stderr: expect.stringMatching(/GATEWAY_MASTER_KEY is not the master key/) })
  })
})

describe('hookgate plan and apply', () => {
  const file = (connections: string) => ({
    'gateway.config.ts': `import { defineConfig } from 'hookgate'
      export default defineConfig({ connections: { ${connections} } })`,
  })

  it('show and make what the file declares, and nothing without being told', async () => {
    const { dir, cli, data } = place(file(`mine: { provider: 'echo', label: 'mine' }`))
    expect(await data('plan')).toMatchObject([{ section: 'connections', key: 'mine', action: 'create', id: null }])
    expect(await data('provider', 'list')).toEqual([])
    const changes = await cli('plan')
    expect(changes.code).toBe(3)
    expect(changes.stdout).toMatch(/^\+ create connections\.mine \(.*new\)\n {4}label: "mine"\n {4}provider: "echo"/)
    expect(readdirSync(dir), 'plans and lists create nothing').toEqual([])
    expect(await data('apply')).toMatchObject([{ key: 'mine', action: 'create' }])
    expect(await data('provider', 'list')).toMatchObject([{ label: 'mine', managed_by: 'config' }])
    expect(await cli('plan')).toMatchObject({ code: 0, stdout: '', stderr: expect.stringMatching(/says what the file says/) })
    expect(await cli('apply')).toMatchObject({ code: 0, stdout: '' })
  })

  it('a name that is taken is a conflict: plan ends with 3, apply refuses, and whoever makes it is warned', async () => {
    const { cli, data } = place(file(`mine: { provider: 'echo', label: 'mine' }`))
    const added = await cli('provider', 'add', 'echo', '--label', 'mine')
    expect(added).toMatchObject({ code: 0, stderr: expect.stringMatching(/declares connections\.mine under the same name/) })
    expect(await data('plan')).toMatchObject([{ action: 'conflict', id: Number(added.stdout) }])
    expect((await cli('plan')).code).toBe(3)
    expect(await cli('apply')).toMatchObject({ code: 1, stderr: expect.stringMatching(/connections\.mine/) })
  })
})

describe('commands that only read', () => {
  const READS = [
    'key list',
    'token list',
    'provider list',
    'budget list',
    'webhook list',
    'usage',
    'logs',
    'audit verify',
    'plan',
    'doctor',
  ]

  it.each(READS)('`%s` creates nothing where no gateway has run, and says so', async (words) => {
    const home = folder({})
    const dir = join(home, 'data')
    const { code, stderr } = await command(words.split(' '), { cwd: folder({}), env: { GATEWAY_DATA_DIR: dir } })
    expect(code).toBe(words === 'plan' ? 3 : 0)
    if (words !== 'doctor') expect(stderr).toMatch(/There is no data yet: `?hookgate serve`? creates .*gateway\.db/)
    expect(readdirSync(home)).toEqual([])
  })

  it.skipIf(noPostgres)(`\`key list\` creates no tables on PostgreSQL${noPostgres ? ` (${noPostgres})` : ''}`, async () => {
    const db = await testPostgres()
    const { cli, data } = place({}, { DATABASE_URL: db.url })
    const before = await data('db', 'migrate', '--dry-run')
    expect(await cli('key', 'list')).toMatchObject({ code: 0, stderr: expect.stringMatching(/no data yet/) })
    expect(await data('db', 'migrate', '--dry-run')).toEqual(before)
    await db.drop()
  })

  it('refuse a database of an older version', async () => {
    const { dir, cli } = place()
    await cli('db', 'migrate')
    const db = sqliteDatabase({ path: join(dir, 'gateway.db') })
    await db.run(sql`DELETE FROM gateway_migrations WHERE plugin = 'webhooks'`)
    await db.close()
    expect(await cli('key', 'list')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/lacks \d+ migrations.*hookgate db migrate/s),
    })
  })
})

describe('hookgate master-key rotate', () => {
  it('replaces the key file; what was sealed still opens', async () => {
    const { dir, cli, data } = place()
    await cli('provider', 'add', 'openai', '--api-key', 'sk-to-be-kept-1234')
    const before = readFileSync(join(dir, 'master.key'), 'utf8')
    const { code, stderr } = await cli('master-key', 'rotate')
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(/keys are sealed under the master key [0-9a-f]+ now.*Backups from before/s),
    ])
    expect(readFileSync(join(dir, 'master.key'), 'utf8')).not.toBe(before)
    expect(await data('provider', 'list')).toMatchObject([{ api_key_hint: '…1234', state: { status: 'active' } }])
    expect(await cli('master-key', 'rotate', '--to', '-')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/--to is for a key/),
    })
  })

  it('with the key in a variable takes the new one, and the former one opens nothing any more', async () => {
    const [from, to] = [randomBytes(32).toString('base64'), randomBytes(32).toString('hex')]
    const { dir, cli } = place({}, { GATEWAY_MASTER_KEY: from, NEW_KEY: to })
    const under = (key: string) =>
      command(['key', 'list', '--json'], { cwd: dir, env: { GATEWAY_DATA_DIR: dir, GATEWAY_MASTER_KEY: key } })
    expect(await cli('master-key', 'rotate', '--to', 'env:NEW_KEY')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/no database yet/),
    })
    await cli('key', 'create')
    expect(await cli('master-key', 'rotate')).toMatchObject({ code: 2, stderr: expect.stringMatching(/--to is missing/) })
    const rotated = await cli('master-key', 'rotate', '--to', 'env:NEW_KEY')
    expect(rotated).toMatchObject({ code: 0, stderr: expect.stringMatching(/GATEWAY_MASTER_KEY of every replica, and restart/) })
    expect(rotated.stdout + rotated.stderr).not.toContain(to)
    expect((await under(to)).code).toBe(0)
    expect(await under(from)).toMatchObject({ code: 1, stderr: expect.stringMatching(/is not the master key/) })
  })

  it('says in its help what it means for backups and replicas', async () => {
    const { stdout } = await command(['master-key', 'rotate', '--help'])
    expect(stdout).toMatch(/every replica must be restarted/)
    expect(stdout).toMatch(/Backups from before can only be opened with the former key/)
    expect(stdout).toMatch(/USAGE hookgate master-key rotate/)
  })
})

describe('hookgate password hash', () => {
  async function fed(text: string, ...args: string[]): Promise<Finished> {
    await built()
    const child = start([join(hookgateRoot, 'dist/adapters/cli/main.js'), 'password', 'hash', ...args])
    const [out, err]: [string[], string[]] = [[], []]
    child.stdout?.on('data', (chunk) => out.push(String(chunk)))
    child.stderr?.on('data', (chunk) => err.push(String(chunk)))
    child.stdin?.end(text)
    const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
    return { code, stdout: out.join(''), stderr: err.join('') }
  }

  it('reads a line from standard input, and prints what the sign-in takes', async () => {
    const { code, stdout, stderr } = await fed('correct horse\n')
    expect([code, stderr]).toEqual([0, expect.stringMatching(/single quotes/)])
    const check = await passwordCheck(stdout.trim())
    expect([await check('correct horse'), await check('correct horse\n')]).toEqual([true, false])
    expect(JSON.parse((await fed('x', '--json')).stdout)).toEqual({ hash: expect.stringMatching(/^\$argon2id\$/) })
  })

  it('asks twice on a terminal, and shows neither answer', async (context) => {
    const session = await terminal(`${process.execPath} ${hookgateRoot}/dist/adapters/cli/main.js password hash`, [
      'secret words\r',
      'secret words\r',
    ])
    if (session === null) return context.skip('no `script` on this machine')
    expect(session).toMatch(/Password: [\s\S]*Again: [\s\S]*\$argon2id\$/)
    expect(session).not.toContain('secret words')
  })
})

/** Runs a command on a pseudo-terminal, which `script` of util-linux creates; null without it. */
async function terminal(command: string, answers: string[]): Promise<string | null> {
  await built()
  return new Promise((resolve) => {
    let shown = ''
    const child = execFile('script', ['-qec', command, '/dev/null'], { env: { ...process.env, NO_COLOR: '1' } })
    child.on('error', () => resolve(null))
    child.stdout?.on('data', (chunk) => {
      shown += chunk
      if (/(?:Password|Again):\s*$/.test(shown)) child.stdin?.write(answers.shift() ?? '')
    })
    child.on('close', () => resolve(shown))
  })
}

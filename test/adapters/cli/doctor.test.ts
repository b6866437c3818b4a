// hookgate doctor: each thing that can be wrong is found, with what to do; nothing is made by looking.
import { randomBytes } from 'node:crypto'
import { chmodSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkNode } from '../../../adapters/cli/doctor/variables.ts'
import { testPostgres, whyNoPostgres } from '../../support/postgres.ts'
import { folder } from './hookgate.ts'
import { command } from './in-process.ts'

const noPostgres = await whyNoPostgres()

interface Finding {
  check: string
  status: 'ok' | 'warn' | 'fail'
  message: string
  fix?: string
}

async function doctor(env: Record<string, string> = {}, files: Record<string, string> = {}, dir = folder({})) {
  const { code, stdout, stderr } = await command(['doctor', '--json'], {
    cwd: folder(files),
    env: { GATEWAY_DATA_DIR: dir, ...env },
  })
  expect(stderr).toBe('')
  const findings = (JSON.parse(stdout) as { data: Finding[] }).data
  const of = (check: string) => findings.filter((finding) => finding.check === check)
  for (const { status, fix } of findings) expect(fix === undefined).toBe(status === 'ok')
  expect(code).toBe(findings.some(({ status }) => status === 'fail') ? 1 : 0)
  return { findings, of, dir }
}

const config = (text: string) => ({
  'gateway.config.ts': `import { defineConfig } from 'hookgate'\nexport default defineConfig(${text})`,
})
const finding = (status: string, message: RegExp) => expect.objectContaining({ status, message: expect.stringMatching(message) })

describe('hookgate doctor', () => {
  it('finds nothing wrong with a new machine, and makes nothing', async () => {
    const { findings, dir } = await doctor()
    expect(findings.filter(({ status }) => status !== 'ok')).toEqual([])
    expect(readdirSync(dir)).toEqual([])
  })

  it('looks into a database that is there: connections, keys, the file, settings', async () => {
    const dir = folder({})
    const env = { GATEWAY_DATA_DIR: dir }
    await command(['provider', 'add', 'echo', '--label', 'other'], { cwd: folder({}), env })
    const { of } = await doctor({ GATEWAY_REQUIRE_API_KEY: 'true' }, {}, dir)
    expect(of('database')).toEqual([finding('ok', /reachable and up to date/)])
    expect(of('master key')).toEqual([finding('ok', /opens the database, and is closed to others/)])
    expect(of('connections')).toEqual([finding('ok', /1 of 1/)])
    expect(of('keys')).toEqual([finding('warn', /required, and there is none/)])
    expect(of('plan')).toEqual([finding('warn', /1 entries of the file are not in the database/)])
    expect(of('settings')).toHaveLength(1)
  })

  it('prints a line each, and what to do below', async () => {
    const { code, stdout } = await command(['doctor'], { cwd: folder({}), env: { GATEWAY_HOST: '0.0.0.0' } })
    expect(code).toBe(0)
    expect(stdout).toMatch(/^ok {4}node +Node \d+/m)
    expect(stdout).toMatch(/^warn {2}network +Listens on 0\.0\.0\.0.*\n +→ Set GATEWAY_REQUIRE_API_KEY=true/m)
  })

  it.each([
    [
      'a variable with a slip',
      { GATEWAY_REQIRE_API_KEY: 'true' },
      'variables',
      finding('warn', /GATEWAY_REQIRE_API_KEY is set, and nobody/),
    ],
    [
      'a value that is ignored',
      { GATEWAY_CAVEMAN_LEVEL: 'loud' },
      'variables',
      finding('warn', /GATEWAY_CAVEMAN_LEVEL.*ignored/),
    ],
    ['a value that is wrong', { GATEWAY_PORT: 'x' }, 'configuration', finding('fail', /GATEWAY_PORT/)],
    ['an open door', { GATEWAY_HOST: '0.0.0.0' }, 'sign-in', finding('warn', /No password is set/)],
    ['a cloud without a password', { GATEWAY_PROFILE: 'cloud' }, 'sign-in', finding('fail', /No password/)],
    ['a cloud without a master key', { GATEWAY_PROFILE: 'cloud' }, 'master key', finding('fail', /needs GATEWAY_MASTER_KEY/)],
    [
      'a key file that is not there',
      { GATEWAY_MASTER_KEY_PATH: '/nowhere/key' },
      'master key',
      finding('fail', /\/nowhere\/key is missing/),
    ],
    [
      'a database that does not answer',
      { DATABASE_URL: 'postgres://u:hidden@127.0.0.1:1/x' },
      'database',
      finding('fail', /^postgres: /),
    ],
    [
      'a shared store that does not answer',
      { REDIS_URL: 'redis://127.0.0.1:1' },
      'shared store',
      finding('fail', /does not answer/),
    ],
  ])('%s', async (_what, env, check, expected) => {
    const { of, findings } = await doctor(env as unknown as Record<string, string>)
    expect(of(check)).toContainEqual(expected)
    expect(JSON.stringify(findings)).not.toContain('hidden')
  })

  it('a slip in a name: the variable that was meant', async () => {
    const { of } = await doctor({ GATEWAY_REQIRE_API_KEY: 'true' })
    expect(of('variables')[0]?.fix).toBe('Did you mean GATEWAY_REQUIRE_API_KEY?')
  })

  it('what the environment hides of the file', async () => {
    const { of } = await doctor({ GATEWAY_PORT: '9000' }, config('{ options: { port: 9001 } }'))
    expect(of('variables')).toContainEqual(
      finding(
        'warn',
        /GATEWAY_PORT comes from the environment, so port of the file/.source ? /GATEWAY_PORT comes from the environment/ : /x/,
      ),
    )
  })

  it('a configuration that does not load, with its words', async () => {
    const { of } = await doctor({}, config('{ connections: { x: { provider: 7 } } }'))
    expect(of('configuration')).toEqual([finding('fail', /connections\.x\.provider/)])
  })

  it('a master key that others can read, one that does not fit, and a rotation that was interrupted', async () => {
    const dir = folder({})
    const env = { GATEWAY_DATA_DIR: dir }
    await command(['key', 'create'], { cwd: dir, env })
    expect((await doctor({ GATEWAY_MASTER_KEY: randomBytes(32).toString('hex') }, {}, dir)).of('master key')).toEqual([
      finding('fail', /is not the master key this database was sealed with/),
    ])
    writeFileSync(join(dir, 'master.key.next'), randomBytes(32).toString('hex'), { mode: 0o600 })
    expect((await doctor({}, {}, dir)).of('master key')).toEqual([finding('warn', /A rotation was interrupted/)])
    chmodSync(join(dir, 'master.key'), 0o644)
    expect((await doctor({}, {}, dir)).of('master key')).toEqual([finding('fail', /can be read or written by others/)])
  })

  it('a connection without the key it needs', async () => {
    const dir = folder({})
    const file = (key: string) => config(`{ connections: { openai: { provider: 'openai'${key} } } }`)
    await command(['apply'], { cwd: folder(file(`, apiKey: 'sk-given'`)), env: { GATEWAY_DATA_DIR: dir } })
    const { of } = await doctor({}, file(', enabled: true'), dir)
    expect([...of('connections'), ...of('gateway')]).toContainEqual(finding('fail', /openai/))
  })

  it.skipIf(noPostgres)(`several replicas without a shared store${noPostgres ? ` (${noPostgres})` : ''}`, async () => {
    const db = await testPostgres()
    const { of } = await doctor({ DATABASE_URL: db.url })
    expect(of('shared store')).toEqual([finding('warn', /each replica counts/)])
    expect(of('database')).toEqual([finding('warn', /lacks \d+ migrations/)])
    await db.drop()
  })

  it('a Node that is too old', () => {
    expect(checkNode('18.20.0')).toMatchObject({ status: 'fail', fix: expect.stringMatching(/20\.19/) })
    expect(checkNode('20.18.9').status).toBe('fail')
    expect(checkNode('22.0.0').status).toBe('ok')
  })
})

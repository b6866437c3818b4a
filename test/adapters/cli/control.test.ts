// Keys, tokens and connections from the command line: it writes to the database directly, and a running server follows.
import { describe, expect, it } from 'vitest'
import { bearer } from '../../plugins/keys/support.ts'
import { eventually } from '../node/support.ts'
import { besideServer } from './beside.ts'
import { folder, hookgate } from './hookgate.ts'
import { command } from './in-process.ts'

const UPSTREAM_KEY = 'sk-from-a-variable-1234'
const beside = besideServer({ GATEWAY_REQUIRE_API_KEY: 'true', UPSTREAM_KEY })
const { cwd, env, cli, json, called } = beside

interface Key {
  id: number
  key: string
  [member: string]: unknown
}

describe('hookgate key', () => {
  it('makes a key that a running server takes; alone on stdout, once', async () => {
    const { code, stdout, stderr } = await hookgate(['key', 'create', '--label', 'laptop'], { cwd, env })
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/Key \d+ \(laptop\) is made/) })
    const key = stdout.trim()
    expect(stdout).toMatch(/^gw_[A-Za-z0-9]{47}\n$/)
    expect(await called('gw_unknown')).toBe(401)
    await eventually(async () => (await called(key)) === 200)
    const listed = await cli('key', 'list')
    expect(listed.stdout).toMatch(/^ID +LABEL +SECRET +MODELS +RPM +TPM +COST CENTER +EXPIRES +FROM$/m)
    expect(listed.stdout).toMatch(new RegExp(`laptop +…${key.slice(-4)} +all +- +- +- +- +api`))
    expect(listed.stdout).not.toContain(key)
  })

  it('says what the API says: every flag in its field, and the API’s own JSON', async () => {
    const flags = '--models gpt-4o*,claude-* --rpm 60 --tpm 90000 --cost-center team-a --expires 30d --label ci'.split(' ')
    const made = await json<Key>('key', 'create', ...flags)
    expect(made).toMatchObject({
      label: 'ci',
      allowed_models: ['gpt-4o*', 'claude-*'],
      rate_limit_rpm: 60,
      rate_limit_tpm: 90_000,
      cost_center: 'team-a',
    })
    const days = (Date.parse(made.expires_at as string) - Date.now()) / 86_400_000
    expect(days).toBeGreaterThan(29.9)
    expect(days).toBeLessThan(30.1)
    const { data: keys } = await json<{ data: Key[] }>('key', 'list')
    const { key: _secret, ...shown } = made
    expect(keys.find(({ id }) => id === made.id)).toEqual(shown)
  })

  it('names the flag that the API refuses, and ends with 2; what is not there ends with 1', async () => {
    expect(await cli('key', 'create', '--rpm', '0')).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/--rpm: must be at least 1/),
    })
    expect(await cli('key', 'revoke', '999')).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/There is no client key 999/),
    })
  })

  it('rotates and revokes: a running server hears of it', async () => {
    const made = await json<Key>('key', 'create')
    await eventually(async () => (await called(made.key)) === 200)
    const rotated = await json<Key>('key', 'rotate', String(made.id))
    await eventually(async () => (await called(rotated.key)) === 200)
    expect(await called(made.key)).toBe(401)
    const { code, stdout, stderr } = await cli('key', 'revoke', String(made.id))
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '', stderr: expect.stringContaining('is revoked') })
    await eventually(async () => (await called(rotated.key)) === 401)
  })
})

describe('hookgate token', () => {
  const asked = (token: string, method = 'GET') =>
    fetch(`${beside.url}/api/keys`, {
      method,
      headers: { ...bearer(token), 'content-type': 'application/json' },
      ...(method === 'GET' ? {} : { body: '{}' }),
    }).then(({ status }) => status)

  it('makes, lists and revokes tokens that a running server takes', async () => {
    const { stdout } = await cli('token', 'create', '--scope', 'read', '--expires', '2090-01-31')
    const token = stdout.trim()
    expect(token).toMatch(/^gmt_\w{43}$/)
    await eventually(async () => (await asked(token)) === 200)
    expect(await asked(token, 'POST')).toBe(403)
    const { data: tokens } = await json<{ data: { id: number; created_by: string; expires_at: string }[] }>('token', 'list')
    expect(tokens).toMatchObject([{ created_by: 'cli', scope: 'read', expires_at: '2090-01-31T00:00:00.000Z' }])
    expect((await cli('token', 'create', '--scope', 'all')).stderr).toMatch(/--scope/)
    expect((await cli('token', 'revoke', String(tokens[0]?.id))).code).toBe(0)
    await eventually(async () => (await asked(token)) === 401)
    expect((await cli('token', 'list')).stdout).not.toContain('read')
  })
})

describe('hookgate provider', () => {
  it('connects a provider that a running server then reaches, with the key from a variable', async () => {
    const { stdout: key } = await cli('key', 'create')
    const flags = ['--base-url', `${beside.url}/v1`, '--wire-format', 'chat', '--api-key', 'env:UPSTREAM_KEY']
    const { code, stdout, stderr } = await cli('provider', 'add', 'self', ...flags, '--models', 'm*')
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/Connection \d+ \(self\) is made/) })
    await eventually(async () => (await called(key.trim(), 'self/m1')) !== 400)
    const listed = await cli('provider', 'list')
    expect(listed.stdout).toMatch(new RegExp(`^${stdout.trim()} +self +self +…1234 +active +m\\* +\\d+ +api$`, 'm'))
    expect(listed.stdout + stderr).not.toContain(UPSTREAM_KEY)
    const { code: tested, stdout: verdict } = await cli('provider', 'test', stdout.trim(), '--model', 'm1')
    expect([tested, verdict]).toEqual([1, expect.stringMatching(/^credentials +m1 +\d+ ms$/m)])
    expect((await cli('provider', 'rm', stdout.trim())).code).toBe(0)
    await eventually(async () => (await called(key.trim(), 'self/m1')) === 400)
  })

  it('names the flag that is wrong', async () => {
    for (const [flags, message] of [
      [['openai'], /--api-key: openai needs a key/],
      [['acme'], /--base-url: acme is not in the registry/],
      [['acme', '--base-url', 'ftp://x', '--wire-format', 'chat'], /--base-url/],
    ] as const) {
      const { code, stderr } = await cli('provider', 'add', ...flags)
      expect([code, stderr]).toEqual([2, expect.stringMatching(message)])
    }
  })

  it('a test that succeeds ends with 0', async () => {
    const { data: connections } = await json<{ data: { id: number; provider: string }[] }>('provider', 'list')
    const echo = connections.find(({ provider }) => provider === 'echo')
    expect(await json('provider', 'test', String(echo?.id))).toMatchObject({ ok: true, error: null })
  })
})

it('a new master key does not disturb the server that runs', async () => {
  const connection = { provider: 'echo', label: 'sealed', api_key: 'sk-sealed-after-1234' }
  const add = (label: string) =>
    fetch(`${beside.url}/api/providers`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...connection, label }),
    }).then(({ status }) => status)
  expect(await add('before')).toBe(201)
  expect((await cli('master-key', 'rotate')).code).toBe(0)
  expect(await add('after')).toBe(201)
  const { data: connections } = await json<{ data: object[] }>('provider', 'list')
  for (const label of ['before', 'after'])
    expect(connections).toContainEqual(
      expect.objectContaining({ label, api_key_hint: '…1234', state: expect.objectContaining({ status: 'active' }) }),
    )
})

it.each([
  [['key'], /key needs a subcommand\. There are create, list, revoke, rotate/],
  [['key', 'crate'], /There is no command key crate\. Did you mean key create\?/],
  [['key', 'list', 'all'], /all is one word too many/],
  [['key', 'create', '--label'], /--label needs a value/],
  [['key', 'create', '--rpm', 'many'], /--rpm: many is not a whole number/],
  [['key', 'create', '--expires', 'soon'], /--expires: soon is not a time\. Say 15m, 2h, 30d/],
  [['key', 'revoke'], /<id> is missing/],
  [['key', 'revoke', 'laptop'], /<id>: laptop is not the number/],
  [['provider', 'add', 'openai', '--api-key', 'env:NOT_SET'], /--api-key: the variable NOT_SET is not set/],
])('%j is a wrong command line', async (args, message) => {
  expect(await cli(...args)).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(message) })
})

it('what the command line did is in the audit chain, and the chain is whole', async () => {
  expect(await json('audit', 'verify')).toMatchObject({ ok: true })
  expect((await cli('audit', 'verify')).stderr).toMatch(/Entries 1 to \d+ are whole/)
})

it('a plugin that is left out is named as missing, and a database in memory is no place for a key', async () => {
  const without = folder({
    'gateway.config.ts': `import { defineConfig } from 'hookgate'
      export default defineConfig({ plugins: [] })`,
  })
  expect(await command(['key', 'list'], { cwd: without, env: { GATEWAY_DATA_DIR: without } })).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/no plugin that answers GET \/api\/keys/),
  })
  expect(await command(['key', 'create'], { cwd, env: { ...env, GATEWAY_DATABASE_URL: 'sqlite::memory:' } })).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/in memory/),
  })
})

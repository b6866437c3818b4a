// hookgate doctor: it finds each possible fault with its fix, and creates nothing.
import { randomBytes } from 'node:crypto'
import { chmodSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkNode } from '../../../adapters/cli/doctor/variables.ts'
import { openDatabase } from '../../../adapters/stores/open-database.ts'
import { sqliteDatabase } from '../../../adapters/stores/sqlite.ts'
import { sql } from '../../../core/db/sql.ts'
import { testPostgres, whyNoPostgres } from '../../support/postgres.ts'
import { config, doctor, finding } from './doctor-findings.ts'
import { folder } from './hookgate.ts'
import { command } from './in-process.ts'

const noPostgres = await whyNoPostgres()

const FACTS = JSON.stringify([
  ...[null, null, null, null, null, null, 'api', 'chat'],
  ...['echo', 'echo-1', 'echo/echo-1', null, false, 40],
])
/** The password of this hash is unknown. */
const HASH = '$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHQ$RdescudvJCsgt3ub+b3dWRWJTmaQKTTlnGx0bYVpuPo'

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
    expect(stdout).toMatch(/^✓ {2}node +Node \d+/m)
    expect(stdout).toMatch(/^⚠ {2}network +Listens on 0\.0\.0\.0.*\n +→ Set GATEWAY_REQUIRE_API_KEY=true/m)
  })

  it('refuses a file that `serve` refuses, also before the first start', async () => {
    const file = (text: string) => config(`{ connections: { echo: { provider: 'echo' } }, ${text} }`)
    for (const [text, message] of [
      ['plugins: []', /connections: no plugin of this configuration takes this section/],
      ['virtualModels: { a: { targets: 3 } }', /virtualModels\.a\.targets/],
    ] as const) {
      const dir = folder({})
      const { findings } = await doctor({}, file(text), dir)
      expect(findings).toContainEqual(finding('fail', message))
      expect(readdirSync(dir)).toEqual([])
    }
  })

  it.each([
    [
      'a variable with a slip',
      { GATEWAY_REQIRE_API_KEY: 'true' },
      'variables',
      finding('warn', /GATEWAY_REQIRE_API_KEY is set, but the gateway/),
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

  describe('money and records', () => {
    /** Creates a data directory with tables, and changes them. */
    async function prepared(env: Record<string, string>, change: (db: ReturnType<typeof sqliteDatabase>) => Promise<unknown>) {
      const dir = folder({})
      await command(['key', 'create', '--label', 'ci'], { cwd: folder({}), env: { GATEWAY_DATA_DIR: dir, ...env } })
      const db = sqliteDatabase({ path: join(dir, 'gateway.db') })
      await change(db)
      await db.close()
      return dir
    }
    const nothing = async () => {}

    it('prices that were never fetched, in vain, long ago, just now; and that nobody wants fetched', async () => {
      const dir = await prepared({}, nothing)
      const prices = async (env: Record<string, string> = {}) => (await doctor(env, {}, dir)).of('prices')
      const change = async (statement: ReturnType<typeof sql>) => {
        const db = sqliteDatabase({ path: join(dir, 'gateway.db') })
        await db.run(statement)
        await db.close()
      }
      expect(await prices()).toEqual([finding('warn', /never fetched/)])
      expect(await prices({ GATEWAY_PRICING_SYNC_ENABLED: 'false' })).toEqual([
        finding('ok', /not fetched here; those compiled in/),
      ])
      await change(
        sql`INSERT INTO pricing_runs (reason, status, started_at, finished_at, lease_until) VALUES ('start', 'failed', 1, 2, 0)`,
      )
      expect(await prices()).toEqual([finding('warn', /could never be fetched/)])
      const confirmed = (hours: number) => Date.now() - hours * 3_600_000
      await change(
        sql`INSERT INTO pricing_sources (source, run_id, url, fetched_at, confirmed_at) VALUES ('primary', 1, 'u', 1, ${confirmed(25)})`,
      )
      expect(await prices()).toEqual([finding('warn', /They are 25 hours old/)])
      await change(sql`UPDATE pricing_sources SET confirmed_at = ${confirmed(7)}`)
      expect(await prices()).toEqual([finding('ok', /They were fetched at 20/)])
    })

    it('a budget of the file for a key that nobody has', async () => {
      const file = config(`{ budgets: { team: { scope: 'key', entity: 'nobody', window: 'monthly', hardLimitUsd: 5 } } }`)
      const dir = await prepared({}, nothing)
      await command(['apply'], { cwd: folder(file), env: { GATEWAY_DATA_DIR: dir } })
      expect((await doctor({}, file, dir, /no client key nobody/)).of('budgets')).toEqual([
        finding('warn', /Budget 1: There is no client key `nobody`/),
      ])
    })

    it('webhook endpoints that fail, and that were disabled for it', async () => {
      const dir = folder({})
      const env = { GATEWAY_DATA_DIR: dir }
      for (const name of ['a', 'b', 'c'])
        await command(['webhook', 'create', `https://${name}.example.com/in`], { cwd: dir, env })
      expect((await doctor({}, {}, dir)).of('webhooks')).toEqual([finding('ok', /3 of 3 endpoints/)])
      const db = sqliteDatabase({ path: join(dir, 'gateway.db') })
      await db.run(sql`UPDATE webhooks_endpoints SET failing_since = ${Date.now()} WHERE id < 3`)
      await db.run(sql`UPDATE webhooks_endpoints SET enabled = 0 WHERE id = 2`)
      await db.close()
      expect((await doctor({}, {}, dir)).of('webhooks')).toEqual([
        finding('warn', /\(a\.example\.com\) has failed since 20/),
        finding('warn', /\(b\.example\.com\) is disabled/),
      ])
    })

    it('requests that a process left open, before they are settled', async () => {
      const dir = await prepared({}, (db) =>
        db.run(
          sql`INSERT INTO ledger_dispatch (request_id, boot_id, at, facts) VALUES ('req_1', 'gone', ${Date.now() - 100_000}, ${FACTS})`,
        ),
      )
      expect((await doctor({}, {}, dir, /Settled 1 requests/)).of('books')).toEqual([
        finding('warn', /^1 requests were under way/),
      ])
      // A doctor run loads a gateway, which settles them.
      expect((await doctor({}, {}, dir)).of('books')).toEqual([finding('ok', /No request waits/)])
    })

    it('the same for requests that share a stored trace, without those that ended', async () => {
      const requests = JSON.stringify(['req_1', 'req_2', 'req_3'].map((id) => [id, 1, JSON.parse(FACTS)]))
      const dir = await prepared({}, (db) =>
        db.run(
          sql`INSERT INTO ledger_traces (boot_id, seq, at, requests, ended)
              VALUES ('gone', 0, ${Date.now() - 100_000}, ${requests}, 'req_2 ')`,
        ),
      )
      expect((await doctor({}, {}, dir, /Settled 2 requests/)).of('books')).toEqual([
        finding('warn', /^2 requests were under way/),
      ])
      expect((await doctor({}, {}, dir)).of('books')).toEqual([finding('ok', /No request waits/)])
    })

    it.skipIf(noPostgres)(`the same on PostgreSQL${noPostgres ? ` (${noPostgres})` : ''}`, async () => {
      const site = await testPostgres()
      const env = { DATABASE_URL: site.url }
      const dir = folder({})
      await command(['key', 'create'], { cwd: dir, env: { GATEWAY_DATA_DIR: dir, ...env } })
      expect((await doctor(env, {}, dir)).of('books')).toEqual([finding('ok', /No request waits/)])
      const db = await openDatabase(site.url, dir)
      await db.run(
        sql`INSERT INTO ledger_dispatch (request_id, boot_id, at, facts) VALUES ('req_1', 'gone', ${Date.now() - 100_000}, ${FACTS})`,
      )
      await db.close()
      expect((await doctor(env, {}, dir, /Settled 1 requests/)).of('books')).toEqual([
        finding('warn', /^1 requests were under way/),
      ])
      await site.drop()
    })

    it('writes that wait for the database, and such as cannot be read', async () => {
      const dir = await prepared({}, nothing)
      writeFileSync(join(dir, 'spool/000000000001.damaged'), 'not JSON')
      writeFileSync(join(dir, 'spool/000000000002.jsonl'), '[]\n')
      expect((await doctor({}, {}, dir)).of('spool')).toEqual([
        finding('warn', /holds 1 files of settlements/),
        finding('warn', /holds 1 damaged files/),
      ])
    })

    it('bodies that are kept: in the cloud, of everybody', async () => {
      const key = { GATEWAY_MASTER_KEY: randomBytes(32).toString('base64') }
      const dir = await prepared(key, nothing)
      const cloud = { ...key, GATEWAY_PROFILE: 'cloud', GATEWAY_DASHBOARD_PASSWORD_HASH: HASH, GATEWAY_LOG_BODIES: 'true' }
      expect((await doctor(cloud, {}, dir)).of('request log')).toEqual([
        finding('warn', /Bodies of requests and answers are kept/),
      ])
      expect((await doctor({ ...key, GATEWAY_LOG_BODIES: 'true' }, {}, dir)).of('request log')).toEqual([finding('ok', /sealed/)])
      expect((await doctor(key, {}, dir)).of('request log')).toEqual([finding('ok', /not kept/)])
    })
  })

  it('a Node that is too old', () => {
    expect(checkNode('18.20.0')).toMatchObject({ status: 'fail', fix: expect.stringMatching(/20\.19/) })
    expect(checkNode('20.18.9').status).toBe('fail')
    expect(checkNode('22.0.0').status).toBe('ok')
  })
})

// A process that delivers a letter is killed with -9. Another replica takes the letter over when the lease ends: a letter that never reached
// the API is sent once, and one that did is sent again under the same idempotency key.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { type Serving, serving } from '../../adapters/cli/hookgate.ts'
import { type TestPostgres, testPostgres, whyNoPostgres } from '../../support/postgres.ts'
import { REDIS_URL, redisEnv, whyNoRedis } from '../../support/redis.ts'
import { openTenants } from '../organizations/support.ts'
import { MAIL_ENV, type MailApi, mailApi } from './support.ts'

const missing = (await whyNoPostgres()) ?? (await whyNoRedis())

describe.skipIf(missing !== null)('a letter whose process is killed', () => {
  let server: TestPostgres
  let api: MailApi
  let cwd: string
  let env: Record<string, string>
  beforeEach(async () => {
    server = await testPostgres()
    api = await mailApi()
    cwd = mkdtempSync(join(tmpdir(), 'hookgate-letter-'))
    writeFileSync(
      join(cwd, 'gateway.config.mjs'),
      `export default { settings: { email: { api_url: ${JSON.stringify(api.url)} } } }\n`,
    )
    env = {
      ...MAIL_ENV,
      MULTI_TENANT: 'true',
      DATABASE_URL: server.url,
      REDIS_URL,
      ENV: redisEnv(),
      MASTER_KEY: randomBytes(32).toString('base64'),
    }
  })
  afterEach(async () => {
    await api.close()
    await server.drop()
    rmSync(cwd, { recursive: true, force: true })
  })

  /** Signs somebody up at a process of its own, which delivers the letter and is killed when `when` says so. */
  async function killedWhileSending(when: Promise<void>): Promise<void> {
    const prefixed = Object.entries(env).map(([name, value]) => [`GATEWAY_${name}`, value])
    const config = join(cwd, 'gateway.config.mjs')
    const hosted = {
      ...Object.fromEntries(prefixed),
      GATEWAY_CONFIG: config,
      GATEWAY_DATA_DIR: cwd,
      GATEWAY_PRICING_SYNC_ENABLED: 'false',
    }
    const a: Serving = await serving([], { cwd, env: hosted })
    const body = { email: 'ann@example.org', password: 'correct horse battery staple' }
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${a.url}/api/auth/signup`, { method: 'POST', headers, body: JSON.stringify(body) })
    expect(answer.status).toBe(201)
    await when
    const gone = new Promise((resolve) => a.child.once('exit', resolve))
    a.child.kill('SIGKILL')
    await gone
  }

  /** Another replica: it leaves the letter alone while the lease holds. */
  async function takenOver(): Promise<void> {
    const before = api.received.length
    const clock = fakeClock(Date.now())
    const config = { settings: { email: { api_url: api.url } } }
    const b = await openTenants({ env, config, ports: { clock } })
    await clock.advance('30s')
    expect(api.received).toHaveLength(before)
    for (let minute = 0; minute < 3; minute++) await clock.advance('1m')
    await expect.poll(() => api.received.length, { timeout: 20_000 }).toBe(before + 1)
    for (let minute = 0; minute < 5; minute++) await clock.advance('1m')
    expect(api.received).toHaveLength(before + 1)
    await b.close()
  }

  it('before the API took it, is sent once', { timeout: 120_000 }, async () => {
    const { answer } = api
    let reached = () => {}
    const connected = new Promise<void>((resolve) => {
      reached = resolve
    })
    // The API notes nothing: the connection ends with the process.
    api.answer = () => {
      api.received.pop()
      reached()
    }
    await killedWhileSending(connected)
    api.answer = answer
    await takenOver()
    expect(api.received.map(({ body }) => body.to)).toEqual([['ann@example.org']])
  })

  it('after the API took it, is sent again under the same idempotency key', { timeout: 120_000 }, async () => {
    const { answer } = api
    let reached = () => {}
    const taken = new Promise<void>((resolve) => {
      reached = resolve
    })
    api.answer = () => reached()
    await killedWhileSending(taken)
    api.answer = answer
    await takenOver()
    expect(api.received).toHaveLength(2)
    expect(new Set(api.received.map(({ headers }) => headers['idempotency-key'])).size).toBe(1)
  })
})

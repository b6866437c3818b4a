// The file and the API together: ownership, the file's refusals, and secrets that never reach the disk.
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createGateway as createNodeGateway } from '../../../adapters/node/gateway.ts'
import type { TestGateway } from '../../../adapters/testing/test-gateway.ts'
import type { GatewayConfig } from '../../../core/config/define.ts'
import { secret } from '../../../core/config/secret.ts'
import { createGateway } from '../../../core/gateway.ts'
import { silentLog } from '../../../core/log.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import { ask, bearer, errorOf, makeKey } from '../keys/support.ts'
import { type Deployment, deployment, ENTRIES, SECRET } from './support.ts'

let site: Deployment
beforeEach(() => {
  site = deployment()
})
afterEach(() => site.end())

const call = (t: TestGateway, method: string, path: string, body: unknown = {}) =>
  t.fetch(path, { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
const chat = async (t: TestGateway, key: string) => (await t.post('/v1/chat/completions', ask('echo/echo-1'), bearer(key))).status

describe('keys of the file', () => {
  it('work, and are read-only in the API with 409 that names file and entry', async () => {
    site.env.GATEWAY_REQUIRE_API_KEY = 'true'
    const t = await site.start({ keys: { ci: { secret: SECRET }, made: {} } })
    expect(await chat(t, SECRET)).toBe(200)
    const { data } = (await (await t.fetch('/api/keys')).json()) as { data: { id: number; label: string }[] }
    expect(data.map(({ label }) => label)).toEqual(['ci', 'made'])
    for (const [method, path] of [
      ['PATCH', `/api/keys/${data[0]?.id}`],
      ['DELETE', `/api/keys/${data[0]?.id}`],
      ['POST', `/api/keys/${data[0]?.id}/rotate`],
      ['DELETE', `/api/keys/${data[1]?.id}`],
    ] as const) {
      const error = await errorOf(await call(t, method, path))
      expect(error).toMatchObject({ status: 409, type: 'invalid_request_error', code: 'managed_by_config' })
      expect(error.message).toMatch(/gateway\.config\.ts.*`keys\.(ci|made)`/)
    }
    expect(await chat(t, SECRET)).toBe(200)
  })

  it('a secret that the file does not give is runtime state: it can be rotated, and stays over boots', async () => {
    site.env.GATEWAY_REQUIRE_API_KEY = 'true'
    const config = { keys: { made: {} } }
    const t = await site.start(config)
    const [row] = await site.living('keys')
    const { key } = (await (await call(t, 'POST', `/api/keys/${row?.id}/rotate`)).json()) as { key: string }
    expect(await chat(t, key)).toBe(200)
    const again = await site.start({ keys: { made: { rateLimitRpm: 100 } } })
    expect(await chat(again, key)).toBe(200)
  })

  it('no longer open anything once they left the file, and do again when they are back', async () => {
    site.env.GATEWAY_REQUIRE_API_KEY = 'true'
    const t = await site.start({ keys: { ci: { secret: SECRET } } })
    const config = (keys: object) => ({ connections: { echo: { provider: 'echo' } }, keys }) as GatewayConfig
    await t.gateway.reload(config({}))
    expect(await chat(t, SECRET)).toBe(401)
    await t.gateway.reload(config({ ci: { secret: SECRET } }))
    expect(await chat(t, SECRET)).toBe(200)
  })

  it('a new value behind the same reference takes effect on reload', async () => {
    site.env.GATEWAY_REQUIRE_API_KEY = 'true'
    site.env.CI_KEY = 'the-first-secret-of-this-key'
    const config: GatewayConfig = {
      connections: { echo: { provider: 'echo' } },
      keys: { ci: { secret: secret.env('CI_KEY') } },
    }
    const t = await site.start(config)
    const before = await site.living('keys')
    site.env.CI_KEY = 'the-second-secret-of-this-key'
    expect(await t.gateway.plan()).toMatchObject([
      { section: 'keys', key: 'ci', action: 'update', changes: [{ member: 'secrets' }] },
    ])
    await t.gateway.reload(config)
    expect([await chat(t, 'the-first-secret-of-this-key'), await chat(t, 'the-second-secret-of-this-key')]).toEqual([401, 200])
    expect((await site.living('keys')).map(({ id }) => id)).toEqual(before.map(({ id }) => id))
    for (const weak of ['short', 'a secret with spaces in between', 'nobody-can-send-this-key-\n']) {
      site.env.CI_KEY = weak
      await expect(t.gateway.reload(config)).rejects.toThrow('keys.ci.secret: must be at least 24 printable ASCII characters')
    }
    delete site.env.CI_KEY
    await expect(t.gateway.reload(config)).rejects.toThrow('keys.ci.secret: the environment variable CI_KEY is not set')
    expect(await chat(t, 'the-second-secret-of-this-key')).toBe(200)
  })

  it('a key of the API with a label of the file later on is no conflict for what stands', async () => {
    const t = await site.start({ keys: { ci: { secret: SECRET } } })
    await makeKey(t, { label: 'ci' })
    await site.start({ keys: { ci: { secret: SECRET, rateLimitRpm: 9 } } })
    expect(await site.living('keys')).toHaveLength(2)
  })

  it('two entries with one secret stop the boot', async () => {
    await expect(site.start({ keys: { a: { secret: SECRET }, b: { secret: SECRET } } })).rejects.toThrow(
      'keys.b: another row has the same name or the same secret already.',
    )
  })
})

describe('what the file refuses', () => {
  it('a section that nobody takes, by name', async () => {
    await expect(site.start({ virtualModel: {} } as GatewayConfig)).rejects.toThrow(
      'virtualModel: no plugin of this configuration takes this section',
    )
    const t = await site.start({})
    await expect(t.gateway.reload({ budget: {} })).rejects.toThrow('budget: no plugin')
    expect((await t.fetch('/api/keys')).status).toBe(200)
  })

  it('connections without a plugin that takes them, with what to write', async () => {
    const mine = definePlugin({ name: 'mine', setup() {} })
    const config: GatewayConfig = { connections: { echo: { provider: 'echo' } }, plugins: [mine()] }
    await expect(createNodeGateway(config)).rejects.toThrow(
      /connections: no plugin of this configuration takes this section\.\n.*`\[\.\.\.preset\(\), yours\(\)\]`/,
    )
    const reader = definePlugin({ name: 'reader', setup: (gateway) => void gateway.use('configuration') })
    await (await createNodeGateway({ ...config, plugins: [reader()] })).close()
  })

  it('the same without a database, where nobody takes any', async () => {
    const ports = { transport: { send: () => ({ abort: () => {} }), close: async () => {} }, dialects: [], providers: [] }
    await expect(createGateway({ plugins: [], keys: {} }, { ...ports, log: silentLog })).rejects.toThrow('keys: no plugin')
  })

  it('a section without an object of entries, and an entry that is none', async () => {
    await expect(site.start({ keys: [] } as object)).rejects.toThrow('keys')
    await expect(site.start({ keys: { 'a b': {} } })).rejects.toThrow('keys.a b')
    for (const entry of [null, 'x', []])
      await expect(site.start({ keys: { a: entry } } as object)).rejects.toThrow('keys.a: must be an object')
  })

  it('rows of the API where it is exclusive, and a section it misspells', async () => {
    const t = await site.start({ exclusive: ['keys'], keys: { ci: { secret: SECRET } } })
    const error = await errorOf(await call(t, 'POST', '/api/keys', { label: 'x' }))
    expect(error).toMatchObject({ status: 409, code: 'managed_by_config' })
    expect(error.message).toContain('gateway.config.ts')
    await expect(site.start({ exclusive: ['key'] })).rejects.toThrow('exclusive: no plugin of this configuration takes')
  })
})

describe('plan and apply', () => {
  it('with `reconcile: false` the boot changes nothing; the plan says what it would, and apply does it', async () => {
    await site.start({ keys: { old: { secret: SECRET }, kept: { label: 'kept' } } })
    const before = await site.rows('keys')
    const config: GatewayConfig = {
      keys: { kept: { label: 'kept', rateLimitRpm: 3 } },
      virtualModels: { fast: { strategy: 'failover', targets: ['echo/echo-1'] } },
    }
    const gateway = await site.startDry(config)
    expect(await site.rows('keys')).toEqual(before)
    const plan = await gateway.plan()
    expect(plan).toMatchObject([
      {
        section: 'keys',
        key: 'kept',
        name: 'kept',
        action: 'update',
        id: before[1]?.id,
        changes: [{ member: 'rateLimitRpm', from: null, to: 3 }],
      },
      { section: 'keys', key: 'old', action: 'archive', id: before[0]?.id },
      { section: 'virtualModels', key: 'fast', name: 'fast', action: 'create', id: null },
    ])
    expect(JSON.stringify(plan)).not.toContain(SECRET)
    expect(await site.rows('keys')).toEqual(before)
    expect(await gateway.apply()).toEqual(plan)
    expect(await site.living('keys')).toMatchObject([{ config_key: 'kept', rate_limit_rpm: 3 }])
    expect(site.service('virtualModels').named(null, 'fast')).not.toBeNull()
    expect(await gateway.plan()).toEqual([])
    expect(await gateway.apply()).toEqual([])
  })

  it('a plan finds what only the database can find, and changes nothing', async () => {
    await site.start({ keys: { first: { secret: SECRET } } })
    const gateway = await site.startDry({ keys: { first: { secret: SECRET }, new: {}, ci: { secret: SECRET } } })
    const before = await site.rows('keys')
    const refusal = 'keys.ci: another row has the same name or the same secret already.'
    await expect(gateway.plan()).rejects.toThrow(refusal)
    await expect(gateway.apply()).rejects.toThrow(refusal)
    expect(await site.rows('keys')).toEqual(before)
  })

  it('shows a conflict that apply refuses, and does nothing of the rest then', async () => {
    const first = await site.start({})
    const made = await makeKey(first, { label: 'ci' })
    const config: GatewayConfig = { keys: { ci: { secret: SECRET }, other: {} } }
    const gateway = await site.startDry(config)
    expect(await gateway.plan()).toMatchObject([
      { key: 'ci', action: 'conflict', id: made.id },
      { key: 'other', action: 'create' },
    ])
    await expect(gateway.apply()).rejects.toThrow(`keys.ci: the name \`ci\` belongs to row ${made.id}`)
    expect(await site.rows('keys')).toHaveLength(1)
  })
})

it('no secret of the file is in the database, its WAL or beside it', async () => {
  const canary = (name: string) => `canary-${name}-${randomBytes(12).toString('hex')}`
  const signing = `whsec_${randomBytes(32).toString('base64')}`
  Object.assign(site.env, { CI_KEY: canary('env-key'), HOOK: signing, UP_KEY: canary('env-upstream') })
  const inline = { key: canary('inline-key'), upstream: canary('inline-upstream'), header: canary('header') }
  const up = { provider: 'custom', baseUrl: 'http://127.0.0.1:9/v1', wireFormat: 'chat' } as const
  const config: GatewayConfig = {
    connections: {
      up: { ...up, apiKey: secret.env('UP_KEY'), proxyUrl: `http://me:${inline.header}@127.0.0.1:9` },
      down: { ...up, apiKey: inline.upstream, headers: { authorization: inline.header } },
    },
    keys: { env: { secret: secret.env('CI_KEY') }, inline: { secret: inline.key } },
    virtualModels: { fast: ENTRIES.virtualModels.entry as never },
    webhooks: { ops: { url: 'https://hooks.example.com/a', secret: secret.env('HOOK') } },
  }
  await site.start({ ...config, virtualModels: { fast: { strategy: 'failover', targets: ['up/m'] } } })
  const t = await site.start({ ...config, virtualModels: { fast: { strategy: 'failover', targets: ['up/m', 'down/m'] } } })
  await t.gateway.reload({ ...config, virtualModels: {} })
  const canaries = [site.env.CI_KEY, site.env.UP_KEY, signing.slice(6), ...Object.values(inline)].map(String)
  const found = new Set<string>()
  const files = readdirSync(site.dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  expect(files.map(({ name }) => name)).toContain('gateway.db-wal')
  for (const file of files) {
    const bytes = readFileSync(join(file.parentPath, file.name))
    for (const text of canaries) expect(bytes.includes(text), `${text} in ${file.name}`).toBe(false)
    for (const text of ['hooks.example.com', 'CI_KEY', 'UP_KEY']) if (bytes.includes(text)) found.add(text)
  }
  // Other texts are found, so the search covers the right bytes.
  expect(found.size).toBe(3)
})

// Connections of gateway.config.ts: rows with stable ids, owned by the file, secrets only in memory.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sqliteDatabase } from '../../../adapters/stores/sqlite.ts'
import { fail, text } from '../../../adapters/testing/script.ts'
import { type ScriptedUpstream, scriptedUpstream } from '../../../adapters/testing/scripted-upstream.ts'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/test-gateway.ts'
import type { ConnectionConfig, GatewayConfig } from '../../../core/config/define.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import { preset } from '../../../plugins/preset.ts'
import { ask, errorOf } from '../keys/support.ts'
import { add, call, list, MASTER_KEY } from './support.ts'

describe('declared connections', () => {
  let dir: string
  let t: TestGateway | null = null
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'hookgate-'))
  })
  afterEach(async () => {
    await t?.close()
    t = null
    rmSync(dir, { recursive: true })
  })
  const started = async (connections: Record<string, ConnectionConfig>, more: GatewayConfig = {}) => {
    await t?.close()
    t = await createTestGateway({ config: { connections, ...more }, env: { DATA_DIR: dir, MASTER_KEY } })
    return t
  }
  const acme: ConnectionConfig = {
    provider: 'custom',
    baseUrl: 'http://127.0.0.1:9/v1',
    wireFormat: 'chat',
    apiKey: 'sk-canary-4711',
  }

  it('are read-only in the API, with 409 naming the entry', async () => {
    const gateway = await started({ acme })
    const [row] = await list(gateway)
    expect(row).toMatchObject({ provider: 'acme', managed_by: 'config', has_api_key: true, api_key_hint: '…4711' })
    for (const response of [
      await call(gateway, 'PUT', `/api/providers/${row?.id}`, { label: 'x' }),
      await call(gateway, 'DELETE', `/api/providers/${row?.id}`),
    ]) {
      const error = await errorOf(response)
      expect(error).toMatchObject({ status: 409, code: 'managed_by_config' })
      expect(error.message).toContain('connections.acme')
    }
  })

  it('plugins find them by their name in the file', async () => {
    const found: unknown[] = []
    const finder = definePlugin({
      name: 'finder',
      requires: ['accounts'],
      setup(gateway) {
        const accounts = gateway.use('accounts')
        gateway.hook('ready', () => {
          for (const name of ['acme', 'off', 'Acme', '1', 'none']) found.push(accounts.named(name)?.connection.provider ?? null)
        })
      },
    })
    const off: ConnectionConfig = { ...acme, enabled: false }
    const gateway = await started({ acme, off }, { plugins: [...preset(), finder()] })
    await add(gateway, { provider: 'custom', label: 'none', base_url: 'http://127.0.0.1:9/v1', wire_format: 'chat' })
    expect(found).toEqual(['acme', 'off', null, null, null])
  })

  it('keep their id over edits and absence, and do not act while they are gone', async () => {
    const [before] = await list(await started({ acme }))
    const [edited] = await list(await started({ acme: { ...acme, label: 'edited', allowedModels: ['m*'] } }))
    expect(edited).toMatchObject({ id: before?.id, label: 'edited', allowed_models: ['m*'] })
    const without = await started({})
    expect(await list(without)).toEqual([])
    expect((await without.post('/v1/chat/completions', ask('acme/m'))).status).toBe(400)
    expect((await call(without, 'GET', `/api/providers/${before?.id}`)).status).toBe(404)
    expect((await list(await started({ acme })))[0]).toMatchObject({ id: before?.id, label: 'acme' })
  })

  it('a reload adds, changes and takes away', async () => {
    const gateway = await started({ acme })
    const [before] = await list(gateway)
    const plugins = preset()
    await gateway.gateway.reload({ connections: { acme: { ...acme, label: 'again' }, other: { ...acme } }, plugins })
    expect((await list(gateway)).map(({ id, label }) => [id, label])).toEqual([
      [before?.id, 'again'],
      [expect.any(Number), 'other'],
    ])
    await gateway.gateway.reload({ connections: { other: { ...acme } }, plugins })
    expect((await list(gateway)).map(({ label }) => label)).toEqual(['other'])
  })

  it('leave no secret in the database, not even one in a URL', async () => {
    await started({
      acme: { ...acme, proxyUrl: 'http://user:canary-proxy@127.0.0.1:9', headers: { authorization: 'Basic canary-header' } },
      url: { ...acme, baseUrl: 'http://user:canary-url@127.0.0.1:9/v1' },
    })
    const shown = await (await (t as TestGateway).fetch('/api/providers')).text()
    expect(shown).not.toMatch(/canary/)
    await t?.close()
    t = null
    for (const file of ['gateway.db']) expect(readFileSync(join(dir, file)).toString('latin1')).not.toMatch(/canary/)
  })

  it('`exclusive` refuses connections of the API', async () => {
    const gateway = await started({ acme }, { exclusive: ['connections'] })
    const response = await call(gateway, 'POST', '/api/providers', { provider: 'openai', api_key: 'sk-1234567890' })
    expect(await errorOf(response)).toMatchObject({ status: 409, code: 'managed_by_config' })
  })

  it('take over a connection of the API with `adopt`, and refuse the boot without it', async () => {
    const gateway = await started({})
    const made = await add(gateway, { provider: 'acme', label: 'acme', base_url: 'http://127.0.0.1:9/v1', wire_format: 'chat' })
    await expect(started({ acme })).rejects.toThrow(/adopt/)
    expect((await list(await started({ acme: { ...acme, adopt: true } })))[0]).toMatchObject({
      id: made.id,
      managed_by: 'config',
    })
  })
})

describe('order', () => {
  it('is priority, then id, over what the file and the API say alike; so is the failover', async () => {
    const db = sqliteDatabase({ path: ':memory:' })
    const upstreams: ScriptedUpstream[] = []
    for (let index = 0; index < 4; index++) upstreams.push(await scriptedUpstream(fail(503)))
    const at = (index: number) => (upstreams[index] as ScriptedUpstream).baseUrl('chat')
    const wire = { provider: 'acme', wireFormat: 'chat' as const }
    const t = await createTestGateway({
      config: {
        connections: {
          first: { ...wire, baseUrl: at(0), priority: 5 },
          second: { ...wire, baseUrl: at(1), priority: 20 },
        },
      },
      ports: { db },
    })
    const body = { provider: 'acme', wire_format: 'chat' }
    await add(t, { ...body, label: 'between', base_url: at(2), priority: 10 })
    await add(t, { ...body, label: 'equal', base_url: at(3), priority: 20 })
    expect((await list(t)).map(({ label }) => label)).toEqual(['first', 'between', 'second', 'equal'])
    expect((await t.post('/v1/chat/completions', ask('acme/m'))).status).toBeGreaterThanOrEqual(500)
    const order = t.settled.at(-1)?.ctx.attempts.map(({ candidate }) => candidate.connection.label)
    expect(order).toEqual(['first', 'between', 'second', 'equal'])
    upstreams[2]?.script(text('from between'))
    const answered = await t.post('/v1/chat/completions', ask('acme/m'))
    expect([answered.status, answered.headers.get('x-gateway-attempts')]).toEqual([200, '2'])
    expect(await answered.text()).toContain('from between')
    await t.close()
    await db.close()
    for (const upstream of upstreams) await upstream.close()
  })
})

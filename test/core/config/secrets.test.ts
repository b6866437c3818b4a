// Secret references in options of plugins and in headers of connections: resolved in memory, rotated by a reload, and never shown.
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createTestGateway, type ScriptedUpstream, scriptedUpstream, type TestGateway } from '../../../adapters/testing/index.ts'
import { secret } from '../../../core/config/secret.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import { preset } from '../../../plugins/preset.ts'

const VALUE = 'tenant-blue'

let t: TestGateway | null = null
let up: ScriptedUpstream | null = null
afterEach(async () => {
  await t?.close()
  await up?.close()
  t = null
  up = null
})

const seen: unknown[] = []
const crm = definePlugin({
  name: 'crm',
  config: z.strictObject({
    token: z.string().min(8),
    nested: z.object({ list: z.array(z.string()), mode: z.enum(['a', 'b']).default('a') }).optional(),
    /** Looks like a reference, and is none. */
    pair: z.object({ secret: z.string(), name: z.string() }).optional(),
  }),
  setup(_gateway, options) {
    seen.push(options)
  },
})

async function start(config: object, env: Record<string, string> = {}): Promise<TestGateway> {
  up = await scriptedUpstream()
  const connection = { provider: 'lab', baseUrl: up.baseUrl('chat'), wireFormat: 'chat', ...(config as { more?: object }).more }
  const { more: _, ...rest } = config as { more?: object }
  t = await createTestGateway({
    config: { connections: { lab: connection }, ...rest } as never,
    ports: { env, readFile: (path) => (path === '/run/token' ? ' from-a-file\n' : null) },
  })
  return t
}

const ask = (model = 'lab/m') =>
  (t as TestGateway).post('/v1/chat/completions', { model, messages: [{ role: 'user', content: 'hi' }] })

describe('options of a plugin', () => {
  it('have the values of their references, at any depth', async () => {
    seen.length = 0
    const options = {
      token: secret.file('/run/token'),
      nested: { list: [secret.env('CRM'), 'plain'] },
      pair: { secret: 'mine', name: 'x' },
    }
    await start({ plugins: [...preset(), crm(options)] }, { CRM: VALUE })
    expect(seen).toEqual([{ token: 'from-a-file', nested: { list: [VALUE, 'plain'], mode: 'a' }, pair: options.pair }])
  })

  it('a missing value is a boot error that names the option and the variable', async () => {
    const boot = start({ plugins: [...preset(), crm({ token: secret.env('CRM') })] })
    await expect(boot).rejects.toThrow('The options of the plugin `crm`.token: the environment variable CRM is not set.')
  })

  it('a value that breaks the schema is not in the message', async () => {
    const boot = start({ plugins: [...preset(), crm({ token: secret.env('CRM') })] }, { CRM: 'sk-1234' })
    const error = await boot.then(
      () => null,
      (thrown: Error) => thrown,
    )
    expect(error?.message).toContain('token')
    expect(error?.message).not.toContain('sk-1234')
  })

  it('a new value reaches the plugin with the next reload', async () => {
    seen.length = 0
    const env: Record<string, string> = { CRM: VALUE }
    const config = { plugins: [...preset(), crm({ token: secret.env('CRM') })] }
    const { gateway } = await start(config, env)
    const connections = { lab: { provider: 'lab', baseUrl: up?.baseUrl('chat'), wireFormat: 'chat' } }
    await gateway.reload({ ...config, connections })
    expect(seen).toHaveLength(1)
    env.CRM = 'tenant-green'
    await gateway.reload({ ...config, connections })
    expect(seen.at(-1)).toEqual({ token: 'tenant-green' })
  })

  it('has types: required options make the argument required, and a reference stands for a text only', () => {
    // @ts-expect-error `token` is required
    const none = () => crm()
    // @ts-expect-error `mode` is a choice, not a text
    const choice = () => crm({ token: 'long-enough', nested: { list: [], mode: secret.env('X') } })
    expect([none, choice]).toHaveLength(2)
  })
})

describe('headers of a connection', () => {
  it('are sent with the value, which no route and no error shows', async () => {
    const { post, fetch } = await start(
      { more: { headers: { 'x-tenant': secret.env('TENANT'), 'x-plain': 'yes' } } },
      { TENANT: VALUE },
    )
    expect((await ask()).status).toBe(200)
    expect(up?.requests[0]?.headers).toMatchObject({ 'x-tenant': VALUE, 'x-plain': 'yes' })
    for (const path of ['/api/providers', '/api/settings', '/api/plugins', '/api/logs'])
      expect(await (await fetch(path)).text()).not.toContain(VALUE)
    expect(post).toBeDefined()
  })

  it('an upstream that echoes the value does not reveal it', async () => {
    await start({ more: { headers: { 'x-tenant': secret.env('TENANT') } } }, { TENANT: VALUE })
    up?.push({ kind: 'raw', status: 400, body: JSON.stringify({ error: { message: `no tenant ${VALUE}` } }) } as never)
    const text = await (await ask()).text()
    expect(text).toContain('no tenant')
    expect(text).not.toContain(VALUE)
  })

  it('a missing value names the header; a disabled connection needs none', async () => {
    const headers = { 'x-tenant': secret.env('TENANT') }
    await expect(start({ more: { headers } })).rejects.toThrow(
      'connections.lab.headers.x-tenant: the environment variable TENANT',
    )
    await up?.close()
    await start({ more: { headers, enabled: false } })
  })
})

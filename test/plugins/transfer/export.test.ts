// POST /api/export: rows without ids and secrets, or with secrets that only the passphrase opens.
import { describe, expect, it } from 'vitest'
import { exported, filled, gateway, imported, KEY, PASSPHRASE, SECRETS, send } from './support.ts'

describe('export', () => {
  it('has every kind without ids and secrets, and says what is left out', async () => {
    const document = await exported(await filled())
    expect(document).toMatchObject({ hookgate_export: 1, secrets: null })
    const names = Object.fromEntries(Object.entries(document.rows).map(([kind, rows]) => [kind, rows.map(({ name }) => name)]))
    expect(names).toEqual({
      connections: ['openai/main', 'echo/try'],
      virtual_models: ['fast'],
      budgets: ['org monthly', 'virtual_model fast daily'],
      price_overrides: ['openai/gpt-4.1*', 'lab/*'],
      settings: ['stream_heartbeat_ms'],
      policy: [],
      proxy_pools: [],
      webhooks: [],
    })
    expect(document.rows.virtual_models?.[0]?.data.targets).toMatchObject([{ connection: 'echo/try' }, { connection: null }])
    expect(document.skipped.map(({ kind }) => kind).sort()).toEqual(['proxy_pools', 'webhooks'])
    for (const secret of SECRETS) expect(JSON.stringify(document)).not.toContain(secret)
  })

  it('seals secrets under the passphrase', async () => {
    const document = await exported(await filled(), PASSPHRASE)
    expect(document.skipped).toEqual([])
    expect(document.rows.webhooks).toHaveLength(1)
    for (const secret of SECRETS) expect(JSON.stringify(document)).not.toContain(secret)
    expect(JSON.stringify(document)).not.toContain(Buffer.from(KEY).toString('base64').slice(0, 20))
    const again = await exported(await filled(), PASSPHRASE)
    expect(again.secrets?.salt).not.toBe(document.secrets?.salt)
  })

  it('leaves rows of the file out', async () => {
    const t = await gateway({ virtualModels: { mine: { strategy: 'failover', targets: ['echo/echo-1'] } } })
    const document = await exported(t)
    expect(document.rows.virtual_models).toEqual([])
    expect(document.skipped).toContainEqual({ kind: 'virtual_models', name: 'mine', reason: 'gateway.config.ts owns it' })
  })
})

describe('who may', () => {
  it('only the system role, and both are in the audit log', async () => {
    const t = await filled()
    await imported(t, await exported(t))
    const { body } = await send<{ data: { action: string; details: Record<string, unknown> }[] }>(t, 'GET', '/api/audit')
    const actions = body.data.map(({ action }) => action)
    expect(actions).toEqual(expect.arrayContaining(['gateway.export', 'gateway.import']))
    for (const path of ['/api/export', '/api/import']) {
      const route = t.gateway.api.find((each) => each.path === path)
      expect(route?.role).toBe('system')
    }
  })
})

// POST /api/import: the same rows on another gateway, all of them or none.
import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { testPostgres, whyNoPostgres } from '../../support/postgres.ts'
import { bare, changing, ended, exported, filled, gateway, imported, KEY, made, PASSPHRASE, send } from './support.ts'

const noPostgres = await whyNoPostgres()

describe('import', () => {
  const moved = async (env: Record<string, string>): Promise<void> => {
    const document = await exported(await filled(), PASSPHRASE)
    const there = await gateway({}, env)
    const first = await imported(there, document, { passphrase: PASSPHRASE })
    expect(first.status, JSON.stringify(first.body)).toBe(200)
    expect(first.body.data.every(({ action }) => action === 'create')).toBe(true)
    expect(bare(await exported(there, PASSPHRASE))).toEqual(bare(document))
    const second = await imported(there, document, { passphrase: PASSPHRASE })
    expect(changing(second.body.data)).toEqual([])
    const { body } = await send<{ data: { label: string; api_key_hint: string; headers: object }[] }>(
      there,
      'GET',
      '/api/providers',
    )
    expect(body.data[0]).toMatchObject({ label: 'main', api_key_hint: `…${KEY.slice(-4)}`, headers: { 'x-team': '***' } })
    const pools = await send<{ data: { assigned_connections: number[] }[] }>(there, 'GET', '/api/proxy-pools')
    expect(pools.body.data[0]?.assigned_connections).toHaveLength(1)
  }

  it('makes the same rows, and changes nothing the second time', () => moved({}))

  it.skipIf(noPostgres)(`the same on PostgreSQL${noPostgres ? ` (${noPostgres})` : ''}`, async () => {
    const database = await testPostgres()
    ended.push(() => database.drop())
    await moved({ DATABASE_URL: database.url, MASTER_KEY: randomBytes(32).toString('base64') })
  })

  it('a dry run checks everything and writes nothing', async () => {
    const document = await exported(await filled(), PASSPHRASE)
    const there = await gateway()
    const before = bare(await exported(there))
    const dry = await imported(there, document, { passphrase: PASSPHRASE, dry_run: true })
    expect(dry.body.data.filter(({ action }) => action === 'create')).toHaveLength(10)
    expect(bare(await exported(there))).toEqual(before)
    const broken = structuredClone(document)
    ;(broken.rows.virtual_models?.[0]?.data.targets as { connection: string }[])[0]!.connection = 'echo/gone'
    const refused = await imported(there, broken, { passphrase: PASSPHRASE, dry_run: true })
    expect([refused.status, refused.body.error.param]).toEqual([400, 'document.rows.virtual_models.0.data.targets.0.connection'])
  })

  it('writes nothing when one row is wrong', async () => {
    const document = await exported(await filled())
    const there = await gateway()
    ;(document.rows.virtual_models?.[0]?.data.targets as { connection: string }[])[0]!.connection = 'echo/gone'
    expect((await imported(there, document)).status).toBe(400)
    expect(Object.values((await exported(there)).rows).flat()).toEqual([])
  })

  it('changes rows by name, and says which members', async () => {
    const t = await filled()
    const document = await exported(t)
    await made(t, '/api/settings', { stream_heartbeat_ms: 9000 }, 'PUT')
    const fast = document.rows.virtual_models?.[0]
    fast!.data.description = 'another one'
    const { body } = await imported(t, document)
    expect(changing(body.data)).toEqual([
      { kind: 'settings', name: 'stream_heartbeat_ms', action: 'update', changes: ['value'], reason: null },
      { kind: 'virtual_models', name: 'fast', action: 'update', changes: ['description'], reason: null },
    ])
    expect(bare(await exported(t))).toEqual(bare(document))
  })

  it('without secrets keeps those that stand, and makes connections that wait for their key', async () => {
    const t = await filled()
    const document = await exported(t)
    document.rows.connections![0]!.data.priority = 77
    expect((await imported(t, document)).status).toBe(200)
    const standing = await send<{ data: { priority: number; has_api_key: boolean; enabled: boolean }[] }>(
      t,
      'GET',
      '/api/providers',
    )
    expect(standing.body.data.find(({ priority }) => priority === 77)).toMatchObject({ has_api_key: true, enabled: true })
    const there = await gateway()
    const { body } = await imported(there, document)
    expect(body.data.find(({ name }) => name === 'openai/main')).toMatchObject({ reason: 'disabled until it gets its key' })
    const waiting = await send<{ data: { label: string; has_api_key: boolean; enabled: boolean }[] }>(
      there,
      'GET',
      '/api/providers',
    )
    expect(waiting.body.data.find(({ label }) => label === 'main')).toMatchObject({ has_api_key: false, enabled: false })
  })

  it('leaves rows of the file alone', async () => {
    const document = await exported(await filled())
    const there = await gateway({ virtualModels: { fast: { strategy: 'failover', targets: ['echo/echo-1'] } } })
    const { body } = await imported(there, document)
    expect(body.data.find(({ kind }) => kind === 'virtual_models')).toMatchObject({
      action: 'skip',
      reason: expect.stringContaining('gateway.config.ts'),
    })
  })

  it('refuses a section that only the file may fill', async () => {
    const document = await exported(await filled())
    const there = await gateway({ exclusive: ['virtualModels'] })
    expect((await imported(there, document)).body.error).toMatchObject({
      code: 'managed_by_config',
      param: 'document.rows.virtual_models',
    })
  })
})

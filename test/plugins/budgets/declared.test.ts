// Budgets of gateway.config.ts: the entity of a label, that the API does not change them, and automatic budgets of new keys.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { GatewayConfig } from '../../../core/config/define.ts'
import { recordingLog } from '../../support/recording-log.ts'
import { bearer } from '../keys/support.ts'
import { type Made, NOON, org, type Site, site } from './support.ts'

let s: Site
afterEach(() => s.close())

const SECRET = 'a-secret-of-at-least-24-characters'
const list = async () => (await s.api<{ data: Made[] }>('GET', '/api/budgets')).body.data

describe('a budget of the file', () => {
  it('means the key of its label, and the virtual model of its name', async () => {
    const config = {
      keys: { ci: { label: 'ci-bot', secret: SECRET } },
      virtualModels: { smart: { strategy: 'failover', targets: ['chat/m'] } },
      budgets: {
        forKey: { scope: 'key', entity: 'ci-bot', window: 'daily', hardLimitUsd: 0.0015 },
        forModel: { scope: 'virtual_model', entity: 'smart', window: 'daily', hardLimitUsd: 0.0015 },
      },
    } as unknown as GatewayConfig
    s = await site({ config })
    const [forKey, forModel] = await list()
    expect(forKey).toMatchObject({ scope: 'key', entity_label: 'ci-bot', managed_by: 'config', entity_id: expect.any(Number) })
    expect(forKey?.warning).toBeUndefined()
    expect(forModel).toMatchObject({ scope: 'virtual_model', entity_label: 'smart', entity_id: expect.any(Number) })
    expect(await s.spend({}, bearer(SECRET))).toBe(200)
    expect(await s.spend({ model: 'smart' })).toBe(200)
    expect((await list()).map(({ spend_usd }) => spend_usd)).toEqual([0.001, 0.001])
    expect(await s.spend({ max_tokens: 100 }, bearer(SECRET))).toBe(402)
    expect(await s.spend({ model: 'smart', max_tokens: 100 })).toBe(402)
    expect(await s.spend({ max_tokens: 100 })).toBe(200)
    // The API creates no second one for the same key.
    const twin = { scope: 'key', entity_id: forKey?.entity_id, window: 'daily', hard_limit_usd: 1 }
    expect((await s.api('POST', '/api/budgets', twin)).status).toBe(409)
  })

  it('is changed in the file; an increase is not a change', async () => {
    const config = { budgets: { all: { scope: 'org', window: 'daily', hardLimitUsd: 1 } } } as unknown as GatewayConfig
    s = await site({ config })
    const [{ id }] = (await list()) as [Made]
    for (const [method, body] of [
      ['PUT', { hard_limit_usd: 5 }],
      ['DELETE', undefined],
    ] as const) {
      const refused = await s.api<{ error: { code: string; message: string } }>(method, `/api/budgets/${id}`, body)
      expect([refused.status, refused.body.error.code]).toEqual([409, 'managed_by_config'])
      expect(refused.body.error.message).toContain('budgets.all')
    }
    const expires_at = new Date(NOON + 60_000).toISOString()
    const more = await s.api('POST', `/api/budgets/${id}/increase`, { amount_usd: 1, expires_at })
    expect([more.status, more.body.effective_limit_usd]).toEqual([201, 2])
  })

  it('counts what was spent before it was declared; with another entity it starts with what that one has spent', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'hookgate-budgets-'))
    const config = (budget: object) =>
      ({
        keys: { one: { secret: SECRET }, two: { secret: `${SECRET}-two` } },
        ...(Object.keys(budget).length === 0 ? {} : { budgets: { b: { scope: 'key', hardLimitUsd: 1, ...budget } } }),
      }) as unknown as GatewayConfig
    const restart = async (budget: object) => {
      await s?.close()
      s = await site({ config: config(budget), env: { DATA_DIR: dir } })
      return (await list()).map(({ spend_usd, entity_label }) => [entity_label, spend_usd])
    }
    s = await site({ config: config({}), env: { DATA_DIR: dir } })
    for (let i = 0; i < 3; i++) await s.spend({}, bearer(SECRET))
    await s.spend({}, bearer(`${SECRET}-two`))
    expect(await restart({ entity: 'one', window: 'daily' })).toEqual([['one', 0.003]])
    expect(await restart({ entity: 'one', window: 'monthly' })).toEqual([['one', 0.003]])
    expect(await restart({ entity: 'two', window: 'monthly' })).toEqual([['two', 0.001]])
    expect(await restart({})).toEqual([])
    await s.spend({}, bearer(`${SECRET}-two`))
    expect(await restart({ entity: 'two', window: 'monthly' })).toEqual([['two', 0.002]])
    rmSync(dir, { recursive: true, force: true })
  })

  it('whose label nobody has blocks nothing, and says so in the log and in its record', async () => {
    const log = recordingLog()
    const config = {
      budgets: {
        a: { scope: 'key', entity: 'nobody', window: 'daily', hardLimitUsd: 0 },
        b: { scope: 'virtual_model', entity: 'nothing', window: 'daily', hardLimitUsd: 0 },
      },
    } as unknown as GatewayConfig
    s = await site({ config, ports: { log } })
    const { key } = await s.key({ label: 'somebody' })
    expect(await s.spend({}, bearer(key))).toBe(200)
    expect((await list()).map(({ warning }) => warning)).toEqual([
      {
        code: 'entity_not_found',
        message: 'There is no client key `nobody`: this budget counts nothing and blocks nothing.',
      },
      {
        code: 'entity_not_found',
        message: 'There is no virtual model `nothing`: this budget counts nothing and blocks nothing.',
      },
    ])
    const warned = log.lines.filter(({ level, message }) => level === 'warn' && message.includes('blocks nothing'))
    expect(warned).toHaveLength(2)
    await s.clock.advance('2m')
    expect(log.lines.filter(({ message }) => message.includes('blocks nothing'))).toHaveLength(2)
    // It counts as soon as a key has the label.
    const named = await s.key({ label: 'nobody' })
    expect(await s.spend({}, bearer(named.key))).toBe(402)
    expect((await list())[0]?.warning).toBeUndefined()
  })

  it('of a key may not be above GATEWAY_MAX_KEY_BUDGET_USD either', async () => {
    s = await site()
    const budgets = { dear: { scope: 'key', entity: 'x', window: 'daily', hardLimitUsd: 6 } }
    await expect(site({ config: { budgets } as unknown as GatewayConfig, env: { MAX_KEY_BUDGET_USD: '5' } })).rejects.toThrow(
      /budgets\.dear\.hardLimitUsd.*at most 5 USD/s,
    )
  })
})

describe('a new key', () => {
  it('has its budget before it can be used', async () => {
    s = await site({ env: { DEFAULT_KEY_BUDGET_USD: '0.0005', DEFAULT_KEY_BUDGET_WINDOW: 'weekly' } })
    expect(await list()).toEqual([])
    const { id, key } = await s.key({ label: 'fresh' })
    expect(await s.spend({ max_tokens: 100 }, bearer(key))).toBe(402)
    expect([await s.spend({}, bearer(key)), await s.spend({}, bearer(key))]).toEqual([200, 402])
    const [made, ...others] = await list()
    expect(others).toEqual([])
    expect(made).toMatchObject({
      scope: 'key',
      entity_id: id,
      entity_label: 'fresh',
      window: 'weekly',
      hard_limit_usd: 0.0005,
      managed_by: 'api',
    })
    // A changed or rotated key is not a new one.
    await s.api('PATCH', `/api/keys/${id}`, { label: 'other' })
    await s.api('POST', `/api/keys/${id}/rotate`, {})
    expect(await list()).toHaveLength(1)
    expect((await list())[0]?.entity_label).toBe('other')
  })

  it('has none without GATEWAY_DEFAULT_KEY_BUDGET_USD, or with a window that is none', async () => {
    s = await site({ env: { DEFAULT_KEY_BUDGET_USD: '0' } })
    await s.key()
    expect(await list()).toEqual([])
    await s.close()
    const log = recordingLog()
    s = await site({ env: { DEFAULT_KEY_BUDGET_USD: '5', DEFAULT_KEY_BUDGET_WINDOW: 'fortnightly' }, ports: { log } })
    await s.key()
    expect(await list()).toEqual([])
    expect(log.lines.filter(({ message }) => message === 'budgets.unknown_window')).toHaveLength(1)
  })

  it('has no more than GATEWAY_MAX_KEY_BUDGET_USD', async () => {
    s = await site({ env: { DEFAULT_KEY_BUDGET_USD: '5', MAX_KEY_BUDGET_USD: '2' } })
    await s.key()
    expect((await list()).map(({ hard_limit_usd, window }) => [hard_limit_usd, window])).toEqual([[2, 'monthly']])
  })
})

describe('GATEWAY_BUDGET_TIMEZONE', () => {
  it('says where days begin', async () => {
    s = await site({ env: { BUDGET_TIMEZONE: 'Asia/Kolkata' } })
    expect(await s.budget({ ...org, hard_limit_usd: 1 })).toMatchObject({
      window_start: '2026-11-20T18:30:00.000Z',
      window_end: '2026-11-21T18:30:00.000Z',
    })
  })

  it('that nobody knows is UTC, with a warning', async () => {
    const log = recordingLog()
    s = await site({ env: { BUDGET_TIMEZONE: 'Mars/Olympus_Mons' }, ports: { log } })
    expect((await s.budget({ ...org, hard_limit_usd: 1 })).window_start).toBe('2026-11-21T00:00:00.000Z')
    expect(log.lines.filter(({ message }) => message === 'budgets.unknown_timezone')).toHaveLength(1)
  })
})

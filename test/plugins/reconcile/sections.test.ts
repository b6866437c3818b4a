// The members of each section of gateway.config.ts, and their form in its service.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { GatewayConfig } from '../../../core/config/define.ts'
import { secret } from '../../../core/config/secret.ts'
import { sql } from '../../../core/db/sql.ts'
import { type Deployment, deployment } from './support.ts'

let site: Deployment
beforeEach(() => {
  site = deployment()
})
afterEach(() => site.end())

const SIGNING = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

describe('virtualModels', () => {
  it('shows the full form of every target, and the defaults', async () => {
    await site.start({
      virtualModels: {
        fast: {
          strategy: 'weighted',
          targets: [
            'echo/echo-1',
            { target: 'openai/gpt-4o', weight: 2.5 },
            { model: 'anthropic/claude-haiku', enabled: false },
            { provider: 'google', model: 'models/gemini', connectionId: 3, instruction: 'short', params: { top_p: 0.5 } },
          ],
          config: { judge: 'echo/echo-1', minPanel: 3 },
        },
        draw: { name: 'team/draw:1', strategy: 'failover', targets: ['echo/echo-1'], modality: 'image', enabled: false },
      },
    })
    const models = site.service('virtualModels')
    const fast = models.named(null, 'fast')
    const plain = { weight: 1, connectionId: null, enabled: true, instruction: null, params: null }
    expect(fast).toMatchObject({ strategy: 'weighted', modality: 'text', enabled: true, configKey: 'fast', managedBy: 'config' })
    expect(fast?.targets).toEqual([
      { ...plain, provider: 'echo', model: 'echo-1' },
      { ...plain, provider: 'openai', model: 'gpt-4o', weight: 2.5 },
      { ...plain, provider: 'anthropic', model: 'claude-haiku', enabled: false },
      { ...plain, provider: 'google', model: 'models/gemini', connectionId: 3, instruction: 'short', params: { top_p: 0.5 } },
    ])
    expect(fast?.config).toEqual({
      sessionSticky: true,
      stickyTtlSecs: 900,
      maxAttempts: 0,
      judge: 'echo/echo-1',
      minPanel: 3,
      stragglerGraceMs: 8000,
      panelTimeoutMs: 90_000,
      latencyBuffer: 0,
      tokenSaver: true,
    })
    expect(models.get(null, fast?.id ?? 0)).toBe(fast)
    expect(models.named(null, 'team/draw:1')).toMatchObject({ modality: 'image', enabled: false, configKey: 'draw' })
    expect([models.named(null, 'Fast'), models.named(4, 'fast'), models.get(4, fast?.id ?? 0)]).toEqual([null, null, null])
    expect(models.list(null)).toHaveLength(2)
    expect(models.list(4)).toEqual([])
  })

  const two = ['echo/a', 'echo/b']
  const wrong: [string, object, string][] = [
    ['an unknown strategy', { strategy: 'random', targets: two }, 'strategy'],
    ['no targets', { strategy: 'failover', targets: [] }, 'targets'],
    ['65 targets', { strategy: 'failover', targets: Array.from({ length: 65 }, (_, i) => `echo/${i}`) }, 'targets'],
    ['a target without a provider', { strategy: 'failover', targets: ['gpt-4o'] }, 'targets.0: must be a concrete'],
    ['a target without a model', { strategy: 'failover', targets: [{ provider: 'echo' }] }, 'targets.0: must be a concrete'],
    [
      'a target of an unknown provider',
      { strategy: 'failover', targets: ['echo/a', 'oepnai/b'] },
      'targets.1: `oepnai` is neither',
    ],
    ['a negative weight', { strategy: 'weighted', targets: [{ target: 'echo/a', weight: -1 }] }, 'targets.0'],
    [
      'an endless weight',
      { strategy: 'weighted', targets: [{ target: 'echo/a', weight: Number.POSITIVE_INFINITY }] },
      'targets.0',
    ],
    ['a member nobody knows in a target', { strategy: 'failover', targets: [{ target: 'echo/a', wieght: 1 }] }, 'targets.0'],
    ['the same target twice', { strategy: 'failover', targets: ['echo/a', { provider: 'echo', model: 'a' }] }, 'targets.1'],
    ['an image fusion', { strategy: 'fusion', targets: two, modality: 'image' }, 'strategy'],
    ['an image pipeline', { strategy: 'pipeline', targets: two, modality: 'image' }, 'strategy'],
    ['a fusion of one without a judge', { strategy: 'fusion', targets: ['echo/a'] }, 'targets'],
    ['a pipeline of one', { strategy: 'pipeline', targets: ['echo/a'], config: { judge: 'echo/a' } }, 'targets'],
    ['a judge that is no model', { strategy: 'fusion', targets: two, config: { judge: 'best' } }, 'config.judge'],
    ['a name with a slash at its end', { strategy: 'failover', targets: two, name: 'a/' }, 'name'],
    ['a name with a space', { strategy: 'failover', targets: two, name: 'a b' }, 'name'],
    ['the same name twice', { strategy: 'failover', targets: two, name: 'other' }, 'has the name `other` of virtualModels.other'],
    ['a member nobody knows', { strategy: 'failover', targets: two, fallback: true }, '(fallback)'],
    ['an `adopt` that is no boolean', { strategy: 'failover', targets: two, adopt: 'yes' }, 'adopt'],
  ]
  for (const [name, entry, message] of wrong) {
    it(`refuses ${name} at boot`, async () => {
      const other = { strategy: 'fusion', targets: ['echo/a'], config: { judge: 'echo/b' } }
      const started = site.start({ virtualModels: { other, bad: entry } } as GatewayConfig)
      await expect(started).rejects.toThrow('virtualModels.bad')
      await expect(started).rejects.toThrow(message)
    })
  }

  it('takes the provider of a custom connection, and keeps a row whose provider is gone', async () => {
    const up = { provider: 'custom', baseUrl: 'http://127.0.0.1:9/v1', wireFormat: 'chat', apiKey: 'sk-x' } as const
    const virtualModels = { own: { strategy: 'failover', targets: ['up/m'] } } as const
    const config = { virtualModels: { own: { ...virtualModels.own, targets: ['up/m'] } } }
    await site.start({ ...config, connections: { up } })
    expect(site.service('virtualModels').named(null, 'own')).not.toBeNull()
    await site.start(config)
    expect(site.service('virtualModels').named(null, 'own')).not.toBeNull()
  })
})

describe('budgets', () => {
  it('keeps money in whole nano-USD', async () => {
    await site.start({
      budgets: {
        all: { scope: 'org', window: 'monthly', hardLimitUsd: 500 },
        ci: { scope: 'key', entity: 'ci', window: 'daily', hardLimitUsd: 0.1 + 0.2, enabled: false },
        stop: { scope: 'virtual_model', entity: 'fast', window: 'lifetime', hardLimitUsd: 0 },
      },
    })
    const budgets = site.service('budgets')
    expect(budgets.list(null)).toMatchObject([
      { scope: 'org', entityId: null, entityLabel: null, window: 'monthly', hardLimitNano: 500e9, enabled: true, increases: [] },
      { scope: 'key', entityLabel: 'ci', window: 'daily', hardLimitNano: 300_000_000, enabled: false },
      { scope: 'virtual_model', entityLabel: 'fast', window: 'lifetime', hardLimitNano: 0 },
    ])
    const [first] = budgets.list(null)
    expect(budgets.get(null, first?.id ?? 0)).toBe(first)
    expect(budgets.get(4, first?.id ?? 0)).toBeNull()
  })

  it('an adopted row keeps whom it means and how it was raised, until the file names another', async () => {
    const team = { scope: 'key', entity: 'ci', window: 'daily', hardLimitUsd: 1 } as const
    const t = await site.start({ budgets: { team } })
    const [made] = await site.living('budgets')
    const id = made?.id as number
    await t.gateway.db?.run(sql`UPDATE budgets SET managed_by = 'api', config_key = NULL, declared = NULL, entity_id = 5`)
    await t.gateway.db?.run(
      sql`INSERT INTO budgets_increases (budget_id, amount_nano, reason, expires_at, created_at, created_by)
          VALUES (${id}, ${2e9}, 'launch', 4000, 1000, 'local')`,
    )
    await site.start({ budgets: { team: { ...team, hardLimitUsd: 3, adopt: true } } })
    expect(site.service('budgets').get(null, id)).toMatchObject({
      entityId: 5,
      hardLimitNano: 3e9,
      increases: [{ amountNano: 2e9, reason: 'launch', expiresAt: 4000, createdAt: 1000, createdBy: 'local' }],
    })
    await site.start({ budgets: { team: { ...team, entity: 'cd' } } })
    expect(site.service('budgets').get(null, id)).toMatchObject({ entityId: null, entityLabel: 'cd' })
  })

  const ok = { scope: 'key', entity: 'x', window: 'daily', hardLimitUsd: 1 }
  const wrong: [string, object, string][] = [
    ['an unknown scope', { ...ok, scope: 'team' }, 'scope'],
    ['an unknown window', { ...ok, window: 'weekly ' }, 'window'],
    ['a negative limit', { ...ok, hardLimitUsd: -1 }, 'hardLimitUsd'],
    ['an endless limit', { ...ok, hardLimitUsd: Number.POSITIVE_INFINITY }, 'hardLimitUsd'],
    ['a limit that is no number', { ...ok, hardLimitUsd: '5' }, 'hardLimitUsd'],
    ['a limit beyond exact numbers', { ...ok, hardLimitUsd: 1e9 }, 'hardLimitUsd'],
    ['an entity for the organization', { ...ok, scope: 'org' }, 'entity'],
    ['no entity for a key', { ...ok, entity: undefined }, 'entity: name the label of a key'],
    ['no entity for a virtual model', { ...ok, scope: 'virtual_model', entity: undefined }, 'entity: name a virtual model'],
    ['a second one of scope, entity and window', { ...ok, hardLimitUsd: 2, entity: 'twin' }, 'of budgets.twin'],
  ]
  for (const [name, entry, message] of wrong) {
    it(`refuses ${name} at boot`, async () => {
      const started = site.start({ budgets: { twin: { ...ok, entity: 'twin' }, bad: entry } } as GatewayConfig)
      await expect(started).rejects.toThrow('budgets.bad')
      await expect(started).rejects.toThrow(message)
    })
  }
})

describe('webhooks', () => {
  it('shows endpoints without their secrets', async () => {
    site.env.OPS = SIGNING
    await site.start({
      webhooks: {
        ops: { url: 'https://hooks.example.com/ops', eventTypes: ['budget.crossed'], secret: secret.env('OPS') },
        chat: { url: 'http://hooks.example.com/chat', format: 'discord', enabled: false },
      },
    })
    const webhooks = site.service('webhooks')
    expect(webhooks.list(null)).toMatchObject([
      { id: expect.stringMatching(/^ep_[0-9A-Za-z]{24}$/), eventTypes: ['budget.crossed'], format: 'standard', enabled: true },
      { url: 'http://hooks.example.com/chat', eventTypes: [], format: 'discord', enabled: false },
    ])
    const [ops] = webhooks.list(null)
    expect(webhooks.get(null, ops?.id ?? '')).toBe(ops)
    expect(webhooks.get(4, ops?.id ?? '')).toBeNull()
    expect(JSON.stringify(webhooks.list(null))).not.toContain('whsec')
    const rows = await site.rows('webhooks')
    for (const { secret: sealed } of rows) expect(sealed).toMatch(/^v1\./)
  })

  const ok = { url: 'https://hooks.example.com/x' }
  const wrong: [string, object, string][] = [
    ['what is no URL', { url: 'hooks.example.com' }, 'url'],
    ['another scheme', { url: 'ftp://hooks.example.com' }, 'url'],
    ['credentials in the URL', { url: 'https://me:pass@hooks.example.com' }, 'url: must not hold credentials'],
    ['a loopback address', { url: 'http://127.1/x' }, 'url'],
    ['a metadata address', { url: 'http://169.254.169.254/' }, 'url'],
    ['a private address', { url: 'https://[::ffff:10.0.0.1]/' }, 'url'],
    ['an unknown format', { ...ok, format: 'teams' }, 'format'],
    ['an event that is none', { ...ok, eventTypes: ['everything'] }, 'eventTypes.0'],
    ['a secret of another shape', { ...ok, secret: 'whsec_short' }, 'secret: must be `whsec_`'],
    ['a secret that is not base64', { ...ok, secret: `whsec_${'!'.repeat(40)}` }, 'secret: must be `whsec_`'],
    ['a reference that leads nowhere', { ...ok, secret: secret.env('NOT_SET') }, 'NOT_SET is not set'],
  ]
  for (const [name, entry, message] of wrong) {
    it(`refuses ${name} at boot, without repeating a secret`, async () => {
      const started = site.start({ webhooks: { bad: entry } } as GatewayConfig)
      await expect(started).rejects.toThrow('webhooks.bad')
      await expect(started).rejects.toThrow(message)
      await expect(started).rejects.not.toThrow(/whsec_(short|!)/)
    })
  }

  it('a secret made up for an endpoint stays over edits, one of the file is replaced with it', async () => {
    const sealed = async () => (await site.rows('webhooks')).map((row) => row.secret)
    await site.start({ webhooks: { a: ok } })
    const made = await sealed()
    await site.start({ webhooks: { a: { ...ok, format: 'slack' } } })
    expect(await sealed()).toEqual(made)
    await site.start({ webhooks: { a: { ...ok, secret: SIGNING } } })
    expect(await sealed()).not.toEqual(made)
  })

  it('on the cloud profile takes https only', async () => {
    const started = site.start({ profile: 'cloud', webhooks: { bad: { url: 'http://hooks.example.com/x' } } })
    await expect(started).rejects.toThrow('webhooks.bad.url: must be an https URL')
  })
})

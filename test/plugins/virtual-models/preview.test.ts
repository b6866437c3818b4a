// GET /api/virtual-models/:id/preview: the order that holds now and why, without moving anything; and what
// model lists make of a virtual model.
import { afterEach, describe, expect, it } from 'vitest'
import { text } from '../../../adapters/testing/script.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import { bearer, makeKey } from '../keys/support.ts'
import { type Blocked, blockedAccounts } from './blocked-accounts.ts'
import { refusalOf, type Site, type SiteOptions, seeded, site } from './support.ts'

let s: Site
afterEach(() => s.close())
const start = async (names: string, options?: SiteOptions) => {
  s = await site(names.split(''), options)
}
const targets = (names: string) => names.split('').map((name) => `${name}/m`)

interface Preview {
  cursor: number
  strategy: string
  order: {
    rank: number
    target: string
    draw_probability?: number
    connections_available: number
    connections_total: number
    signals: Record<string, unknown>
  }[]
  dropped: { target: string; reason: string; until?: string; connections: { id: number; reason: string; until?: string }[] }[]
}
const preview = (id: number, query = '') => s.json<Preview>(`/api/virtual-models/${id}/preview${query}`)

const blocked: Blocked = {}
const states = () => blockedAccounts(blocked, { breaker: 'half_open', inflight: 3 })

describe('preview', () => {
  it('says who would be asked, who not and until when, with what is known of the accounts', async () => {
    await start('abc', { plugins: [states()] })
    const { id } = await s.make({
      name: 'vm',
      strategy: 'failover',
      targets: ['b/m', 'a/m', { target: 'c/m', enabled: false }, 'openai/gpt-4o'],
    })
    blocked.b = { reason: 'model_locked', until: Date.UTC(2030, 0, 1) }
    const { order, dropped } = await preview(id)
    delete blocked.b
    expect(order).toEqual([
      {
        rank: 1,
        target: 'a/m',
        weight: 1,
        connections_available: 1,
        connections_total: 1,
        signals: { breaker: 'half_open', inflight: 3 },
      },
    ])
    const until = '2030-01-01T00:00:00.000Z'
    expect(dropped).toEqual([
      { target: 'b/m', reason: 'model_locked', until, connections: [{ id: expect.any(Number), reason: 'model_locked', until }] },
      { target: 'openai/gpt-4o', reason: 'no_connection', connections: [] },
      { target: 'c/m', reason: 'disabled', connections: [] },
    ])
  })

  it('shows the odds of a draw and draws nothing', async () => {
    let draws = 0
    const random = seeded(1)
    await start('abc', {
      options: {
        random: () => {
          draws++
          return random()
        },
      },
    })
    const weights = [1, 3, 0]
    const { id } = await s.make({
      name: 'vm',
      strategy: 'weighted',
      targets: weights.map((weight, index) => ({ target: `${'abc'[index]}/m`, weight })),
    })
    const { order } = await preview(id)
    expect(order.map(({ target, draw_probability }) => [target, draw_probability])).toEqual([
      ['b/m', 0.75],
      ['a/m', 0.25],
      ['c/m', 0],
    ])
    expect(draws).toBe(0)
    await s.askTimes(1, 'vm')
    expect(draws).toBe(1)
  })

  it.each([
    ['the quota of an account is used up', '-day', '7200', { reason: 'quota_exhausted' }],
    ['the rate limit of an account is used up', '', '20s', { reason: 'cooldown', until: expect.any(String) }],
  ])('drops a target when %s, as its vendor’s headers said', async (_, period, reset, drop) => {
    const headers = { [`x-ratelimit-remaining-requests${period}`]: '0', [`x-ratelimit-reset-requests${period}`]: reset }
    await start('ab', { script: { a: [text('a', { headers })] } })
    const { id } = await s.make({ name: 'vm', strategy: 'failover', targets: targets('ab') })
    expect((await s.ask('a/m')).status).toBe(200)
    await s.t.untilSettled(1)
    const { order, dropped } = await preview(id)
    expect(order.map(({ target }) => target)).toEqual(['b/m'])
    expect(dropped).toMatchObject([{ target: 'a/m', ...drop }])
    expect(await s.askTimes(1, 'vm')).toEqual(['b'])
  })

  it('drops a window that the prompt does not fit, unless it fits none', async () => {
    const windows = definePlugin({
      name: 'windows',
      requires: ['modelFacts'],
      setup: (gateway) =>
        gateway.use('modelFacts').layer((provider) => ({ contextWindow: provider === 'a' ? 100 : 5000, capabilities: {} })),
    })
    await start('ab', { plugins: [windows()] })
    const { id } = await s.make({ name: 'vm', strategy: 'failover', targets: targets('ab') })
    const shown = async (tokens: number) => {
      const { order, dropped } = await preview(id, `?input_tokens=${tokens}`)
      return [order.map(({ target }) => target), dropped.map(({ target, reason }) => `${target} ${reason}`)]
    }
    expect(await shown(50)).toEqual([['a/m', 'b/m'], []])
    expect(await shown(500)).toEqual([['b/m'], ['a/m capability']])
    expect(await shown(50_000)).toEqual([['a/m', 'b/m'], []])
    for (const query of ['?input_tokens=x', '?max_tokens=-1', '?other=1'])
      expect(await refusalOf(await s.t.fetch(`/api/virtual-models/${id}/preview${query}`))).toMatchObject({ status: 400 })
    expect((await s.t.fetch('/api/virtual-models/999/preview')).status).toBe(404)
  })
})

describe('a session', () => {
  it('leaves an account that is locked, and comes to stay with the next', async () => {
    await start('ab', { plugins: [states()] })
    await s.make({ name: 'vm', strategy: 'load_balance', targets: targets('ab') })
    const session = { 'x-session-id': 'one' }
    const [first] = await s.askTimes(1, 'vm', session)
    expect(await s.askTimes(2, 'vm', session)).toEqual([first, first])
    blocked[first as string] = { reason: 'model_locked', until: null }
    const [second] = await s.askTimes(1, 'vm', session)
    delete blocked[first as string]
    expect(second).not.toBe(first)
    expect(await s.askTimes(2, 'vm', session)).toEqual([second, second])
  })
})

describe('model lists', () => {
  it('show what the targets have together, and images where images are', async () => {
    await start('a')
    await s.make({ name: 'smart', strategy: 'failover', targets: ['openai/gpt-4o', 'anthropic/claude-sonnet-4-5'] })
    await s.make({ name: 'painter', strategy: 'failover', targets: ['openai/gpt-image-1'], modality: 'image' })
    const headers = bearer((await makeKey(s.t)).key)
    const list = async (path: string) =>
      (await s.json<{ data: Record<string, unknown>[] }>(path, path.startsWith('/v1') ? { headers } : {})).data
    expect((await list('/v1/models')).find(({ id }) => id === 'smart')).toMatchObject({
      owned_by: 'virtual',
      context_window: 200_000,
      max_output_tokens: 16_384,
      mode: 'chat',
      pricing: { input: 3, output: 15 },
    })
    expect((await list('/v1/models/image')).map(({ id }) => id)).toEqual(['painter'])
    for (const path of ['/v1/model_group/info', '/api/models/info'])
      expect((await list(path)).find((one) => one.model_group === 'smart')).toMatchObject({
        providers: ['openai', 'anthropic'],
        supports_vision: true,
      })
    const own = bearer((await makeKey(s.t, { allowed_models: ['smart'] })).key)
    const { data } = await s.json<{ data: { id: string }[] }>('/v1/models', { headers: own })
    expect(data.map(({ id }) => id)).toEqual(['smart'])
  })
})

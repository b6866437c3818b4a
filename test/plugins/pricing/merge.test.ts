// Known prices when a card has another price, or none any more.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FALLBACK_CARD, PRIMARY_CARD } from '../../support/rate-cards/card-server.ts'
import { type World, without, withPrices, world } from './support.ts'

let t: World
beforeEach(async () => {
  t = await world()
  await t.sync()
})
afterEach(() => t.close())

type DriftList = { data: Record<string, unknown>[]; next_cursor: string | null }
const changed = (model: string, prices: object) => ({ body: withPrices(PRIMARY_CARD, model, prices) })
const drifts = (query = '') => t.get<DriftList>(`/api/pricing/drift${query}`)
const metric = async (name: string) => (await (await t.fetch('/metrics')).text()).match(new RegExp(`^${name} (.*)$`, 'm'))?.[1]

describe('a price that moves', () => {
  it('never drifts in the first sync', async () => {
    expect((await drifts()).data).toEqual([])
    expect(t.log.lines.some(({ message }) => message === 'pricing.drift')).toBe(false)
  })

  it('by exactly 25 % is no drift; the price is in use', async () => {
    t.cards.primary = changed('gpt-4o', { input_cost_per_token: 3.125e-6, output_cost_per_token: 7.5e-6 })
    expect(await t.sync()).toMatchObject({ changed: 2, drifted: 0 })
    expect((await t.price('openai/gpt-4o')).prices).toMatchObject({ input: 3.125, output: 7.5 })
    expect((await drifts()).data).toEqual([])
  })

  it('by 25.1 % is: a row, the log, the audit chain, an event, a metric, and the new price is in use', async () => {
    t.cards.primary = changed('gpt-4o', { input_cost_per_token: 3.1275e-6 })
    expect(await t.sync()).toMatchObject({ id: 2, changed: 1, drifted: 1 })
    expect(await t.price('openai/gpt-4o')).toMatchObject({
      prices: { input: 3.1275 },
      price_ref: 'primary:2',
      drift: { flagged: true, pct: 25.1, field: 'input', detected_at: '2026-01-01T00:00:00.000Z' },
    })
    const { data } = await drifts()
    expect(data).toEqual([
      {
        id: 1,
        provider: 'openai',
        model: 'gpt-4o',
        field: 'input',
        old: 2.5,
        new: 3.1275,
        unit: 'usd_per_1m_tokens',
        pct: 25.1,
        run_id: 2,
        detected_at: '2026-01-01T00:00:00.000Z',
        reviewed_at: null,
        reviewed_by: null,
      },
    ])
    const seen = { model: 'openai/gpt-4o', field: 'input', old: 2.5, new: 3.1275, pct: 25.1 }
    expect(t.log.lines.find(({ message }) => message === 'pricing.drift')).toMatchObject({
      level: 'warn',
      fields: { run: 2, drifted: 1, first: [seen] },
    })
    const audit = await t.get<{ data: { actor: string; target: string; details: object }[] }>('/api/audit?action=pricing.drift')
    expect(audit.data).toMatchObject([{ actor: 'system', target: 'run:2', details: { drifted: 1, first: [seen] } }])
    expect(t.events).toEqual([{ run_id: 2, drifted: 1 }])
    expect(await metric('gateway_pricing_drift_open')).toBe('1')
    expect((await t.get<DriftList>('/api/pricing/resolve?drift=true')).data.map(({ model }) => model)).toEqual(['openai/gpt-4o'])
  })

  it('downwards too, in tiers and in media; the limit can be another one', async () => {
    await t.close()
    t = await world({ env: { PRICING_SYNC_DRIFT_PCT: '0.1' } })
    await t.sync()
    t.cards.primary = {
      body: {
        ...withPrices(PRIMARY_CARD, 'claude-tiered', {
          input_cost_per_token_above_200k_tokens: 5.994e-6,
          output_cost_per_token: 1.4984e-5,
        }),
        'hd/1024-x-1024/dall-e-3': { ...PRIMARY_CARD['hd/1024-x-1024/dall-e-3'], output_cost_per_image: 0.0799 },
      },
    }
    expect(await t.sync()).toMatchObject({ changed: 3, drifted: 2 })
    expect((await drifts()).data.map(({ model, field, old, new: now, unit }) => [model, field, old, now, unit])).toEqual([
      ['claude-tiered', 'output', 15, 14.984, 'usd_per_1m_tokens'],
      ['dall-e-3', 'per_image:hd/1024x1024', 0.08, 0.0799, 'usd'],
    ])
  })

  it('is flagged until somebody has looked at it', async () => {
    t.cards.primary = changed('gpt-4o', { input_cost_per_token: 5e-6, output_cost_per_token: 9e-5 })
    await t.sync()
    expect((await t.price('openai/gpt-4o')).drift).toMatchObject({ field: 'output', pct: 800 })
    const [newest, older] = (await drifts()).data
    const first = await drifts('?limit=1')
    expect(first.data).toEqual([newest])
    expect((await drifts(`?cursor=${first.next_cursor}`)).data).toEqual([older])
    for (const id of [newest?.id, older?.id]) {
      const reviewed = await t.fetch(`/api/pricing/drift/${id}/review`, { method: 'POST' })
      expect([reviewed.status, await reviewed.json()]).toMatchObject([
        200,
        { id, reviewed_by: 'local', reviewed_at: '2026-01-01T00:00:00.000Z' },
      ])
    }
    t.jump(1 / 24)
    expect(await (await t.fetch(`/api/pricing/drift/${newest?.id}/review`, { method: 'POST' })).json()).toMatchObject({
      reviewed_at: '2026-01-01T00:00:00.000Z',
    })
    expect((await drifts()).data).toEqual([])
    expect((await drifts('?reviewed=true')).data).toHaveLength(2)
    expect(await t.price('openai/gpt-4o')).toMatchObject({ drift: null, prices: { input: 5 } })
    expect(await metric('gateway_pricing_drift_open')).toBe('0')
    expect((await t.fetch('/api/pricing/drift/999/review', { method: 'POST' })).status).toBe(404)
    const reviews = await t.get<DriftList>('/api/audit?action=pricing.drift_review')
    expect(reviews.data.length).toBe(3)
  })
})

describe('a price that no price can be', () => {
  it('is refused; the one before stays', async () => {
    t.cards.primary = changed('gpt-4o', {
      input_cost_per_token: -2.5e-6,
      output_cost_per_token: 1,
      cache_read_input_token_cost: '1e-6',
    })
    expect(await t.sync()).toMatchObject({ status: 'ok', refused: 2, changed: 1, drifted: 0 })
    expect((await t.price('openai/gpt-4o')).prices).toMatchObject({ input: 2.5, output: 10, cache_read: 1 })
  })

  it('zero is no price either', async () => {
    t.cards.primary = changed('gpt-4o', { input_cost_per_token: 0, output_cost_per_token: null })
    expect(await t.sync()).toMatchObject({ refused: 0, changed: 0 })
    expect(await t.price('openai/gpt-4o')).toMatchObject({
      prices: { input: 2.5, output: 10 },
      stale_since: '2026-01-01T00:00:00.000Z',
    })
  })
})

describe('a price that is not there any more', () => {
  it('is kept for 30 days, and said to be stale', async () => {
    t.cards.primary = { body: without(PRIMARY_CARD, 'openai/house-model') }
    t.jump(1)
    await t.sync()
    expect(await t.price('openai/house-model')).toMatchObject({ prices: { input: 1 }, stale_since: '2026-01-02T00:00:00.000Z' })
    t.jump(30)
    await t.sync()
    expect(await t.price('openai/house-model')).toMatchObject({ source: 'primary', stale_since: '2026-01-02T00:00:00.000Z' })
    t.jump(1 / 86_400)
    await t.sync()
    expect(await t.price('openai/house-model')).toMatchObject({ source: 'none', prices: { unit: 'per_1m_tokens' } })
  })

  it('goes also while the card does not change', async () => {
    t.cards.primary = { body: without(PRIMARY_CARD, 'openai/house-model'), etag: '"v2"' }
    await t.sync()
    t.jump(31)
    expect(await t.sync()).toMatchObject({ status: 'unchanged' })
    expect((await t.price('openai/house-model')).source).toBe('none')
    expect(await t.sync()).toMatchObject({ status: 'unchanged' })
    expect(t.cards.asked.at(-1)?.headers['if-none-match']).toBe('"v2"')
  })

  it('is not stale any more when it comes back', async () => {
    t.cards.primary = { body: without(PRIMARY_CARD, 'openai/house-model') }
    await t.sync()
    t.cards.primary = { body: PRIMARY_CARD }
    t.jump(1)
    await t.sync()
    expect(await t.price('openai/house-model')).toMatchObject({ prices: { input: 1 }, stale_since: null })
  })
})

describe('the fallback', () => {
  const dearer = {
    body: {
      ...FALLBACK_CARD,
      openai: { models: { 'gpt-4o': { cost: { input: 2.6, reasoning: 7 } }, extra: { cost: { input: 1 } } } },
    },
  }
  beforeEach(() => {
    t.cards.primary = { status: 500 }
    t.cards.fallback = dearer
  })

  it('adds what the primary card does not say, and changes nothing that it said within seven days', async () => {
    t.jump(7 - 1 / 86_400_000)
    expect(await t.sync()).toMatchObject({ source: 'fallback', changed: 0 })
    expect(await t.price('openai/gpt-4o')).toMatchObject({
      prices: { input: 2.5, output: 10, reasoning: 7, cache_read: 1.25 },
      source: 'primary',
      stale_since: null,
    })
    expect(await t.price('openai/extra')).toMatchObject({ source: 'fallback', price_ref: 'fallback:2' })
    // A missing model there means nothing.
    expect(await t.price('openai/house-model')).toMatchObject({ source: 'primary', stale_since: null })
  })

  it('counts after that, price by price', async () => {
    t.jump(7)
    expect(await t.sync()).toMatchObject({ source: 'fallback', changed: 1 })
    expect(await t.price('openai/gpt-4o')).toMatchObject({
      prices: { input: 2.6, output: 10, reasoning: 7 },
      source: 'fallback',
      price_ref: 'fallback:2',
      stale_since: null,
    })
    t.cards.primary = { body: PRIMARY_CARD }
    await t.sync()
    expect(await t.price('openai/gpt-4o')).toMatchObject({ prices: { input: 2.5, output: 10, reasoning: 7 }, source: 'primary' })
  })
})

it('failed runs and what was reviewed are forgotten after 90 days; the runs that usage rows name stay', async () => {
  t.cards.primary = changed('gpt-4o', { input_cost_per_token: 5e-6, output_cost_per_token: 9e-5 })
  await t.sync()
  const [one] = (await drifts()).data
  await t.fetch(`/api/pricing/drift/${one?.id}/review`, { method: 'POST' })
  const { primary, fallback } = t.cards
  t.cards.primary = t.cards.fallback = { status: 500 }
  const failed = await t.sync()
  expect(failed).toMatchObject({ status: 'failed' })
  const run = (id: number | null) => t.fetch(`/api/pricing/runs/${id}`)
  expect((await run(failed.id)).status).toBe(200)
  t.cards.primary = primary
  t.cards.fallback = fallback
  t.jump(91)
  t.cards.primary = { body: PRIMARY_CARD }
  await t.sync()
  expect((await run(failed.id)).status).toBe(404)
  for (const id of [1, 2]) {
    expect(await (await run(id)).json()).toMatchObject({ id, status: 'ok', source: 'primary' })
  }
  expect((await drifts('?reviewed=true')).data).toEqual([])
  expect((await drifts()).data.length).toBeGreaterThan(0)
})

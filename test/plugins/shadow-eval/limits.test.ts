// What replays may cost, and whom they must not disturb.
import { afterEach, expect, it } from 'vitest'
import { type Site, site } from './support.ts'

let s: Site
afterEach(() => s?.t.close())

const COST = 0.00018

it('stop for the day when the next one does not fit under the cap, and go on after midnight in UTC', async () => {
  s = await site({ env: { SHADOW_DAILY_USD_BUDGET: '0.0006' } })
  for (let count = 0; count < 5; count++) await s.ask({ max_tokens: 20 })
  await s.sampled(5)
  for (let tries = 0; tries < 100 && (await s.shadow()).today?.stopped_until === null; tries++) {
    await s.clock.advance('8s')
    await new Promise((done) => setTimeout(done, 2))
  }
  const { today, data } = await s.shadow()
  const replays = data.filter(({ state }) => state === 'scored').length
  expect(replays).toBeGreaterThan(0)
  expect(replays).toBeLessThan(5)
  expect(today).toMatchObject({ spent_usd: Number((replays * COST).toFixed(9)), reserved_usd: 0, cap_usd: 0.0006 })
  expect(today?.stopped_until).toBe('2026-11-19T00:00:00.000Z')
  // The gateway samples no request that it could not replay today.
  await s.ask()
  await s.clock.advance('1s')
  expect((await s.shadow()).data).toHaveLength(5)
  s.jump(12 * 3_600_000)
  const next = await s.replayed(replays + 1)
  expect(next.today?.spent_usd).toBeGreaterThan(0)
})

it('count against no budget, now or when a budget is made', async () => {
  s = await site()
  const made = await s.api<{ id: number }>('POST', '/api/budgets', { scope: 'org', window: 'daily', hard_limit_usd: 1 })
  await s.ask()
  await s.replayed()
  await s.t.gateway.committed()
  const later = await s.api<{ id: number }>('POST', '/api/budgets', { scope: 'org', window: 'monthly', hard_limit_usd: 1 })
  const { body } = await s.api<{ data: { id: number; spend_usd: number }[] }>('GET', '/api/budgets')
  const spent = new Map(body.data.map(({ id, spend_usd }) => [id, spend_usd]))
  expect([spent.get(made.body.id), spent.get(later.body.id)]).toEqual([0.0018, 0.0018])
})

it('are apart from the totals of usage, and part of the ranking', async () => {
  s = await site()
  for (let count = 1; count <= 5; count++) await s.ask()
  await s.replayed(5)
  await s.t.gateway.committed()
  await s.clock.advance(1)
  const usage = await s.api('GET', '/api/usage')
  expect(usage.body).toMatchObject({
    totals: { requests: 5, cost_usd: 0.009 },
    shadow: { requests: 5, cost_usd: 0.0009 },
    by_model: [{ model: 'chat/dear', requests: 5 }],
  })
  for (const optimize of ['score', 'cost', 'quality', 'latency']) {
    const { body } = await s.api<{ data: { model: string; quality: number | null; quality_samples: number }[] }>(
      'GET',
      `/api/eval?optimize=${optimize}`,
    )
    const cheap = body.data.find(({ model }) => model === 'cheap')
    expect(cheap).toMatchObject({ quality: 1, quality_samples: 5 })
    expect(body.data.find(({ model }) => model === 'dear')).toMatchObject({ quality: null, quality_samples: 0 })
    if (optimize === 'cost' || optimize === 'quality') expect(body.data[0]).toBe(cheap)
  }
})

it('never fill an account over half of its cap', async () => {
  s = await site({ env: { ACCOUNT_MAX_INFLIGHT: '1' } })
  await s.ask()
  await s.sampled(1)
  await s.clock.advance('40s')
  expect((await s.shadow()).data[0]?.state).toBe('queued')
  expect(s.models()).toEqual(['dear'])
})

it('settle ties of cost when the setting says so', async () => {
  const twins = { work: { strategy: 'failover' as const, targets: ['chat/dear', 'chat/cheap', 'messages/cheap'] } }
  s = await site({
    config: {
      virtualModels: { ...twins, tied: { strategy: 'cost_optimized', targets: ['messages/cheap', 'chat/cheap'] } },
    },
  })
  await s.ask()
  await s.replayed()
  await s.clock.advance('70s')
  const asked = async () => {
    await s.ask({ model: 'tied' }, { 'x-gateway-shadow': 'off' })
    return s.t.settled.at(-1)?.outcome.steps[0]?.provider
  }
  expect(await asked()).toBe('messages')
  await s.api('PUT', '/api/settings', { 'routing.quality_tiebreak': true })
  expect(await asked()).toBe('chat')
})

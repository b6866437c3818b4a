// /api/usage, its split, its time series and the ranking: what the newest rows of a window come to.
import { afterEach, describe, expect, it } from 'vitest'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { row, type UsageSite, usageSite } from './support.ts'

const NOW = Date.UTC(2026, 5, 15, 12, 30)
const HOUR = 3_600_000
const DAY = 24 * HOUR

let s: UsageSite
afterEach(() => s.t.close())
const open = async () => {
  s = await usageSite({ ports: { clock: fakeClock(NOW) } })
}

type Figures = {
  requests: number
  errors: number
  tokens: Record<string, number>
  cost_usd: number
  p50_ms: number
  p95_ms: number
}
type Summary = { truncated: boolean; window: object; totals: Record<string, unknown> } & Record<
  string,
  (Figures & Record<string, string>)[]
>

describe('the summary', () => {
  it('counts requests once, sums what steps used, and says by what', async () => {
    await open()
    await s.insert([
      row({ at: NOW - HOUR, latencyMs: 100, costCenter: 'cc' }),
      row({ at: NOW - 2 * HOUR, latencyMs: 300, status: 502, keyLabel: null, keyId: 7, estimated: true, interrupted: true }),
      row({ at: NOW - 3 * HOUR, requestId: 'two', provider: 'q', virtualModel: 'vm', costNano: 5000, chargeNano: 6000 }),
      row({
        at: NOW - 3 * HOUR,
        requestId: 'two',
        step: 1,
        provider: 'q',
        virtualModel: 'vm',
        model: 'judge',
        costNano: null,
        estimated: true,
      }),
      row({ at: NOW - 4 * HOUR, cached: 'exact', costNano: 0, chargeNano: 0, keyId: null, keyLabel: null }),
      row({ at: NOW - 25 * HOUR, costNano: 1e9 }),
      row({ at: NOW - HOUR, orgId: 5, costNano: 1e9 }),
    ])
    const { body } = await s.get<Summary>('/api/usage')
    expect(body.window).toEqual({ since: new Date(NOW - DAY).toISOString(), until: new Date(NOW).toISOString() })
    expect(body.truncated).toBe(false)
    expect(body.totals).toEqual({
      requests: 4,
      errors: 1,
      cached_requests: 1,
      cost_usd: 7e-6,
      charge_usd: 9e-6,
      usd_saved: 0,
      estimated_tokens: 30,
      estimated_cost_usd: 1e-6,
      estimated_charge_usd: 2e-6,
      unpriced_requests: 1,
      interrupted_requests: 1,
      tokens: { prompt: 50, completion: 25, cache_read: 5, cache_write: 10, reasoning: 15, total: 75 },
    })
    const brief = (name: string) => body[`by_${name}`]?.map((line) => [line[name], line.requests, line.errors, line.cost_usd])
    expect(brief('provider')).toEqual([
      ['q', 1, 0, 5e-6],
      ['p', 3, 1, 2e-6],
    ])
    expect(brief('model')).toEqual([
      ['q/m', 1, 0, 5e-6],
      ['p/m', 3, 1, 2e-6],
      ['q/judge', 0, 0, 0],
    ])
    expect(brief('key')?.map(([name]) => name)).toEqual(['k', '#7'])
    expect(body.by_key?.map(({ key_id }) => key_id)).toEqual([1, 7])
    expect(body.by_model?.map(({ unpriced_requests }) => unpriced_requests)).toEqual([0, 0, 1])
    expect(body.by_provider?.[1]?.last_at).toBe(new Date(NOW - HOUR).toISOString())
    expect(brief('virtual_model')).toEqual([['vm', 1, 0, 5e-6]])
    expect(brief('cost_center')).toEqual([['cc', 1, 0, 1e-6]])
    expect(body.by_provider?.[1]).toMatchObject({ p50_ms: 100, p95_ms: 300 })
  })

  it('tells keys of one label apart, here and over time, and shows one that was renamed by its newest label', async () => {
    await open()
    await s.insert([
      row({ at: NOW - HOUR, keyId: 1, keyLabel: 'ci', costNano: 3000 }),
      row({ at: NOW - HOUR, keyId: 2, keyLabel: 'ci', costNano: 2500 }),
      row({ at: NOW - 2 * HOUR, keyId: 3, keyLabel: 'renamed' }),
      row({ at: NOW - 3 * HOUR, keyId: 3, keyLabel: 'ci' }),
    ])
    const { body } = await s.get<Summary>('/api/usage')
    expect(body.by_key?.map(({ key, requests }) => [key, requests])).toEqual([
      ['ci (#1)', 1],
      ['ci (#2)', 1],
      ['renamed', 2],
    ])
    interface Series {
      data: { group: string; requests: number }[]
    }
    const { data } = (await s.get<Series>('/api/usage/timeseries?group_by=key&bucket=day')).body
    const sums: Record<string, number> = {}
    for (const { group, requests } of data) sums[group] = (sums[group] ?? 0) + requests
    expect(sums).toEqual({ 'ci (#1)': 1, 'ci (#2)': 1, renamed: 2 })
  })

  it('is of the newest hundred thousand rows, and says when there are more', { timeout: 180_000 }, async () => {
    await open()
    const one = row({ at: NOW })
    const made = (i: number) => ({ ...one, requestId: `req_${i}`, at: NOW - HOUR - i, costNano: i < 100_000 ? 1 : 1e9 })
    await s.insert(Array.from({ length: 100_003 }, (_, i) => made(i)))
    const { body } = await s.get<Summary>('/api/usage')
    expect(body.truncated).toBe(true)
    expect(body.totals).toMatchObject({ requests: 100_000, cost_usd: 1e-4 })
    expect((await s.get<Summary>('/api/usage/timeseries')).body.truncated).toBe(true)
    expect((await s.get<Summary>('/api/eval')).body.truncated).toBe(true)
    expect((await s.get<{ totals: { requests: number } }>('/api/reports')).body.totals.requests).toBe(100_003)
  })

  it('splits what the free pool served from what one’s own connections did', async () => {
    await open()
    await s.insert([row({ at: NOW - HOUR }), row({ at: NOW - HOUR, freePool: true, costNano: 500, chargeNano: 0 })])
    expect((await s.get('/api/usage/split')).body).toMatchObject({
      free_pool: { requests: 1, cost_usd: 0, list_price_usd: 5e-7 },
      own_provider: { requests: 1, cost_usd: 1e-6, tokens: { total: 15 } },
      total: { requests: 2, cost_usd: 1e-6 },
    })
  })
})

describe('the window', () => {
  it.each([
    ['', 1],
    ['?window=24h', 1],
    ['?window=7d', 2],
    ['?window=30d', 3],
    ['?window=1h', 0],
    ['?window=24h&back_days=2', 1],
    ['?since=2026-06-15&back_days=1', 0],
    ['?since=2026-06-16&until=2026-06-17&back_days=2', 1],
    ['?since=2026-06-14&until=2026-06-15', 1],
    ['?since=2026-06-10', 2],
    ['?since=2026-06-10&until=2026-06-11', 0],
  ])('%s holds %i requests', async (query, requests) => {
    await open()
    await s.insert([row({ at: Date.UTC(2026, 5, 14, 23) }), row({ at: NOW - 3 * DAY }), row({ at: NOW - 20 * DAY })])
    for (const path of ['/api/usage', '/api/reports'])
      expect((await s.get<Summary>(path + query)).body.totals.requests, path).toBe(requests)
  })

  it.each([
    ['window=2h', 'window'],
    ['back_days=-1', 'back_days'],
    ['back_days=400', 'back_days'],
    ['window=24h&since=2026-06-10', 'window'],
    ['until=2026-06-10', 'until'],
    ['since=2026-06-10&until=2026-06-10', 'until'],
    ['since=2026-06-31', 'since'],
    ['since=yesterday', 'since'],
    ['since=2026-06-10T00:00:00Z', 'since'],
    ['windows=24h', 'windows'],
  ])('%s is 400 and names `%s`', async (query, param) => {
    await open()
    for (const path of ['/api/usage', '/api/usage/split', '/api/usage/timeseries', '/api/eval', '/api/reports']) {
      const { status, body } = await s.get<{ error: { param: string } }>(`${path}?${query}`)
      expect([path, status, body.error.param]).toEqual([path, 400, param])
    }
  })
})

describe('the time series', () => {
  type Series = { bucket: string; data: { ts: string; group?: string; requests: number; cost_usd: number }[] }

  it('has a point for every hour up to two days, and for every day of more; empty ones are zero', async () => {
    await open()
    await s.insert([row({ at: NOW - 30 * 60_000 }), row({ at: NOW - 5 * HOUR }), row({ at: NOW - 3 * DAY })])
    const hours = (await s.get<Series>('/api/usage/timeseries')).body
    expect(hours.bucket).toBe('hour')
    expect(hours.data).toHaveLength(25)
    expect(hours.data.filter(({ requests }) => requests > 0).map(({ ts }) => ts)).toEqual([
      '2026-06-15T07:00:00.000Z',
      '2026-06-15T12:00:00.000Z',
    ])
    const days = (await s.get<Series>('/api/usage/timeseries?window=7d')).body
    expect([days.bucket, days.data.length, days.data.reduce((sum, { requests }) => sum + requests, 0)]).toEqual(['day', 8, 3])
    expect((await s.get<Series>('/api/usage/timeseries?bucket=day')).body.data).toHaveLength(2)
    const minutes = (await s.get<Series>('/api/usage/timeseries?window=1h')).body
    expect([minutes.bucket, minutes.data.filter(({ requests }) => requests > 0).map(({ ts }) => ts)]).toEqual([
      'minute',
      [new Date(NOW - 30 * 60_000).toISOString()],
    ])
  })

  it('tells what happened, and no more, of a window whose empty hours no answer could hold', async () => {
    await open()
    await s.insert([
      row({ at: NOW - HOUR, provider: 'a' }),
      row({ at: NOW - 4 * HOUR }),
      row({ at: NOW - 4 * HOUR, provider: 'a' }),
    ])
    const { data } = (await s.get<Series>('/api/usage/timeseries?bucket=hour&since=1000-01-01&group_by=provider')).body
    expect(data.map(({ ts, group, requests }) => [ts, group, requests])).toEqual([
      ['2026-06-15T08:00:00.000Z', 'a', 1],
      ['2026-06-15T08:00:00.000Z', 'p', 1],
      ['2026-06-15T11:00:00.000Z', 'a', 1],
    ])
  })

  it('has as many lines as groups', async () => {
    await open()
    await s.insert([row({ at: NOW - HOUR, provider: 'a' }), row({ at: NOW - HOUR, provider: 'b' }), row({ at: NOW - 3 * HOUR })])
    const { data } = (await s.get<Series>('/api/usage/timeseries?group_by=provider')).body
    expect(data).toHaveLength(75)
    expect(data.filter(({ requests }) => requests > 0).map(({ group }) => group)).toEqual(['p', 'a', 'b'])
  })
})

describe('the ranking', () => {
  type Ranking = { data: { rank: number; model: string; score: number; success_rate: number; avg_cost_usd: number | null }[] }

  it('orders models by what is optimised, the little used last', async () => {
    await open()
    const calls = (model: string, count: number, of: Partial<Parameters<typeof row>[0]>) =>
      Array.from({ length: count }, () => row({ at: NOW - HOUR, model, ...of }))
    await s.insert([
      ...calls('cheap', 6, { costNano: 10, latencyMs: 900 }),
      ...calls('fast', 8, { costNano: 900, latencyMs: 10 }),
      ...calls('good', 10, { costNano: 500, latencyMs: 500 }),
      ...calls('unpriced', 6, { costNano: null, latencyMs: 700 }),
      ...calls('broken', 6, { costNano: 10, latencyMs: 10, status: 500 }),
      ...calls('new', 2, { costNano: 1, latencyMs: 1 }),
    ])
    const order = async (query: string) => (await s.get<Ranking>(`/api/eval${query}`)).body.data.map(({ model }) => model)
    expect(await order('?optimize=cost')).toEqual(['cheap', 'good', 'fast', 'unpriced', 'new', 'broken'])
    expect(await order('?optimize=latency')).toEqual(['fast', 'good', 'unpriced', 'cheap', 'new', 'broken'])
    expect((await order('?optimize=quality')).at(0)).toBe('good')
    expect(await order('')).toEqual(['cheap', 'good', 'fast', 'unpriced', 'new', 'broken'])
    expect(await order('?limit=2')).toHaveLength(2)
    const { data } = (await s.get<Ranking>('/api/eval')).body
    expect(data.map(({ rank }) => rank)).toEqual([1, 2, 3, 4, 5, 6])
    expect(data.find(({ model }) => model === 'unpriced')?.avg_cost_usd).toBeNull()
    expect(data.find(({ model }) => model === 'broken')?.success_rate).toBe(0)
  })

  it.each([
    'score',
    'cost',
    'latency',
    'quality',
  ])('by %s: models that only failed come last, then those of unknown price', async (optimize) => {
    let seed = 7
    const next = () => {
      seed = (seed * 48_271) % 2_147_483_647
      return seed / 2_147_483_647
    }
    for (let round = 0; round < 5; round++) {
      await open()
      const models = Array.from({ length: 12 }, (_, index) => ({
        model: `m${index}`,
        failed: next() < 0.3,
        count: next() < 0.3 ? 2 : 8,
        costNano: next() < 0.3 ? null : Math.ceil(next() * 1000),
        latencyMs: Math.ceil(next() * 1000),
      }))
      await s.insert(
        models.flatMap(({ model, failed, count, costNano, latencyMs }) =>
          Array.from({ length: count }, () =>
            row({ at: NOW - HOUR, model, latencyMs, ...(failed ? { status: 503, costNano: 0 } : { costNano }) }),
          ),
        ),
      )
      const { data } = (await s.get<Ranking>(`/api/eval?optimize=${optimize}`)).body
      expect(data).toHaveLength(12)
      const of = ({ model }: { model: string }) => models.find((each) => each.model === model) as (typeof models)[number]
      const standing = data
        .map(of)
        .map(({ failed, count, costNano }) => [
          failed ? 2 : count < 5 ? 1 : 0,
          optimize === 'cost' && !failed && costNano === null ? 1 : 0,
        ])
      expect(standing).toEqual([...standing].sort(([a = 0, b = 0], [c = 0, d = 0]) => a - c || b - d))
      for (const each of data) if (of(each).failed) expect(each.avg_cost_usd).toBeNull()
      if (round < 4) await s.t.close()
    }
  })

  it.each([
    ['optimize=bogus', 'optimize'],
    ['limit=0', 'limit'],
    ['limit=many', 'limit'],
  ])('%s is 400 and names `%s`', async (query, param) => {
    await open()
    const { status, body } = await s.get<{ error: { param: string } }>(`/api/eval?${query}`)
    expect([status, body.error.param]).toEqual([400, param])
  })
})

// Usage without a known price, and the groups of a time series.
import { afterEach, describe, expect, it } from 'vitest'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { row, type UsageSite, usageSite } from './support.ts'

const NOW = Date.UTC(2026, 5, 15, 12, 30)
const HOUR = 3_600_000

let s: UsageSite
afterEach(() => s.t.close())
const open = async () => {
  s = await usageSite({ ports: { clock: fakeClock(NOW) } })
}

describe('usage', () => {
  it('counts what has no known price, but no cached answer and no failure that used nothing', async () => {
    await open()
    const unknown = { at: NOW - HOUR, costNano: null, chargeNano: null }
    const nothing = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 }
    await s.insert([
      row({ ...unknown }),
      row({ ...unknown, cached: 'exact' }),
      row({ ...unknown, status: 502, tokens: nothing }),
      row({ ...unknown, status: 502 }),
      row({ at: NOW - HOUR, costNano: 0 }),
    ])
    expect((await s.get<{ totals: object }>('/api/usage')).body.totals).toMatchObject({ requests: 5, unpriced_requests: 2 })
  })

  it.each([
    ['virtual_model', { virtualModel: 'vm' }, ['none', 'vm']],
    ['cost_center', { costCenter: 'cc' }, ['cc', 'none']],
    ['connection', { connectionId: '4' }, ['4', 'none']],
  ])('goes over time by %s', async (group, member, names) => {
    await open()
    await s.insert([row({ at: NOW - HOUR, connectionId: null }), row({ at: NOW - HOUR, connectionId: null, ...member })])
    const { data } = (await s.get<{ data: { group: string; requests: number }[] }>(`/api/usage/timeseries?group_by=${group}`))
      .body
    expect([...new Set(data.filter(({ requests }) => requests > 0).map((point) => point.group))]).toEqual(names)
  })
})

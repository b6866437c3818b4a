// The statement of savings of a month: its sums are those of the receipts, to the nano.
import { afterEach, describe, expect, it } from 'vitest'
import { calendarOf } from '../../../core/timing/calendar.ts'
import { csv, exactUsd, markdown } from '../../../plugins/savings/statement/render.ts'
import { lastMonth, monthOf, statementOf } from '../../../plugins/savings/statement/statement.ts'
import { HOUR, type Site, site } from './support.ts'

let s: Site
afterEach(() => s?.t.close())

interface Shown {
  month: string
  timezone: string
  since: string
  until: string
  is_over: boolean
  kept_since: string | null
  chain: { verified: boolean; receipts: number; first_bad_seq: number | null }
  lines: {
    source: string
    method: string
    basis: string
    baseline: string
    receipts: number
    usd_saved: string
    usd_saved_nano: number
  }[]
  measured: { usd_saved_nano: number; usd_saved: string; tokens_saved: number; receipts: number }
  estimated: { usd_saved_nano: number }
  total: { usd_saved_nano: number; usd_saved: string; tokens_saved: number; receipts: number }
}

const statement = async (query = 'month=2026-11') => (await s.get<Shown>(`/api/savings/statement?${query}`)).body

describe('a statement', () => {
  it('agrees with the totals to the nano, in all three forms', async () => {
    s = await site({ env: HOUR })
    for (let count = 0; count < 3; count++) await s.ask()
    const totals = await s.totals()
    const found = await statement()
    expect(found).toMatchObject({
      month: '2026-11',
      timezone: 'UTC',
      since: '2026-11-01T00:00:00.000Z',
      until: '2026-12-01T00:00:00.000Z',
      is_over: false,
      chain: { verified: true, receipts: 2, first_bad_seq: null },
    })
    expect(found.lines).toEqual([
      expect.objectContaining({ source: 'exact_cache', method: 'measured', basis: 'measured', receipts: 2 }),
    ])
    const nano = (await s.receipts()).reduce((sum, { usd_saved_nano }) => sum + usd_saved_nano, 0)
    expect(nano).toBeGreaterThan(0)
    expect(found.total).toMatchObject({ usd_saved_nano: nano, receipts: totals.receipts, tokens_saved: totals.tokens_saved })
    expect(Number(found.total.usd_saved)).toBe(totals.usd_saved)
    expect(found.measured.usd_saved_nano + found.estimated.usd_saved_nano).toBe(nano)
    const [md, rows] = [
      await s.text('/api/savings/statement?month=2026-11&format=md'),
      await s.text('/api/savings/statement?month=2026-11&format=csv'),
    ]
    expect(md).toContain(`| **Total** |  |  | 2 | ${totals.tokens_saved} | ${exactUsd(nano)} |`)
    expect(md).toContain('a calendar month in UTC')
    expect(md).toContain('All 2 receipts of the chain were verified.')
    expect(rows.split('\r\n').at(-2)).toContain(`,total,,,,2,,${totals.tokens_saved},${exactUsd(nano)},${nano},true`)
  })

  it('is of the last month that is over when none is named, and refuses other words', async () => {
    s = await site()
    expect(await statement('')).toMatchObject({ month: '2026-10', is_over: true, lines: [], total: { usd_saved: '0.000000000' } })
    for (const month of ['2026-13', '26-11', '2026-11-01'])
      expect(await s.get(`/api/savings/statement?month=${month}`)).toMatchObject({
        status: 400,
        body: { error: { param: 'month' } },
      })
  })

  it('says when receipts of the month may be gone', async () => {
    s = await site({ env: { USAGE_RETENTION_DAYS: '10' } })
    expect((await statement()).kept_since).toBe('2026-11-11T12:00:00.000Z')
    expect(await s.text('/api/savings/statement?month=2026-11&format=md')).toContain('this month is not whole')
    await s.t.close()
    s = await site({ env: { USAGE_RETENTION_DAYS: '0' } })
    expect((await statement()).kept_since).toBe(null)
  })

  it('has the months of the zone of budgets', async () => {
    s = await site({ env: { BUDGET_TIMEZONE: 'Europe/Berlin' } })
    expect(await statement('month=2026-03')).toMatchObject({
      timezone: 'Europe/Berlin',
      since: '2026-02-28T23:00:00.000Z',
      until: '2026-03-31T22:00:00.000Z',
    })
  })
})

describe('months', () => {
  it.each(['UTC', 'Pacific/Kiritimati', 'Pacific/Pago_Pago', 'America/New_York'])('follow each other in %s', (zone) => {
    const calendar = calendarOf(zone)
    let end: number | null = null
    for (let month = 1; month <= 12; month++) {
      const name = `2026-${String(month).padStart(2, '0')}`
      const { since, until } = monthOf(calendar, name)
      if (end !== null) expect(since).toBe(end)
      expect(lastMonth(calendar, until)).toBe(name)
      end = until
    }
  })
})

it('amounts have nine digits', () => {
  expect([0, 1, -1, 999_999_999, 1_000_000_000, -12_345_678_901].map(exactUsd)).toEqual([
    '0.000000000',
    '0.000000001',
    '-0.000000001',
    '0.999999999',
    '1.000000000',
    '-12.345678901',
  ])
})

it('names of other plugins bring no markup and no formula', async () => {
  const sources = {
    db: { all: async () => [{ source: '=cmd|`x`', method: 'counterfactual', receipts: 1, tokens: 1, nano: 5, unpriced: 1 }] },
    calendar: calendarOf('UTC'),
    now: 0,
    retentionDays: 0,
    verified: async () => ({ ok: false, count: 3, first_bad_seq: 2 }),
  }
  const made = await statementOf(sources as never, null, '2026-11')
  expect(markdown(made)).toContain('| `=cmdx` |')
  expect(markdown(made)).toContain('broken at 2')
  expect(csv(made)).toContain(",'=cmd|`x`,")
})

// The markup: what an organization pays for calls that the gateway's own connections served.
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { chargeOf, withMarkup } from '../../../plugins/pricing/markup.ts'
import { answer, type PoolSite, poolSite } from '../free-pool/support.ts'

const percent = fc.integer({ min: 0, max: 2_000_000 }).map((tenThousandths) => tenThousandths / 10_000)
const cost = fc.integer({ min: 0, max: 1_000_000_000_000 })

describe('a charge', () => {
  it('is the exact product, rounded up once', () => {
    fc.assert(
      fc.property(cost, percent, (nano, pct) => {
        const exact = BigInt(nano) * (1_000_000n + BigInt(Math.round(pct * 10_000)))
        const charge = BigInt(withMarkup(nano, pct)) * 1_000_000n
        expect(charge >= exact && charge - exact < 1_000_000n).toBe(true)
      }),
    )
  })

  it('is the cost without a markup, and grows with it', () => {
    fc.assert(
      fc.property(cost, percent, percent, (nano, a, b) => {
        expect(withMarkup(nano, 0)).toBe(nano)
        expect(withMarkup(nano, Math.min(a, b))).toBeLessThanOrEqual(withMarkup(nano, Math.max(a, b)))
      }),
    )
  })

  it('of many rows is above the exact one by less than one nano a row', () => {
    fc.assert(
      fc.property(fc.array(cost, { maxLength: 50 }), percent, (rows, pct) => {
        const charged = rows.reduce((sum, nano) => sum + BigInt(withMarkup(nano, pct)), 0n) * 1_000_000n
        const exact = rows.reduce((sum, nano) => sum + BigInt(nano), 0n) * (1_000_000n + BigInt(Math.round(pct * 10_000)))
        expect(charged - exact >= 0n && charged - exact <= BigInt(rows.length) * 1_000_000n).toBe(true)
      }),
    )
  })

  const rules = { pct: 20, byOrg: { 8: 0, 9: 50 } }
  const call = { connection: {} as never, model: 'm', operation: 'chat', usage: {} as never } as const
  it.each([
    ['the gateway’s own organization', null, null, 100],
    ['an organization on its own connection', 7, 7, 100],
    ['an organization on the gateway’s connection', null, 7, 120],
    ['one with a markup of 0 of its own', null, 8, 100],
    ['one with a markup of 50 of its own', null, 9, 150],
  ])('of %s', (_, owner, orgId, charge) => {
    expect(chargeOf(100, owner, { ...call, orgId }, rules)).toBe(charge)
  })

  it('of a call whose payer is not named is the cost', () => {
    expect(chargeOf(100, null, { ...call, orgId: null }, rules)).toBe(100)
  })
})

describe('a markup of the settings', () => {
  let s: PoolSite
  afterEach(() => s.t.close())
  const COST = 60 * 1000 + 40 * 10_000
  const settings = { 'free_pool.charged': true, 'billing.markup_pct': 12.5, 'billing.markup_pct_by_org': { 8: 0.0003 } } as never
  const charges = async () => (await s.rows()).map(({ orgId, costNano, chargeNano }) => [orgId, costNano, chargeNano])

  it('is stored with the row: a later change applies to later calls', async () => {
    s = await poolSite({ config: { settings } })
    for (const org of [7, 8, 0]) expect(await s.use(org)).toBe(200)
    s.clock.jump(1)
    await s.api(0, '/api/settings', { method: 'PUT', body: { billing: { markup_pct: 100 } } })
    expect(await s.use(7)).toBe(200)
    expect((await charges()).sort()).toEqual(
      [
        [7, COST, COST * 1.125],
        [8, COST, COST + 2],
        [null, COST, COST],
        [7, COST, COST * 2],
      ].sort(),
    )
  })

  it('shows in reports and usage as the sum of the rows, and budgets count it', async () => {
    s = await poolSite({ config: { settings }, upstream: [answer(7, 3), answer(11, 1), answer(1, 0)] })
    const budget = { scope: 'org', window: 'daily', hard_limit_usd: 1 }
    await s.api(7, '/api/budgets', { method: 'POST', body: budget })
    for (let i = 0; i < 3; i++) expect(await s.use(7)).toBe(200)
    const rows = await s.rows()
    const charged = rows.reduce((sum, { chargeNano }) => sum + (chargeNano ?? 0), 0)
    const cost = rows.reduce((sum, { costNano }) => sum + (costNano ?? 0), 0)
    expect(charged).toBeGreaterThan(cost)
    s.clock.jump(1)
    const report = await s.api<{ totals: { cost_usd: number; charge_usd: number } }>(7, '/api/reports?window=24h')
    expect(report.totals).toMatchObject({ cost_usd: cost / 1e9, charge_usd: charged / 1e9 })
    expect(await s.api(7, '/api/usage')).toMatchObject({ totals: { cost_usd: cost / 1e9, charge_usd: charged / 1e9 } })
    const { data } = await s.api<{ data: { spend_usd: number }[] }>(7, '/api/budgets')
    expect(data[0]?.spend_usd).toBe(charged / 1e9)
  })

  it('is in the reservation of a budget, which therefore holds', async () => {
    const doubled = { 'free_pool.charged': true, 'billing.markup_pct': 100 } as never
    s = await poolSite({ config: { settings: doubled } })
    const probe = await s.api<{ id: number }>(7, '/api/budgets', {
      method: 'POST',
      body: { scope: 'org', window: 'daily', hard_limit_usd: (40 * 10_000 * 2 - 1) / 1e9 },
    })
    expect(probe.id).toBeGreaterThan(0)
    expect((await s.ask(7)).status).toBe(402)
    expect(s.t.upstream.requests).toHaveLength(0)
  })

  it('changes nothing for a single user', async () => {
    s = await poolSite({ config: { settings } })
    expect(await s.use(0, { model: 'chat/m' })).toBe(200)
    expect(await charges()).toEqual([[null, COST, COST]])
  })
})

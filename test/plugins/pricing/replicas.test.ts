// Several gateways over one database: one fetches, the others follow, and a change on one applies to all within two seconds.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type FakeClock, fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { PriceService } from '../../../core/services.ts'
import type { Connection } from '../../../core/types/ports/provider.ts'
import { whileTimePasses } from '../../support/passing-time.ts'
import { type TestPostgres, testPostgres, whyNoPostgres } from '../../support/postgres.ts'
import { type CardServer, cardServer, PRIMARY_CARD } from '../../support/rate-cards/card-server.ts'
import { MASTER_KEY } from '../connections/support.ts'
import { type Price, withPrices } from './support.ts'

const missing = await whyNoPostgres()

describe.skipIf(missing !== null)(`two gateways on one PostgreSQL${missing === null ? '' : ` (skipped: ${missing})`}`, () => {
  let database: TestPostgres
  let cards: CardServer
  let gateways: TestGateway[]
  let clock: FakeClock
  const prices: PriceService[] = []
  beforeAll(async () => {
    database = await testPostgres()
    cards = await cardServer()
    cards.primary = { body: PRIMARY_CARD, etag: '"v1"' }
    const env = {
      PRICING_SYNC_ENABLED: 'true',
      DATABASE_URL: database.url,
      MASTER_KEY,
      ...cards.urls,
      PRICING_SYNC_INTERVAL_SECS: '3600',
    }
    const witness = () =>
      definePlugin({
        name: 'witness',
        requires: ['prices'],
        setup: (gateway) => void prices.push(gateway.use('prices')),
      })()
    clock = fakeClock()
    const start = () => createTestGateway({ env, plugins: [witness()], ports: { clock } })
    gateways = [await start(), await start()]
  })
  afterAll(async () => {
    for (const gateway of gateways) await gateway.close()
    await cards.close()
    await database.drop()
  })
  const resolved = async (at: number, model: string) =>
    (await (await (gateways[at] as TestGateway).fetch(`/api/pricing/resolve?model=${model}`)).json()) as Price
  const costAt = (at: number) =>
    prices[at]?.price({
      connection: { id: '1', provider: 'openai', baseUrl: 'https://api.example.com' } as unknown as Connection,
      model: 'house-model',
      operation: 'chat',
      usage: { inputTotal: 1_000_000, cacheRead: 0, cacheWrite: 0, outputTotal: 0, total: 0, estimated: false, raw: null },
    })

  it('fetch at their start, and both have the card', async () => {
    const both = () => Promise.all([0, 1].map(async (at) => (await resolved(at, 'openai/house-model')).source))
    await whileTimePasses(clock, both).toEqual(['primary', 'primary'])
    expect(cards.asked.length).toBeLessThanOrEqual(2)
    for (const at of [0, 1]) expect(costAt(at)).toMatchObject({ costNano: 1_000_000_000, ref: 'primary:1' })
  })

  it('an override made on one is what calls cost on the other', async () => {
    const put = await gateways[0]?.fetch('/api/pricing/overrides', {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ data: [{ model: 'openai/house-*', input: 7 }] }),
    })
    expect(put?.status).toBe(200)
    expect(costAt(0)).toMatchObject({ costNano: 7_000_000_000, ref: 'override' })
    await whileTimePasses(clock, () => costAt(1)).toMatchObject({ costNano: 7_000_000_000, ref: 'override' })
    await gateways[1]?.fetch('/api/pricing/overrides', {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ data: [] }),
    })
    await whileTimePasses(clock, () => costAt(0)).toMatchObject({ costNano: 1_000_000_000 })
  })

  it('a sync on one, and its drift, are seen on the other', async () => {
    cards.primary = { body: withPrices(PRIMARY_CARD, 'openai/house-model', { input_cost_per_token: 2e-6 }), etag: '"v2"' }
    const run = (await (await gateways[1]?.fetch('/api/pricing/sync', { method: 'POST' }))?.json()) as {
      id: number
      status: string
    }
    expect(run).toMatchObject({ status: 'ok', drifted: 1 })
    await whileTimePasses(clock, () => costAt(0)).toMatchObject({ costNano: 2_000_000_000, ref: `primary:${run.id}` })
    expect(await resolved(0, 'openai/house-model')).toMatchObject({ prices: { input: 2 }, drift: { pct: 100 } })
  })

  it('asked at once, one fetches', async () => {
    const before = cards.asked.length
    // The fetching one has the card when the other was refused.
    let sentAway = 0
    cards.primary = { ...(cards.primary as object), hold: () => expect.poll(() => sentAway).toBe(1) }
    const sync = async (gateway: TestGateway) => {
      const answer = await gateway.fetch('/api/pricing/sync', { method: 'POST' })
      if (answer.status === 409) sentAway++
      return answer
    }
    const answers = await Promise.all(gateways.map(sync))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
    expect(cards.asked.length).toBe(before + 1)
  })
})

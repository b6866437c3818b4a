// `auto`: what is eligible, who goes first, and when there is nobody.
import { afterEach, describe, expect, it } from 'vitest'
import { fail, text } from '../../../adapters/testing/script.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { ModelFacts } from '../../../plugins/catalog/service.ts'
import { autoModel } from '../../../plugins/virtual-models/names/auto.ts'
import type { Knowledge } from '../../../plugins/virtual-models/planning/model-facts.ts'
import { latencyTable } from '../../../plugins/virtual-models/strategies/latency-table.ts'
import { bearer, makeKey } from '../keys/support.ts'
import { contentOf, refusalOf, type Site, type SiteOptions, site } from './support.ts'

let s: Site

const priced = (usd: number, more: Partial<ModelFacts> = {}): Partial<ModelFacts> => ({
  mode: 'chat',
  price: { input: usd * 1e9, output: usd * 1e9 },
  capabilities: { vision: true },
  ...more,
})
const KNOWN: Record<string, Partial<ModelFacts>> = {
  'a/dear': priced(10),
  'a/blind': priced(0.1, { capabilities: { vision: false } }),
  'b/cheap': priced(1),
  'b/embed': priced(0.01, { mode: 'embedding' }),
}
const facts = definePlugin({
  name: 'facts',
  requires: ['modelFacts'],
  setup: (gateway) => gateway.use('modelFacts').layer((provider, model) => KNOWN[`${provider}/${model}`] ?? null),
})
const start = async (allowed: Record<string, string[]>, options: SiteOptions = {}) => {
  s = await site(Object.keys(allowed), {
    ...options,
    plugins: [facts()],
    narrow: allowed,
  })
}
const image = [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }] }]
const models = () => Object.values(s.up).flatMap(({ requests }) => requests.map(({ json }) => json.model))

describe('auto', () => {
  afterEach(() => s.close())

  it('asks the cheapest that can serve the request, and the next one after a failure', async () => {
    await start({ a: ['dear', 'blind', 'unheard-of'], b: ['cheap', 'embed'] })
    expect(contentOf(await (await s.ask('auto')).json())).toBe('a')
    expect(contentOf(await (await s.ask('auto', { messages: image })).json())).toBe('b')
    s.up.a?.script(fail(500), text('a'))
    expect(contentOf(await (await s.ask('auto')).json())).toBe('b')
    expect(models().sort()).toEqual(['blind', 'blind', 'cheap', 'cheap'])
  })

  it('is listed where somebody is eligible, and refused where nobody is', async () => {
    await start({ a: ['unheard-of'] })
    const headers = () => makeKey(s.t).then(({ key }) => bearer(key))
    const listed = async () =>
      (await s.json<{ data: { id: string; targets?: string[] }[] }>('/v1/models', { headers: await headers() })).data.find(
        ({ id }) => id === 'auto',
      )
    expect(await listed()).toBeUndefined()
    expect(await refusalOf(await s.ask('auto'))).toMatchObject({ status: 400, param: 'model' })
    expect((await refusalOf(await s.ask('auto'))).message).toContain('`auto` has no eligible model')
    await s.t.post('/api/providers', { provider: 'echo' })
    expect(await listed()).toMatchObject({ owned_by: 'virtual', targets: expect.arrayContaining(['echo/echo-1']) })
    expect((await s.ask('auto')).status).toBe(200)
  })

  it('loses to a row of that name', async () => {
    await start({ a: ['dear'], b: ['cheap'] })
    expect(contentOf(await (await s.ask('auto')).json())).toBe('b')
    await s.make({ name: 'auto', strategy: 'failover', targets: ['a/dear'] })
    expect(contentOf(await (await s.ask('auto')).json())).toBe('a')
  })
})

describe('its ranking', () => {
  /** Models `up/<name>` by price in USD; null: not known. */
  const ranked = (
    prices: Record<string, number | null>,
    breakers: Record<string, string> = {},
    left: Record<string, number> = {},
  ) => {
    let now = 0
    const latency = latencyTable(() => now)
    const known = (model: string): Partial<ModelFacts> => {
      const price = prices[model]
      return price === null || price === undefined ? { mode: 'chat', contextWindow: 1000 } : priced(price)
    }
    const offered = {
      all: Object.keys(prices).map((model) => ({ provider: 'up', model, isDefault: false })),
      has: () => false,
      providersOf: () => [],
    }
    const knowledge: Knowledge = {
      facts: (_orgId, _provider, model) => ({ capabilities: {}, ...known(model) }),
      cost: () => null,
      listedPrice: () => null,
      offered: () => offered,
      accounts: (_orgId, { model }) => {
        const connection = { id: model } as never
        return breakers[model] === 'open'
          ? { total: 1, considered: 1, available: [], blocked: [{ connection, reason: 'circuit_open', until: 1 }] }
          : { total: 1, considered: 1, available: [connection], blocked: [] }
      },
      quality: () => null,
      quotaLeft: ({ id }) => left[id] ?? null,
      stateOf: ({ id }) => ({ breaker: breakers[id] ?? 'closed' }) as never,
    }
    const auto = autoModel({ knowledge, latency: () => latency, monotonic: () => now, now: 0 })
    const order = () => auto.compiled(null).targets.map(({ model }) => model)
    const wait = (ms: number) => {
      now += ms
    }
    return { order, latency, wait }
  }

  it('puts health before price, an unknown price behind a middling one, and leaves out who cannot be asked', () => {
    const prices = { dear: 30, middle: 20, cheap: 1, unknown: null, shaky: 1, gone: 1 }
    const { order } = ranked(prices, { shaky: 'half_open', gone: 'open' })
    // 0.35 for health and 0.25 for the rank of the price, 0.3 of it where that is not known; equals by name.
    expect(order()).toEqual(['cheap', 'middle', 'shaky', 'unknown', 'dear'])
  })

  it('counts what is left of the quota; what is not known counts as half', () => {
    const { order } = ranked({ a: 1, b: 1, c: 1, d: 1 }, {}, { a: 0.1, b: 0.4, d: 0.9 })
    expect(order()).toEqual(['d', 'c', 'b', 'a'])
  })

  it('lists who has to rest when nobody else is there: that is no reason to call the name unknown', () => {
    expect(ranked({ a: 2, b: 1 }, { a: 'open', b: 'open' }).order()).toEqual(['b', 'a'])
  })

  it('follows failures and measurements once a second', () => {
    const { order, latency, wait } = ranked({ a: 1, b: 1 })
    expect(order()).toEqual(['a', 'b'])
    latency.answered('up/a', false, 900)
    latency.answered('up/b', false, 100)
    expect(order()).toEqual(['a', 'b'])
    wait(1001)
    expect(order()).toEqual(['b', 'a'])
    for (let i = 0; i < 3; i++) latency.failed('up/b', false)
    wait(1001)
    expect(order()).toEqual(['a', 'b'])
  })
})

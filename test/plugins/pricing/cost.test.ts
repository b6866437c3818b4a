// The cost of a call: manual arithmetic, rounding, and the same through a real request.
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { reply } from '../../../adapters/testing/script.ts'
import { scriptedUpstream } from '../../../adapters/testing/scripted-upstream.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { ModelPrice, TokenPrices } from '../../../core/types/ports/prices.ts'
import type { Connection } from '../../../core/types/ports/provider.ts'
import type { Usage } from '../../../core/types/request/answer.ts'
import { tokenCost } from '../../../plugins/pricing/token-cost.ts'
import { ask } from '../keys/support.ts'
import { type World, world } from './support.ts'

const usage = (given: Partial<Usage>): Usage => ({
  inputTotal: 0,
  cacheRead: 0,
  cacheWrite: 0,
  outputTotal: 0,
  total: 0,
  estimated: false,
  raw: null,
  ...given,
})
/** USD per million tokens. */
const usd = (amount: number) => Math.round(amount * 1e9)

describe('the cost of tokens', () => {
  const price: ModelPrice = { input: usd(3), output: usd(15), cacheRead: usd(0.3), cacheWrite: usd(3.75), cacheWrite1h: usd(6) }
  const cost = (given: Partial<Usage>, at: ModelPrice = price) => tokenCost(at, usage(given))

  it('counts what is fresh, read from the cache and written to it once each', () => {
    // 1000 at 3, 200 at 0.3, 100 at 3.75, 50 at 6, 70 at 15: in thousands of nano-USD.
    const all = { inputTotal: 1350, cacheRead: 200, cacheWrite: 150, cacheWrite1h: 50, outputTotal: 70 }
    expect(cost(all)).toBe(1000 * 3000 + 200 * 300 + 100 * 3750 + 50 * 6000 + 70 * 15_000)
  })

  it('a kind without a price of its own costs what input and output cost', () => {
    const plain = { input: usd(2), output: usd(8) }
    const all = { inputTotal: 100, cacheRead: 30, cacheWrite: 20, cacheWrite1h: 5, inputAudio: 10, inputImage: 10 }
    expect(cost({ ...all, outputTotal: 50, reasoning: 20, outputAudio: 5 }, plain)).toBe(100 * 2000 + 50 * 8000)
    expect(cost({ inputTotal: 10, cacheWrite: 10, cacheWrite1h: 10 }, { ...plain, cacheWrite: usd(3) })).toBe(10 * 3000)
  })

  it('reasoning, audio and images cost their own where they have one', () => {
    const own = { ...price, reasoning: usd(20), inputAudio: usd(40), outputAudio: usd(80), inputImage: usd(5) }
    const all = { inputTotal: 100, inputAudio: 10, inputImage: 20, outputTotal: 60, reasoning: 30, outputAudio: 10 }
    expect(cost(all, own)).toBe(70 * 3000 + 10 * 40_000 + 20 * 5000 + 20 * 15_000 + 30 * 20_000 + 10 * 80_000)
  })

  it('a tier is of the whole call, above its threshold and not at it', () => {
    const tiered = {
      ...price,
      tiers: [
        { above: 128_000, input: usd(6) },
        { above: 200_000, input: usd(9), output: usd(20) },
      ],
    }
    expect(cost({ inputTotal: 128_000, outputTotal: 10 }, tiered)).toBe(128_000 * 3000 + 10 * 15_000)
    expect(cost({ inputTotal: 128_001, outputTotal: 10 }, tiered)).toBe(128_001 * 6000 + 10 * 15_000)
    expect(cost({ inputTotal: 200_001, outputTotal: 10 }, tiered)).toBe(200_001 * 9000 + 10 * 20_000)
    expect(cost({ inputTotal: 200_001, cacheRead: 200_000 }, tiered)).toBe(1 * 9000 + 200_000 * 300)
  })

  it('a service counts when the usage says that it was served so', () => {
    const served = {
      ...price,
      services: { batch: { input: usd(1.5) }, priority: { input: usd(5), tiers: [{ above: 100, input: usd(7) }] } },
    }
    expect(cost({ inputTotal: 10, outputTotal: 1 }, served)).toBe(10 * 3000 + 15_000)
    expect(cost({ inputTotal: 10, outputTotal: 1, raw: { service_tier: 'batch' } }, served)).toBe(10 * 1500 + 15_000)
    expect(cost({ inputTotal: 101, raw: { service_tier: 'priority' } }, served)).toBe(101 * 7000)
    for (const raw of [{ service_tier: 'standard' }, { service_tier: 'constructor' }, ['batch'], 'batch'])
      expect(cost({ inputTotal: 10, raw: raw as never }, { ...served, tiers: [] }), JSON.stringify(raw)).toBe(10 * 3000)
  })

  it('searches of the provider cost theirs', () => {
    const searching = { ...price, webSearch: 10_000_000_000_000 }
    expect(cost({ inputTotal: 10, serverTools: { web_search_requests: 3, code_execution: 9 } }, searching)).toBe(
      30_000 + 3 * 10_000_000,
    )
    expect(cost({ inputTotal: 10, serverTools: { web_search_requests: 3 } })).toBe(30_000)
  })

  it('is rounded up once', () => {
    expect(cost({ inputTotal: 1 }, { input: 1 })).toBe(1)
    expect(cost({ inputTotal: 1_000_000 }, { input: 1 })).toBe(1)
    expect(cost({ inputTotal: 1_000_001 }, { input: 1 })).toBe(2)
    expect(cost({ inputTotal: 1, outputTotal: 1 }, { input: 1, output: 1 })).toBe(1)
    // Close to 2^53 a floating-point quotient would be a whole number.
    expect(cost({ inputTotal: 1, outputTotal: 1 }, { input: 9_007_199_254_000_000, output: 1 })).toBe(9_007_199_255)
    // And beyond it.
    expect(cost({ inputTotal: 4_000_000, outputTotal: 1 }, { input: usd(15), output: 1 })).toBe(60_000_000_001)
    expect(cost({ inputTotal: Number.MAX_SAFE_INTEGER }, { input: usd(1e6) })).toBe(Number.MAX_SAFE_INTEGER)
  })

  it('counters that make no sense cost nothing, and never less', () => {
    for (const count of [-5, Number.NaN, Number.POSITIVE_INFINITY, 1e300])
      expect(cost({ inputTotal: count, outputTotal: count })).toBe(0)
    // More cached tokens than prompt tokens.
    expect(cost({ inputTotal: 10, cacheRead: 50, cacheWrite: 50 })).toBe(10 * 300)
    expect(cost({ outputTotal: 10, reasoning: 99 }, { output: usd(1), reasoning: usd(2) })).toBe(10 * 2000)
    expect(cost({ inputTotal: 1.5 })).toBe(2 * 3000)
  })

  it('the sum of rows is at most a nano a row above the exact cost', () => {
    const tokens = fc.oneof(fc.nat(5000), fc.nat(3_000_000))
    const nano = fc.oneof(fc.nat(100), fc.nat(usd(100)), fc.constant(undefined))
    const prices: fc.Arbitrary<TokenPrices> = fc.record({
      input: nano,
      output: nano,
      cacheRead: nano,
      cacheWrite: nano,
      cacheWrite1h: nano,
      reasoning: nano,
      inputAudio: nano,
      outputAudio: nano,
    }) as fc.Arbitrary<TokenPrices>
    const row = fc.record({
      fresh: tokens,
      read: tokens,
      short: tokens,
      long: tokens,
      audio: tokens,
      out: tokens,
      thought: tokens,
      spoken: tokens,
    })
    fc.assert(
      fc.property(prices, fc.array(row, { minLength: 1, maxLength: 20 }), (given, rows) => {
        let exact = 0n
        let booked = 0n
        for (const { fresh, read, short, long, audio, out, thought, spoken } of rows) {
          const inputTotal = fresh + read + short + long + audio
          booked += BigInt(
            tokenCost(
              given,
              usage({
                inputTotal,
                cacheRead: read,
                cacheWrite: short + long,
                cacheWrite1h: long,
                inputAudio: audio,
                outputTotal: out + thought + spoken,
                reasoning: thought,
                outputAudio: spoken,
              }),
            ),
          )
          const { input = 0, output = 0 } = given
          const write = given.cacheWrite ?? input
          const products: [number, number][] = [
            [fresh, input],
            [read, given.cacheRead ?? input],
            [short, write],
            [long, given.cacheWrite1h ?? write],
            [audio, given.inputAudio ?? input],
            [out, output],
            [thought, given.reasoning ?? output],
            [spoken, given.outputAudio ?? output],
          ]
          for (const [count, each] of products) exact += BigInt(count) * BigInt(each)
        }
        const above = booked * 1_000_000n - exact
        expect(above >= 0n && above < BigInt(rows.length) * 1_000_000n).toBe(true)
      }),
      { seed: 3, numRuns: 1000 },
    )
  })
})

describe('a request', () => {
  let t: World
  let far: Awaited<ReturnType<typeof scriptedUpstream>>
  beforeAll(async () => {
    far = await scriptedUpstream()
    t = await world({
      config: {
        connections: {
          openai: { provider: 'openai', baseUrl: far.baseUrl('chat'), wireFormat: 'chat', apiKey: 'sk-x' },
          anthropic: { provider: 'anthropic', baseUrl: far.baseUrl('messages'), wireFormat: 'messages', apiKey: 'sk-x' },
          acme: { provider: 'custom', baseUrl: far.baseUrl('chat'), wireFormat: 'chat', apiKey: 'sk-x' },
          echo: { provider: 'echo' },
        },
      },
    })
    await t.sync()
  })
  afterAll(async () => {
    await t.close()
    await far.close()
  })
  const sent = async (model: string, path = '/v1/chat/completions', body: object = {}) => {
    const before = t.settled.length
    const response = await t.post(path, { ...ask(model), max_tokens: 100, ...body })
    expect(await response.text(), model).not.toContain('"error"')
    await t.untilSettled(before + 1)
    return t.settled.at(-1)?.outcome
  }

  it('costs what its answer says that it used', async () => {
    far.push(reply({ text: 'hello', usage: { input: 1000, output: 200, cacheRead: 400 } }))
    // 600 × 2.5, 400 × 1.25, 200 × 10 USD per million.
    expect(await sent('openai/gpt-4o')).toMatchObject({
      costNano: 1_500_000 + 500_000 + 2_000_000,
      chargeNano: 4_000_000,
      steps: [{ provider: 'openai', model: 'gpt-4o', costNano: 4_000_000, chargeNano: 4_000_000, priceRef: 'primary:1' }],
    })
  })

  it('costs the same streamed, and by another format', async () => {
    far.push(reply({ text: 'hello', usage: { input: 1000, output: 200, cacheRead: 400 } }))
    expect(await sent('openai/gpt-4o', '/v1/chat/completions', { stream: true })).toMatchObject({ costNano: 4_000_000 })
    far.push(reply({ text: 'hello', usage: { input: 300_000, output: 200 } }))
    expect(await sent('anthropic/claude-tiered')).toMatchObject({ costNano: 300_000 * 6000 + 200 * 22_500 })
  })

  it('costs nothing on this machine when no price is known, and what an override says when there is one', async () => {
    far.push(reply({ text: 'hello', usage: { input: 10, output: 20 } }))
    expect(await sent('acme/own-model')).toMatchObject({ costNano: 0, steps: [{ priceRef: 'builtin' }] })
    // The price of another provider's model with this name does not apply to a local model.
    far.push(reply({ text: 'hello', usage: { input: 10, output: 20 } }))
    expect(await sent('acme/meta/lone-model')).toMatchObject({ costNano: 0, steps: [{ priceRef: 'builtin' }] })
    expect((await t.put({ data: [{ model: 'acme/*', input: 1, output: 2 }] })).status).toBe(200)
    far.push(reply({ text: 'hello', usage: { input: 10, output: 20 } }))
    expect(await sent('acme/own-model')).toMatchObject({ costNano: 50_000, steps: [{ priceRef: 'override' }] })
    await t.put({ data: [] })
    expect(await sent('echo/echo-1')).toMatchObject({ costNano: expect.any(Number), steps: [{ priceRef: 'builtin' }] })
    expect(t.settled.at(-1)?.outcome.costNano).toBeGreaterThan(0)
  })

  const elsewhere = (provider: string) => ({ id: '99', provider, baseUrl: 'https://api.example.com/v1' }) as unknown as Connection
  const priced = (provider: string, model: string, given: Partial<Usage> = { inputTotal: 10, outputTotal: 1 }) =>
    t.prices.price({ connection: elsewhere(provider), model, operation: 'chat', usage: usage(given) })

  it('has no cost, which is not zero, where no price is known and it is not this machine', async () => {
    expect(priced('acme2', 'own-model')).toBeNull()
    expect(priced('openai', 'free-for-now')).toBeNull()
    expect(priced('acme2', 'meta/lone-model')).toMatchObject({ ref: 'primary:1', costNano: 10 * 200 + 300 })
    expect(await t.put({ data: [{ model: 'acme2/own-model', input: 0, output: 0 }] })).toMatchObject({ status: 200 })
    expect(priced('acme2', 'own-model')).toEqual({ costNano: 0, chargeNano: 0, ref: 'override' })
    await t.put({ data: [] })
  })

  it('is priced in less than a microsecond', () => {
    const connection = elsewhere('openai')
    const call = {
      connection,
      model: 'gpt-4o',
      operation: 'chat' as const,
      usage: usage({ inputTotal: 5000, cacheRead: 1000, outputTotal: 400 }),
    }
    const round = () => {
      const started = performance.now()
      for (let i = 0; i < 1000; i++) t.prices.price(call)
      return performance.now() - started
    }
    // Microseconds of one call: the minimum of many short rounds, of which some fall between other load of this machine.
    expect(Math.min(...Array.from({ length: 700 }, round))).toBeLessThan(1)
  })
})

it('what another plugin knows of prices counts', async () => {
  const negotiated = definePlugin({
    name: 'negotiated',
    requires: ['modelFacts'],
    setup: (gateway) =>
      gateway.use('modelFacts').layer((provider) => (provider === 'openai' ? { price: { input: usd(1) } } : null)),
  })
  const t = await world({ plugins: [negotiated()] })
  await t.sync()
  const connection = { id: '9', provider: 'openai', baseUrl: 'https://api.example.com' } as unknown as Connection
  const found = t.prices.price({ connection, model: 'gpt-4o', operation: 'chat', usage: usage({ inputTotal: 5 }) })
  expect(found).toEqual({ costNano: 5000, chargeNano: 5000, ref: 'builtin' })
  await t.close()
})

// The maximum cost of a request, observed as its reservation while it runs.
import { afterEach, describe, expect, it } from 'vitest'
import { hang } from '../../../adapters/testing/script.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { ModelPrice } from '../../../core/types/ports/prices.ts'
import { MEDIA_TOKENS } from '../../../plugins/budgets/estimate/prompt-size.ts'
import { org, PRICE, type Site, site, turns, used } from './support.ts'

let s: Site
afterEach(() => s.close())

const IN = PRICE.input * 1e9
const OUT = PRICE.output * 1e9
const LIMIT = 1_000_000

/** Returns the reservation while it runs, nano-USD, and the body's length. */
async function held(path: string, body: object): Promise<{ nano: number; bytes: number }> {
  const { id } = await s.budget({ scope: 'org', window: 'lifetime', hard_limit_usd: LIMIT })
  const leaving = new AbortController()
  const text = JSON.stringify(body)
  const init = { method: 'POST', body: text, headers: { 'content-type': 'application/json' }, signal: leaving.signal }
  const before = s.t.upstream.requests.length
  const asked = s.t.fetch(path, init)
  await expect.poll(() => s.t.upstream.requests.length).toBeGreaterThan(before)
  const { reserved } = await s.balance(`budget:${id}`)
  leaving.abort()
  await asked.catch(() => {})
  await s.t.untilSettled(1)
  await turns()
  return { nano: reserved, bytes: text.length }
}

const chat = (body: object = {}) =>
  held('/v1/chat/completions', { model: 'chat/m', messages: [{ role: 'user', content: 'hi' }], ...body })
/** Of a body without media. */
const prompt = (bytes: number, messages = 1) => Math.ceil(bytes / 2) + 8 * messages

describe('one call is held as', () => {
  it('two bytes a token, eight tokens a message, and 4,096 tokens out where nobody says a bound', async () => {
    s = await site({ upstream: [hang()] })
    const { nano, bytes } = await chat({
      messages: [
        { role: 'user', content: 'one' },
        { role: 'assistant', content: 'two' },
        { role: 'user', content: 'three' },
      ],
    })
    expect(nano).toBe(prompt(bytes, 3) * IN + 4096 * OUT)
  })

  it('the ceiling of the model where that is lower; an explicit bound above it in full', async () => {
    s = await site({ upstream: [hang()] })
    const implicit = await chat({ model: 'chat/short' })
    expect(implicit.nano).toBe(prompt(implicit.bytes) * IN + 1000 * OUT)
    await s.close()
    s = await site({ upstream: [hang()] })
    const explicit = await chat({ model: 'chat/short', max_tokens: 5000 })
    expect(explicit.nano).toBe(prompt(explicit.bytes) * IN + 5000 * OUT)
  })

  it.each<[string, string, object]>([
    ['chat', '/v1/chat/completions', { model: 'chat/m', messages: [{ role: 'user', content: 'hi' }], max_tokens: 321 }],
    [
      'chat',
      '/v1/chat/completions',
      { model: 'chat/m', messages: [{ role: 'user', content: 'hi' }], max_completion_tokens: 321 },
    ],
    ['messages', '/v1/messages', { model: 'chat/m', messages: [{ role: 'user', content: 'hi' }], max_tokens: 321 }],
    ['responses', '/v1/responses', { model: 'chat/m', input: 'hi', max_output_tokens: 321 }],
    [
      'generate_content',
      '/v1beta/models/chat%2Fm:generateContent',
      { contents: [{ role: 'user', parts: [{ text: 'hi' }] }], generationConfig: { maxOutputTokens: 321 } },
    ],
  ])('what a %s caller bounds', async (_dialect, path, body) => {
    s = await site({ upstream: [hang()] })
    const { nano, bytes } = await held(path, body)
    expect(nano).toBe(prompt(bytes) * IN + 321 * OUT)
  })

  it('each of n choices, and thinking that no bound covers', async () => {
    s = await site({ upstream: [hang()] })
    const many = await chat({ max_tokens: 10, n: 3 })
    expect(many.nano).toBe(prompt(many.bytes) * IN + 30 * OUT)
    await s.close()
    s = await site({ upstream: [hang()] })
    const thinking = await chat({ reasoning: { max_tokens: 20_000 } })
    expect(thinking.nano).toBe(prompt(thinking.bytes) * IN + 24_096 * OUT)
  })

  it('media by the table, not by their bytes', async () => {
    s = await site({ upstream: [hang()] })
    const data = Buffer.alloc(300_000, 7).toString('base64')
    const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } }
    const { nano, bytes } = await chat({
      max_tokens: 1,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'what is this?' }, image, image] }],
    })
    expect(nano).toBe((prompt(bytes - 2 * data.length) + 2 * MEDIA_TOKENS.image.elsewhere + 1) * IN + OUT)
    expect(nano).toBeLessThan(20_000 * IN)
  })
})

describe('the highest rate that can apply is taken', () => {
  const priced = (price: ModelPrice) =>
    definePlugin({
      name: 'test-rates',
      requires: ['modelFacts'],
      setup: (gateway) => gateway.use('modelFacts').layer(() => ({ price })),
    })()
  const M = 1e6
  const LONG = 'x'.repeat(4000)
  it.each<[string, ModelPrice, object, number, number]>([
    ['of a cache write', { input: 2 * M, cacheWrite: 3 * M, output: 5 * M }, {}, 3, 5],
    ['of reasoning', { input: 2 * M, output: 5 * M, reasoning: 7 * M }, {}, 2, 7],
    [
      'of long prompts, when it is one',
      { input: 2 * M, output: 5 * M, tiers: [{ above: 1000, input: 4 * M, output: 9 * M }] },
      { user: LONG },
      4,
      9,
    ],
    [
      'not of long prompts, when it cannot be one',
      { input: 2 * M, output: 5 * M, tiers: [{ above: 1000, input: 4 * M, output: 9 * M }] },
      {},
      2,
      5,
    ],
    [
      'of priority, when it is asked for',
      { input: 2 * M, output: 5 * M, services: { priority: { input: 6 * M, output: 8 * M } } },
      { service_tier: 'priority' },
      6,
      8,
    ],
  ])('%s', async (_name, price, body, perInput, perOutput) => {
    s = await site({ upstream: [hang()], plugins: [priced(price)] })
    const { nano, bytes } = await chat({ max_tokens: 11, ...body })
    expect(nano).toBe(prompt(bytes) * perInput + 11 * perOutput)
  })

  it('and a part of a nano-USD is a whole one', async () => {
    s = await site({ upstream: [hang()], plugins: [priced({ input: 1, output: 1 })] })
    expect((await chat({ max_tokens: 1 })).nano).toBe(1)
  })
})

describe('a virtual model', () => {
  const make = (body: object) => s.api('POST', '/api/virtual-models', { name: 'vm', ...body })
  const dear = 10

  it('that fails over is held as its dearest target', async () => {
    s = await site({ upstream: [hang()] })
    expect((await make({ strategy: 'failover', targets: ['chat/m', 'chat/dear', 'chat/free'] })).status).toBe(201)
    const { nano, bytes } = await chat({ model: 'vm', max_tokens: 10 })
    expect(nano).toBe((prompt(bytes) * IN + 10 * OUT) * dear)
  })

  it('whose target has a bound of its own is held by that', async () => {
    s = await site({ upstream: [hang()] })
    const targets = [{ target: 'chat/m', params: { max_tokens: 777 } }]
    expect((await make({ strategy: 'failover', targets })).status).toBe(201)
    const { nano, bytes } = await chat({ model: 'vm', max_tokens: 10 })
    expect(nano).toBe(prompt(bytes) * IN + 777 * OUT)
  })

  it('that fuses is held as its whole panel and the judge, who reads all of their answers', async () => {
    s = await site({ upstream: [hang()] })
    expect((await make({ strategy: 'fusion', targets: ['chat/m', 'chat/m2'], config: { judge: 'chat/dear' } })).status).toBe(201)
    const { nano, bytes } = await chat({ model: 'vm', max_tokens: 10 })
    const member = prompt(bytes) * IN + 10 * OUT
    const heard = 2 * (10 + 16) + 200
    expect(nano).toBe(2 * member + ((prompt(bytes) + heard) * IN + 10 * OUT) * dear)
  })

  it('that fuses but is offered tools is held as one call: a panel cannot call them', async () => {
    s = await site({ upstream: [hang()] })
    expect((await make({ strategy: 'fusion', targets: ['chat/m', 'chat/m2'], config: { judge: 'chat/dear' } })).status).toBe(201)
    const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }]
    const { nano, bytes } = await chat({ model: 'vm', max_tokens: 10, tools })
    expect(nano).toBe((prompt(bytes) * IN + 10 * OUT) * dear)
  })

  it('that is a pipeline is held as all of its steps, each with the text of the one before', async () => {
    s = await site({ upstream: [hang()] })
    expect((await make({ strategy: 'pipeline', targets: ['chat/m', 'chat/dear'] })).status).toBe(201)
    const { nano, bytes } = await chat({ model: 'vm', max_tokens: 10 })
    expect(nano).toBe(prompt(bytes) * IN + 10 * OUT + ((prompt(bytes) + 10 + 200) * IN + 10 * OUT) * dear)
  })

  it.each([
    ['fusion', 3, 0.003],
    ['pipeline', 2, 0.002],
  ])('that is a %s is booked as what its %d calls cost together', async (strategy, calls, spend_usd) => {
    s = await site({ upstream: [used(0, 100)] })
    expect((await make({ strategy, targets: ['chat/m', 'chat/m2'] })).status).toBe(201)
    const { id } = await s.budget({ ...org, hard_limit_usd: 1 })
    expect(await s.spend({ model: 'vm' })).toBe(200)
    expect(s.t.upstream.requests).toHaveLength(calls)
    expect(await s.shown(id)).toMatchObject({ spend_usd, reserved_usd: 0 })
  })

  it('that does not fit as a whole is refused before its first call', async () => {
    s = await site()
    expect((await make({ strategy: 'pipeline', targets: ['chat/m', 'chat/m2'] })).status).toBe(201)
    // One call of 100 tokens would fit, two do not.
    await s.budget({ ...org, hard_limit_usd: 0.0019 })
    expect(await s.spend({ model: 'vm', max_tokens: 100 })).toBe(402)
    expect(s.t.upstream.requests).toHaveLength(0)
  })
})

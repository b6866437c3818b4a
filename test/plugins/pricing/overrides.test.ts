// Price overrides: they take precedence over every card, before and after a sync, and are replaced only as a whole.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Connection } from '../../../core/types/ports/provider.ts'
import { PRIMARY_CARD } from '../../support/rate-cards/card-server.ts'
import { type World, withPrices, world } from './support.ts'

let t: World
beforeEach(async () => {
  t = await world({ config: { connections: { openai: { provider: 'openai', apiKey: 'sk-x', allowedModels: ['gpt-4o'] } } } })
})
afterEach(() => t.close())

const NONE = {
  input: null,
  output: null,
  cache_read: null,
  cache_write: null,
  cache_write_1h: null,
  reasoning: null,
  input_audio: null,
  output_audio: null,
  per_image_usd: null,
  per_second_usd: null,
  per_character_usd: null,
  per_query_usd: null,
  per_page_usd: null,
}
const set = async (data: object[]) => expect((await t.put({ data })).status).toBe(200)
const stored = async () => (await t.get<{ data: unknown[] }>('/api/pricing/overrides')).data

describe('an override', () => {
  it('wins price by price, before a sync and after it', async () => {
    await set([{ model: 'openai/gpt-4o', input: 2, output: null }])
    const before = await t.price('openai/gpt-4o')
    expect(before).toMatchObject({
      source: 'override',
      price_ref: 'override',
      matched_key: 'openai/gpt-4o',
      prices: { input: 2, output: 10 },
    })
    t.cards.primary = { body: withPrices(PRIMARY_CARD, 'gpt-4o', { input_cost_per_token: 9e-6, output_cost_per_token: 1.1e-5 }) }
    await t.sync()
    expect(await t.price('openai/gpt-4o')).toMatchObject({
      source: 'override',
      prices: { input: 2, output: 11, cache_read: 1.25 },
    })
    // An overridden price has no tier and no service.
    expect((await t.price('openai/gpt-4o')).prices).not.toHaveProperty('priority')
    expect((await t.price('openai/gpt-4o')).prices.batch).toEqual({ output: 5 })
    await set([{ model: 'anthropic/claude-tiered', input: 1, per_image_usd: 0.2 }])
    expect((await t.price('anthropic/claude-tiered')).prices).toMatchObject({
      input: 1,
      output: 15,
      per_image_usd: 0.2,
      tiers: [{ above: 200_000, output: 22.5, cache_write_1h: 12 }],
    })
    expect(await t.price('openai/gpt-4o')).toMatchObject({ source: 'primary', prices: { input: 9 } })
    await set([])
    expect((await t.price('anthropic/claude-tiered')).prices.tiers).toMatchObject([{ input: 6 }])
  })

  it('by its exact name before globs, the longest glob before others, in any case and by an alias', async () => {
    await t.sync()
    await set([
      { model: '*', input: 1 },
      { model: 'OpenAI/*', input: 2 },
      { model: 'openai/gpt-4*', input: 3 },
      { model: 'openai/gpt-4o', input: 4 },
      { model: 'gemini/*', input: 5 },
      { model: 'lone-?-model', input: 6 },
      { model: 'bare-name', input: 7 },
    ])
    for (const [model, input, pattern] of [
      ['openai/GPT-4O', 4, 'openai/gpt-4o'],
      ['openai/gpt-4o-mini', 3, 'openai/gpt-4*'],
      ['openai/house-model', 2, 'OpenAI/*'],
      ['google/gemini-tiered', 5, 'gemini/*'],
      ['gemini/gemini-tiered', 5, 'gemini/*'],
      ['mistral/anything', 1, '*'],
      ['acme/lone-x-model', 6, 'lone-?-model'],
      ['acme/bare-name', 7, 'bare-name'],
    ] as const)
      expect(await t.price(model), model).toMatchObject({ source: 'override', matched_key: pattern, prices: { input } })
  })

  it('may say zero, which is a price and never shown in /v1/models', async () => {
    await set([{ model: 'openai/gpt-4o', input: 0, output: 0, cache_read: 0 }])
    expect(await t.price('openai/gpt-4o')).toMatchObject({ source: 'override', prices: { input: 0, output: 0, cache_read: 0 } })
    const { data } = await t.get<{ data: { id: string; pricing?: object }[] }>('/api/models')
    expect(data.find(({ id }) => id === 'openai/gpt-4o')).toBeDefined()
    expect(data.find(({ id }) => id === 'openai/gpt-4o')?.pricing).toBeUndefined()
  })

  it('is shown as it was given, to the last digit', async () => {
    const given = {
      input: 0.1234567,
      output: 10,
      cache_write_1h: 6,
      per_image_usd: 0.0399,
      per_character_usd: 0.0000151,
      per_second_usd: 0,
    }
    await set([{ model: 'openai/b', ...given }, { model: 'openai/a' }])
    expect(await stored()).toEqual([
      { ...NONE, model: 'openai/b', ...given },
      { ...NONE, model: 'openai/a' },
    ])
    expect(t.rateCard.media('openai', 'b')).toMatchObject({
      perImage: 39_900_000_000_000,
      perCharacter: 15_100_000_000,
      perSecond: 0,
    })
  })

  it('by model, too: the two forms are one list', async () => {
    const answer = await t.put({ overrides: { 'openai/x': { input: 3 }, 'acme/*': { per_page_usd: 0.01 } } })
    const data = [
      { ...NONE, model: 'openai/x', input: 3 },
      { ...NONE, model: 'acme/*', per_page_usd: 0.01 },
    ]
    expect(await answer.json()).toEqual({ data })
    expect(await stored()).toEqual(data)
    await set([])
    expect(await stored()).toEqual([])
    const audit = await t.get<{ data: { details: object }[] }>('/api/audit?action=pricing.overrides')
    expect(audit.data).toMatchObject([{ details: { count: 0 } }, { details: { count: 2 } }])
  })

  it('many are stored in their order', async () => {
    const many = Array.from({ length: 2000 }, (_, i) => ({ model: `acme/m-${(i * 7919) % 2000}`, input: i }))
    await set(many)
    expect((await stored()) as { model: string }[]).toEqual(many.map((one) => ({ ...NONE, ...one })))
  })
})

it('an organization has its own, over the operator’s, for its own connections and in its own list', async () => {
  const as = (orgId: number | null, method: string, path: string, body?: unknown) =>
    t.gateway.control.fetch(
      new Request(`http://gateway.test${path}`, {
        method,
        headers: { 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
      {
        address: '127.0.0.1',
        local: true,
        secure: false,
        operator: { actor: 'host', orgId, role: 'manage', readOnly: false, auth: 'host' },
      },
    )
  const put = (orgId: number | null, data: object[]) => as(orgId, 'PUT', '/api/pricing/overrides', { data })
  const made = await as(7, 'POST', '/api/providers', { provider: 'openai', api_key: 'sk-seven' })
  const { id } = (await made.json()) as { id: number }
  expect((await put(null, [{ model: 'openai/*', input: 2, output: 2 }])).status).toBe(200)
  expect((await put(7, [{ model: 'openai/gpt-4o', input: 3 }])).status).toBe(200)
  const connection = (orgs: number) => ({ id: String(orgs), provider: 'openai', baseUrl: null }) as unknown as Connection
  const cost = (connectionId: number, model: string) =>
    t.prices.price({
      connection: connection(connectionId),
      model,
      operation: 'chat',
      usage: { inputTotal: 1, cacheRead: 0, cacheWrite: 0, outputTotal: 0, total: 1, estimated: false, raw: null },
    })
  expect(cost(id, 'gpt-4o')).toMatchObject({ costNano: 3000, ref: 'override' })
  expect(cost(id, 'gpt-4o-mini')).toMatchObject({ costNano: 2000, ref: 'override' })
  expect(cost(1, 'gpt-4o')).toMatchObject({ costNano: 2000, ref: 'override' })
  const seen = async (orgId: number | null) =>
    (await (await as(orgId, 'GET', '/api/pricing/overrides')).json()) as { data: object[] }
  expect((await seen(7)).data).toMatchObject([{ model: 'openai/gpt-4o', input: 3 }])
  expect((await seen(8)).data).toEqual([])
  const shown = async (orgId: number) =>
    (await (await as(orgId, 'GET', '/api/pricing/resolve?model=openai/gpt-4o')).json()) as object
  expect(await shown(7)).toMatchObject({ prices: { input: 3 } })
  expect(await shown(8)).toMatchObject({ prices: { input: 2 } })
  // Rate cards belong to the whole gateway: an organization cannot fetch them or review changes.
  expect((await as(7, 'POST', '/api/pricing/sync')).status).toBe(403)
  expect((await as(7, 'POST', '/api/pricing/drift/1/review')).status).toBe(403)
})

describe('a wrong list', () => {
  const ok = { model: 'openai/a', input: 1 }
  it.each([
    ['nothing', {}, 'data'],
    ['both forms', { data: [], overrides: {} }, 'data'],
    ['no list', { data: {} }, 'data'],
    ['a word', { data: ['openai/a'] }, 'data.0'],
    ['no model', { data: [ok, { input: 1 }] }, 'data.1.model'],
    ['an empty model', { data: [{ model: '' }] }, 'data.0.model'],
    ['a model with a space', { data: [{ model: 'openai /a' }] }, 'data.0.model'],
    ['a long model', { data: [{ model: 'm'.repeat(257) }] }, 'data.0.model'],
    ['a model that is there twice', { data: [ok, { model: 'OPENAI/A' }] }, 'data.1.model'],
    ['a negative price', { data: [ok, ok, ok, { model: 'x', input: -0.01 }] }, 'data.3.input'],
    ['a price in words', { data: [{ model: 'x', output: '1' }] }, 'data.0.output'],
    ['a price beyond all', { data: [{ model: 'x', cache_read: 1e7 }] }, 'data.0.cache_read'],
    ['an image beyond all', { data: [{ model: 'x', per_image_usd: 10 }] }, 'data.0.per_image_usd'],
    ['a price nobody knows', { data: [{ model: 'x', per_mile_usd: 1 }] }, 'data.0.per_mile_usd'],
    ['a member nobody knows', { data: [], note: 1 }, 'note'],
    ['the other form, wrong', { overrides: { 'openai/a': { input: -1 } } }, 'overrides.openai/a.input'],
    ['too many', { data: Array.from({ length: 2001 }, (_, i) => ({ model: `m${i}` })) }, 'data'],
  ])('%s is 400 with its name, and nothing is changed', async (_name, body, param) => {
    await set([{ model: 'openai/kept', input: 1 }])
    const refused = await t.put(body)
    expect([refused.status, await refused.json()]).toMatchObject([400, { error: { type: 'invalid_request_error', param } }])
    expect(await stored()).toEqual([{ ...NONE, model: 'openai/kept', input: 1 }])
  })

  it.each(['{"data":[{"model":"x","input":1e999}]}', '{"data":[{"model":"x","input":NaN}]}'])('%s is 400', async (body) => {
    const init = { method: 'PUT', headers: { 'content-type': 'application/json' }, body }
    expect((await t.fetch('/api/pricing/overrides', init)).status).toBe(400)
  })
})

it('a wrong question is 400 with its name', async () => {
  for (const [query, param] of [
    ['limit=0', 'limit'],
    ['limit=x', 'limit'],
    ['drift=yes', 'drift'],
    ['model=', 'model'],
    ['model=openai/a&size=big', 'size'],
    ['at=2026-01-01', 'at'],
  ]) {
    const refused = await t.fetch(`/api/pricing/resolve?${query}`)
    expect([refused.status, await refused.json()], query).toMatchObject([400, { error: { param } }])
  }
})

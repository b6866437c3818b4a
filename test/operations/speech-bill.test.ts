// The bill of speech: an answer of plain audio has no place for usage, so a model with prices for tokens or seconds is billed by an estimate.
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { spokenUnits } from '../../adapters/operations/speech/spoken.ts'
import { bearer, makeKey } from '../plugins/keys/support.ts'
import { type Vendors, vendors } from './support.ts'

let v: Vendors
beforeAll(async () => {
  v = await vendors(['openai'], { env: { PRICING_SYNC_ENABLED: 'false' } })
  const response = await v.t.fetch('/api/pricing/overrides', {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ data: PRICES }),
  })
  expect(response.status, await response.clone().text()).toBe(200)
})
afterAll(() => v.close())

/** USD for 1M tokens, for a second, for a character. */
const PRICES = [
  { model: 'openai/tokens', input: 1, output: 2, output_audio: 12 },
  { model: 'openai/second', per_second_usd: 0.0003 },
  { model: 'openai/character', per_character_usd: 0.000015 },
  { model: 'openai/both', per_second_usd: 0.0003, per_character_usd: 0.000015 },
]

const speak = (model: string, body: object = {}, headers = {}) =>
  v.t.post('/v1/audio/speech', { model: `openai/${model}`, input: 'x'.repeat(90), voice: 'alloy', ...body }, headers)

async function costOf(model: string, body: object = {}): Promise<number | null | undefined> {
  const before = v.t.settled.length
  const response = await speak(model, body)
  expect(response.status).toBe(200)
  await response.arrayBuffer()
  await v.t.untilSettled(before + 1)
  return v.t.settled.at(-1)?.outcome.costNano
}

describe('90 characters, which take 6 seconds', () => {
  it.each([
    // 23 tokens of text, 6 × 20 of audio.
    ['tokens', {}, 23 * 1000 + 120 * 12_000],
    ['tokens', { speed: 2 }, 23 * 1000 + 60 * 12_000],
    // The vendor reports 3 and 40.
    ['tokens', { stream_format: 'sse' }, 3 * 1000 + 40 * 12_000],
    ['second', {}, 6 * 300_000],
    ['character', {}, 90 * 15_000],
    ['character', { stream_format: 'sse' }, 90 * 15_000],
    ['both', {}, 90 * 15_000],
  ])('price for %s, %j', async (model, body, nano) => {
    expect(await costOf(model, body)).toBe(nano)
  })
})

it('a budget ends speech without reported usage', async () => {
  const { id, key } = await makeKey(v.t)
  const budget = { scope: 'key', entity_id: id, window: 'daily', hard_limit_usd: 0.004 }
  const made = await v.t.post('/api/budgets', budget)
  expect(made.status, await made.clone().text()).toBeLessThan(300)
  const statuses: number[] = []
  for (let call = 0; call < 4; call++) {
    const response = await speak('tokens', {}, bearer(key))
    statuses.push(response.status)
    await response.arrayBuffer()
  }
  expect(statuses).toEqual([200, 200, 402, 402])
})

it('the estimate grows with the text and shrinks with the speed', () => {
  const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 400 })
  const speed = fc.double({ min: 0.25, max: 4, noNaN: true })
  const seconds = (input: string, factor = 1) =>
    spokenUnits({ model: 'm', voice: 'v', sse: false, extra: {}, input, speed: factor }).seconds as number
  fc.assert(
    fc.property(text, text, speed, (one, other, factor) => {
      expect(seconds(one)).toBeGreaterThan(0)
      expect(seconds(one + other)).toBeGreaterThanOrEqual(seconds(one))
      expect(seconds(one, factor)).toBeGreaterThanOrEqual(seconds(one, factor + 0.5))
    }),
  )
  expect(seconds('你'.repeat(30))).toBe(6)
})

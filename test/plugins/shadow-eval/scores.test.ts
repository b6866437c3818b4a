// How two answers are compared.
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import type { RecordedRequest } from '../../../adapters/testing/script.ts'
import { reply } from '../../../adapters/testing/script.ts'
import { similarity, structureIn } from '../../../plugins/shadow-eval/scoring/json.ts'
import { verdictIn } from '../../../plugins/shadow-eval/scoring/judge.ts'
import { tokenF1 } from '../../../plugins/shadow-eval/scoring/text.ts'
import { at, embeddings } from '../semantic-cache/support.ts'
import { type Sample, type Site, site } from './support.ts'

let s: Site
afterEach(() => s?.t.close())

const JUDGED = { 'shadow.judge_model': 'chat/judge' }

async function compared(served: object, other: object): Promise<Sample> {
  s.answers.set('dear', served)
  s.answers.set('cheap', other)
  await s.ask()
  return (await s.replayed()).data[0] as Sample
}

describe('answers', () => {
  it.each([
    ['case and white space', 'It is  PARIS.\n', 'it is paris.', 1, 'exact'],
    ['JSON in another order', '{"a": 1, "b": [true, "x"]}', '```json\n{"b":[true,"x"],"a":1}\n```', 1, 'json'],
    ['JSON with another value', '{"a": 1, "b": 2}', '{"a": 1, "b": 3}', 0.75, 'json'],
    ['JSON without a member', '{"a": 1, "b": 2}', '{"a": 1}', 0.5, 'json'],
    ['other words', 'the cat sat', 'the dog sat', 2 / 3, 'token_f1'],
    ['a text for JSON', '{"a": 1}', 'a is 1', 0.8, 'token_f1'],
  ])('that differ in %s', async (_name, served, other, score, method) => {
    s = await site()
    const sample = await compared({ text: served }, { text: other })
    expect(sample).toMatchObject({ method, confidence: method === 'token_f1' ? 'low' : 'normal' })
    expect(sample.score).toBeCloseTo(score, 10)
  })

  const call = (name: string, args: string) => ({ toolCalls: [{ id: 'call_1', name, args }] })
  it.each([
    ['the same call', call('look', '{"a":1,"b":2}'), call('look', '{ "b": 2, "a": 1 }'), 1],
    ['other arguments', call('look', '{"a":1}'), call('look', '{"a":2}'), 0.5],
    ['another function', call('look', '{"a":1}'), call('find', '{"a":1}'), 0],
    ['a text in place of a call', call('look', '{"a":1}'), { text: 'No.' }, 0],
  ])('with %s', async (_name, served, other, score) => {
    s = await site()
    expect(await compared(served, other)).toMatchObject({ score, method: 'tool_call' })
  })
})

describe('a judge', () => {
  const [FIRST, SECOND] = ['An answer of the dear model.', 'Something else.']
  const judge = (by: (asked: { first: string; second: string }) => string) => (request: RecordedRequest) => {
    const messages = request.json.messages as { role: string; content: string }[]
    return reply({ text: by(JSON.parse(messages.at(-1)?.content ?? '{}')), usage: { input: 50, output: 1 } })
  }

  it.each([
    ['says `first` whatever it reads', () => 'first', 0.5],
    ['says `second` whatever it reads', () => 'Second.', 0.5],
    ['finds them equal', () => 'same', 1],
    ['prefers the cheap one', ({ first }: { first: string }) => (first === SECOND ? 'first' : 'second'), 1],
    ['prefers the dear one', ({ first }: { first: string }) => (first === FIRST ? '**first**' : 'second'), 0],
  ])('that %s', async (_name, by, score) => {
    s = await site({ settings: JUDGED })
    s.answers.set('judge', judge(by))
    const sample = await compared({ text: FIRST }, { text: SECOND })
    expect(sample).toMatchObject({ score, method: 'judge', score_cost_usd: 2 * (50 * 2e-6 + 8e-6) })
    const asked = s.t.upstream.requests.filter(({ json }) => json.model === 'judge').map(({ text }) => text)
    expect(asked).toHaveLength(2)
    expect(asked[0]).not.toBe(asked[1])
  })

  it.each([
    [0.4, SECOND],
    [0.6, FIRST],
  ])('reads first what the draw of %d says', async (draw, first) => {
    s = await site({ settings: JUDGED, preset: { shadowEval: { random: () => draw } } })
    const read: string[] = []
    s.answers.set(
      'judge',
      judge((asked) => {
        read.push(asked.first)
        return 'same'
      }),
    )
    await compared({ text: FIRST }, { text: SECOND })
    expect(read).toEqual([first, first === FIRST ? SECOND : FIRST])
  })

  it('that says nothing usable leaves the words', async () => {
    s = await site({ settings: JUDGED })
    s.answers.set('judge', { text: 'I cannot decide.', usage: { input: 50, output: 1 } })
    expect(await compared({ text: 'a b' }, { text: 'a c' })).toMatchObject({
      score: 0.5,
      method: 'token_f1',
      score_cost_usd: 0.000108,
    })
  })

  it('is not asked about answers that compare by themselves', async () => {
    s = await site({ settings: JUDGED })
    expect(await compared({ text: 'Yes.' }, { text: 'yes.' })).toMatchObject({ method: 'exact' })
    expect(s.models()).not.toContain('judge')
  })
})

it('embeddings compare when an embedding model is configured and no judge is', async () => {
  const embed = await embeddings((text) => (text.includes('Hello') ? [1, 0] : at(0.8)))
  try {
    s = await site({ env: { SEMANTIC_CACHE_EMBED_MODEL: 'embed/e-1' } })
    await s.api('POST', '/api/providers', {
      provider: 'embed',
      base_url: embed.baseUrl,
      wire_format: 'chat',
      api_key: 'sk-embed',
    })
    await s.api('PUT', '/api/pricing/overrides', {
      data: [
        { model: '*/dear', input: 10, output: 40 },
        { model: '*/cheap', input: 1, output: 4 },
        { model: 'embed/*', input: 1, output: 0 },
      ],
    })
    const sample = await compared({ text: 'Hello there.' }, { text: 'Good day.' })
    expect(sample).toMatchObject({ method: 'embedding', score_cost_usd: 0.000008 })
    expect(sample.score).toBeCloseTo(0.8, 5)
    expect((await s.shadow()).today).toMatchObject({ spent_usd: 0.000188, reserved_usd: 0 })
    // A replay fills at most half of an account's slots, and half of one is none.
    const { body } = await s.api<{ data: { id: number; provider: string }[] }>('GET', '/api/providers')
    const { id } = body.data.find(({ provider }) => provider === 'embed') as { id: number }
    expect((await s.api('PUT', `/api/providers/${id}`, { max_inflight: 1 })).status).toBe(200)
    await s.ask()
    expect((await s.replayed(2)).data.map(({ method }) => method)).toEqual(['token_f1', 'embedding'])
    expect(embed.asked).toHaveLength(1)
  } finally {
    await embed.close()
  }
})

describe('comparisons', () => {
  const json = fc.object({ maxDepth: 3 })

  it('of a value with itself give 1, and any two values something from 0 to 1, whichever comes first', () => {
    fc.assert(
      fc.property(json, json, (a, b) => {
        const [x, y] = [JSON.parse(JSON.stringify(a)), JSON.parse(JSON.stringify(b))]
        expect(similarity(x, x)).toBeCloseTo(1, 10)
        const score = similarity(x, y)
        expect(score).toBeGreaterThanOrEqual(0)
        expect(score).toBeLessThanOrEqual(1)
        expect(similarity(y, x)).toBeCloseTo(score, 10)
      }),
    )
  })

  it('of words stay between 0 and 1 and do not depend on the order', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => {
        const score = tokenF1(a, b)
        expect(score).toBeGreaterThanOrEqual(0)
        expect(score).toBeLessThanOrEqual(1)
        expect(tokenF1(b, a)).toBeCloseTo(score, 10)
        expect(tokenF1(a, a)).toBe(1)
      }),
    )
  })

  it('of hostile JSON end soon', () => {
    const deep = JSON.parse(`${'['.repeat(5000)}${']'.repeat(5000)}`)
    expect(similarity(deep, deep)).toBeLessThanOrEqual(1)
    expect(structureIn(`[${'1,'.repeat(100)}`)).toBeUndefined()
    expect(structureIn('42')).toBeUndefined()
  })

  it('read a verdict at the beginning only', () => {
    expect(['first', ' "Second"', '**same**.', 'The first', 'firstly', ''].map(verdictIn)).toEqual([
      'first',
      'second',
      'same',
      null,
      null,
      null,
    ])
  })
})

// holdBack: a stream and a whole answer are changed alike, however the stream is cut.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { collector, replay } from '../../../core/stream/collect.ts'
import { type HoldBackOptions, holdBack } from '../../../core/stream/hold-back.ts'
import type { CanonicalResponse } from '../../../core/types/request/answer.ts'
import type { Part } from '../../../core/types/request/canonical.ts'
import type { Delta, StreamEvent } from '../../../core/types/request/stream.ts'

const usage = { inputTotal: 1, cacheRead: 0, cacheWrite: 0, outputTotal: 1, total: 2, estimated: false, raw: null }
const answer = (...parts: Part[]): CanonicalResponse => ({
  id: 'a',
  created: 1,
  model: 'm',
  choices: [{ index: 0, parts, finish: 'stop', nativeFinish: 'stop' }],
  usage,
  ext: {},
})

/** Streams the answer through the helper, in pieces of the given lengths. */
function streamed(options: HoldBackOptions, response: CanonicalResponse, lengths: readonly number[]) {
  const transform = holdBack(options).stream()
  const whole = collector()
  const events: StreamEvent[] = []
  const out = (event: StreamEvent): void => {
    events.push(event)
    whole.event(event)
  }
  let at = 0
  replay(response, (event) => {
    const [name, text] = event.e === 'delta' ? (Object.entries(event.d)[0] as [string, unknown]) : ['', null]
    if (event.e !== 'delta' || typeof text !== 'string') return transform.event(event, out)
    for (let from = 0; from < text.length; ) {
      const to = from + (lengths[at++ % lengths.length] ?? 1)
      transform.event({ ...event, d: { [name]: text.slice(from, to) } as unknown as Delta }, out)
      from = to
    }
  })
  return { whole: whole.response(), events }
}

const deltas = (events: readonly StreamEvent[], name: string): string =>
  events.flatMap((event) => (event.e === 'delta' && name in event.d ? [(event.d as never)[name] as string] : [])).join('')

const cuts = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 12 })
/** Characters of which the patterns are made, so that matches are frequent. */
const texts = fc.string({ unit: fc.constantFrom('a', 'b', '1', '2', '@', '.', ' ', '👋', '\n'), maxLength: 60 })

describe('a text', () => {
  const patterns: [string, HoldBackOptions][] = [
    ['a word', { pattern: /ab/g, replace: 'X', window: 4 }],
    ['digits next to each other', { pattern: /\d{2}/g, replace: '', window: 4 }],
    ['words between borders', { pattern: /\b[ab]{1,3}\b/g, replace: (match) => match.toUpperCase(), window: 6 }],
    ['letters behind a sign', { pattern: /(?<=@)a{1,3}/g, replace: 'long replacement', window: 6 }],
    ['an address', { pattern: /[ab12]{1,4}@[ab]{1,4}(?:\.[ab]{1,4}){1,2}/g, replace: '[e]', window: 20 }],
    ['a character of two units', { pattern: /👋/gu, replace: 'hello', window: 3 }],
  ]
  it.each(patterns)('is changed alike wherever a stream cuts it: %s', (_, options) => {
    fc.assert(
      fc.property(texts, cuts, (text, lengths) => {
        const response = answer({ t: 'text', text })
        const { whole, events } = streamed(options, response, lengths)
        const [part] = holdBack(options).response(response).choices[0]?.parts ?? []
        expect(whole.choices[0]?.parts[0]).toEqual(part)
        expect(deltas(events, 'text')).toBe((part as { text: string }).text)
      }),
      { numRuns: 400 },
    )
  })

  it('is never released with half a character', () => {
    fc.assert(
      fc.property(texts, cuts, (text, lengths) => {
        const { events } = streamed({ pattern: /never/g, replace: '', window: 1 }, answer({ t: 'text', text }), lengths)
        for (const event of events) if (event.e === 'delta' && 'text' in event.d) expect(loneSurrogate(event.d.text)).toBe(false)
      }),
    )
  })

  it('waits no longer than the window', () => {
    const { events } = streamed({ pattern: /ab/g, replace: 'X', window: 4 }, answer({ t: 'text', text: 'c'.repeat(50) }), [1])
    expect(events.filter((event) => event.e === 'delta').length).toBeGreaterThan(40)
  })
})

describe('other parts', () => {
  const options: HoldBackOptions = { pattern: /ann@x\.io/g, replace: '[e]' }

  it('change in reasoning, summaries, refusals and the arguments of calls', () => {
    const call = { t: 'tool_call', id: 'c', idMinted: false, name: 'mail', kind: 'function' } as const
    const response = answer(
      { t: 'reasoning', text: 'ask ann@x.io', summary: ['ann@x.io'], signature: { by: 'v', value: 's' } as never },
      { t: 'refusal', text: 'not to ann@x.io' },
      { ...call, args: '{"to":"ann\\u0040x.io","n":12345678901234567890}' },
      { ...call, args: '{"to":"bob@x.io","n":1.0}' },
      { ...call, kind: 'custom', args: 'mail ann@x.io' },
    )
    const args = ['{"to":"[e]","n":12345678901234567890}', '{"to":"bob@x.io","n":1.0}', 'mail [e]'] as const
    const expected = [
      { t: 'reasoning', text: 'ask [e]', summary: ['[e]'] },
      { t: 'refusal', text: 'not to [e]' },
      { ...call, args: args[0] },
      { ...call, args: args[1] },
      { ...call, kind: 'custom', args: args[2] },
    ]
    expect(holdBack(options).response(response).choices[0]?.parts).toEqual(expected)
    const { whole, events } = streamed(options, response, [3])
    expect(whole.choices[0]?.parts).toEqual(expected)
    expect(deltas(events, 'args')).toBe(args.join(''))
    expect(deltas(events, 'reasoning') + deltas(events, 'refusal')).toBe('ask [e]not to [e]')
  })

  it('keep annotations and signatures only where the text did not change', () => {
    const annotation = { kind: 'url', url: 'https://x.io', raw: null, dialect: 'chat' } as const
    const text = (words: string): Part => ({
      t: 'text',
      text: words,
      annotations: [annotation],
      ext: { chat: { quoted: words } },
    })
    const response = { ...answer(text('to ann@x.io'), text('to bob')), ext: { chat: { copy: 'ann@x.io' } } }
    const { whole, events } = streamed(options, response, [2])
    expect(events.filter((event) => event.e === 'delta' && 'annotation' in event.d)).toMatchObject([{ part: 1 }])
    expect(whole.choices[0]?.parts).toEqual([
      { t: 'text', text: 'to [e]' },
      { t: 'text', text: 'to bob', annotations: [annotation] },
    ])
    expect(JSON.stringify([events, holdBack(options).response(response)])).not.toContain('ann@x.io')
  })
})

it('refuses a pattern that finds one match only, and an empty window', () => {
  expect(() => holdBack({ pattern: /a/, replace: '' })).toThrow('needs the flag `g`')
  expect(() => holdBack({ pattern: /a/g, replace: '', window: 0 })).toThrow('at least 1')
})

function loneSurrogate(text: string): boolean {
  return /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(text)
}

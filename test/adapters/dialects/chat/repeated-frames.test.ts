// The filter does not parse a frame that differs from an earlier frame only in its text. Its output and its facts must not change.
import fc from 'fast-check'
import { expect, it, vi } from 'vitest'
import { chunk, codec, filter, usageChunk } from './support.ts'

const TEXTS = [
  'Hi',
  ' there',
  'assistant',
  'content',
  '"',
  '\\',
  'a "quoted" word',
  'line\n',
  '',
  '}',
  '"}',
  '€',
  '😀',
  '你好',
  '\u0000',
  '\u2028',
  '0',
]
/** A vendor may send a control character as it is, which is not JSON. */
const CONTROL = 'a control character'

const text = fc.oneof(
  fc.constantFrom(...TEXTS, CONTROL),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.string({ unit: 'binary', maxLength: 8 }),
)

/** The head of a chunk: a vendor may write another one in the middle of a stream. */
const head = fc.constantFrom({}, { created: 2 }, { usage: null }, { system_fingerprint: 'Hi' }, { error: null }, { choices: [] })
const delta = fc.oneof(
  { weight: 8, arbitrary: text.map((content) => ({ content })) },
  text.map((content) => ({ role: 'assistant', content })),
  text.map((content) => ({ content, refusal: null, tool_calls: [] })),
  text.map((content) => ({ content, reasoning_content: content })),
  text.map((content) => ({ reasoning: 'Hi', content })),
  text.map((refusal) => ({ refusal, content: null })),
  text.map((args) => ({
    content: 'Hi',
    tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: args } }],
  })),
)
const event = fc.oneof(
  { weight: 10, arbitrary: fc.tuple(delta, head).map(([one, other]) => chunk(one, null, other)) },
  { weight: 1, arbitrary: fc.constant(chunk({ content: 'Hi' }, 'stop')) },
  { weight: 1, arbitrary: fc.constant(chunk({}, 'stop')) },
  {
    weight: 1,
    arbitrary: fc.constant({
      ...chunk({}),
      choices: [0, 1].map((index) => ({ index, delta: { content: 'Hi' }, finish_reason: null })),
    }),
  },
  { weight: 1, arbitrary: fc.constant(usageChunk()) },
  { weight: 1, arbitrary: fc.constant({ error: { message: 'no', code: 500 } }) },
)
const spelling = fc.record({
  json: fc.constantFrom(
    (value: object) => JSON.stringify(value),
    (value: object) => JSON.stringify(value, null, 1).replaceAll('\n', ''),
  ),
  start: fc.constantFrom('data: ', 'data:', 'event: message\ndata: '),
  end: fc.constantFrom('\n\n', '\r\n\r\n'),
})
const stream = fc.array(fc.tuple(event, fc.integer({ min: 1, max: 4 })), { minLength: 1, maxLength: 12 })

/** A comment before the data: such a frame is always parsed. */
const PARSED = ': parsed\n'

it('every stream has the same bytes and facts as one whose frames are all parsed', () => {
  fc.assert(
    fc.property(stream, spelling, fc.boolean(), (events, { json, start, end }, includeUsage) => {
      const frames = events.flatMap(([one, times]) =>
        Array.from({ length: times }, () => `${start}${json(one).replace(CONTROL, '\u0001')}${end}`),
      )
      frames.push('data: [DONE]\n\n')
      const asked = () => codec({ stream: true, includeUsage })
      const fast = filter(frames.join(''), asked())
      const slow = filter(frames.map((frame) => `${PARSED}${frame}`).join(''), asked())
      expect(fast.text).toBe(slow.text.replaceAll(PARSED, ''))
      expect(fast.facts).toEqual(slow.facts)
    }),
    { numRuns: 3000 },
  )
})

it('the frames of a text are parsed until one was remembered', () => {
  const texts = Array.from({ length: 50 }, (_, at) => `word ${at} `)
  const sse = texts.map((content) => `data: ${JSON.stringify(chunk({ content }))}\n\n`).join('')
  const parse = vi.spyOn(JSON, 'parse')
  const { text: out, facts } = filter(sse, codec({ stream: true }))
  const parsed = parse.mock.calls.length
  parse.mockRestore()
  expect(out.length).toBeGreaterThanOrEqual(sse.length)
  expect(facts.contentBytes).toBe(texts.join('').length)
  // Two frames (the first gets a role), and one check.
  expect(parsed).toBe(3)
})

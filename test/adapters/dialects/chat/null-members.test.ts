// Members that an upstream omitted and strict clients need are added to the answer's bytes, and nothing else changes.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { withNulls } from '../../../../adapters/dialects/chat/response/inspect.ts'
import { parsedBody } from '../../../../core/json/wire-body.ts'
import { decodeUtf8, encodeUtf8 } from '../../../../core/text/bytes.ts'
import { codec, driver } from './support.ts'

type Answer = { choices: { message: Record<string, unknown>; logprobs?: unknown }[] }

/** Returns the text that the caller gets for an answer. */
function passedOn(text: string): string {
  const body = parsedBody(encodeUtf8(text))
  expect(driver.inspectResponse(body, codec({})).error).toBeNull()
  return body
    .toBytes()
    .map((piece) => decodeUtf8(piece))
    .join('')
}

function completed(text: string): Answer {
  const answer = JSON.parse(text) as Answer
  for (const choice of answer.choices) {
    choice.message.content ??= null
    choice.message.refusal ??= null
    choice.logprobs ??= null
  }
  return answer
}

// Texts that look like the searched members.
const tricky = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.constantFrom('"message":{', '"choices":[{', '\\"message\\":{', '{', '}', ']', '\\', '"', '"choices":[{"message":{'),
)
const scalar = fc.oneof(tricky, fc.integer(), fc.constant(null), fc.boolean())
const more = fc.dictionary(
  fc.oneof(fc.string({ maxLength: 4 }), fc.constantFrom('x"message', 'choices "', 'error')),
  fc.oneof(scalar, fc.dictionary(fc.constantFrom('message', 'choices', 'a'), scalar), fc.constant([{ message: {} }])),
  { maxKeys: 3 },
)
const message = fc
  .record({ role: fc.constant('assistant'), content: tricky, refusal: fc.option(tricky) }, { requiredKeys: [] })
  .chain((known) => more.map((rest) => ({ ...rest, ...known })))
const choice = fc.tuple(more, message, more, fc.boolean()).map(([before, said, after, logprobs]) => ({
  ...before,
  ...{ message: said },
  ...after,
  ...(logprobs && { logprobs: null }),
  message: said,
  finish_reason: 'stop',
}))
const answer = fc.tuple(more, fc.array(choice, { minLength: 1, maxLength: 2 }), more).map(([before, choices, after]) => ({
  ...before,
  ...{ choices },
  ...after,
  choices,
  error: undefined,
  status: undefined,
  usage: { prompt_tokens: 1, completion_tokens: 1 },
}))

describe('members left out', () => {
  it('are null, whatever the answer holds and however it is written', () => {
    fc.assert(
      fc.property(answer, fc.constantFrom(undefined, 1, '\t'), (value, indent) => {
        const text = JSON.stringify(value, null, indent)
        expect(JSON.parse(passedOn(text))).toEqual(completed(text))
      }),
      { numRuns: 2000 },
    )
  })

  it('stand in the text, and every other byte stays', () => {
    const text =
      '{"id":"a","created":1e0,"choices":[{"index":0,"message":{"role":"assistant","content":"hé"},"finish_reason":"stop"}],"n":12345678901234567890}'
    expect(passedOn(text)).toBe(
      '{"id":"a","created":1e0,"choices":[{"logprobs":null,"index":0,"message":{"refusal":null,"role":"assistant","content":"hé"},"finish_reason":"stop"}],"n":12345678901234567890}',
    )
  })

  it('a place that is not certain is none', () => {
    const certain = '{"id":"a","choices":[{"index":0,"message":{}}]}'
    expect(withNulls(certain, ['refusal', 'content', 'logprobs'])).toBe(
      '{"id":"a","choices":[{"logprobs":null,"index":0,"message":{"refusal":null,"content":null}}]}',
    )
    for (const text of [
      '{"id":"a","choices": [{"index":0,"message":{}}]}',
      '{"id":"a","choices":[{"index":0,"message": {}}]}',
      '{"x":{"choices":[{"message":{}}]},"choices" :[{"message":{}}]}',
      '{"choices":[{"delta":{"message":{}},"m":1}]}',
      '{"choices":[{"index":0}],"error":{"message":{}}}',
      '{"a\\"choices":[{"message":{}}]}',
      '{"choices":[{"a\\"message":{}}]}',
    ])
      expect(withNulls(text, ['refusal']), text).toBeNull()
  })
})

// Plugin authors copy examples/custom-plugin.ts: no member of an answer contains a masked word, whole or streamed.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { raw } from '../adapters/testing/script.ts'
import { createTestGateway, type TestGateway } from '../adapters/testing/test-gateway.ts'
import { houseRules } from '../examples/custom-plugin.ts'
import { ask, DIALECTS } from './adapters/node/support.ts'

const WORD = 'bluebird'
const message = {
  role: 'assistant',
  content: `The code is ${WORD}, say ${WORD}.`,
  refusal: `No ${WORD} today.`,
  reasoning_content: `They ask for ${WORD}.`,
  annotations: [{ type: 'url_citation', url_citation: { url: 'https://x.example', title: WORD, start_index: 0, end_index: 3 } }],
  vendor_note: `about ${WORD}`,
  tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'look', arguments: `{"at":"${WORD}"}` } }],
}
const answer = {
  id: 'c1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  vendor: WORD,
  choices: [
    {
      index: 0,
      finish_reason: 'tool_calls',
      message,
      vendor_choice: WORD,
      logprobs: { content: [{ token: WORD, logprob: -1, bytes: null, top_logprobs: [] }] },
    },
  ],
  usage: { prompt_tokens: 3, completion_tokens: 7, total_tokens: 10 },
}
const body = (stream: boolean): string => {
  if (!stream) return JSON.stringify(answer)
  const chunk = (delta: object, more: object = {}) =>
    `data: ${JSON.stringify({ ...answer, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: null, ...more }] })}\n\n`
  const { content, reasoning_content, tool_calls, ...rest } = message
  const letters = (text: string, delta: (letter: string) => object) => [...text].map((letter) => chunk(delta(letter)))
  return [
    ...letters(reasoning_content, (letter) => ({ reasoning_content: letter })),
    ...letters(content, (letter) => ({ content: letter })),
    chunk({ tool_calls: tool_calls.map((call) => ({ index: 0, ...call })) }),
    chunk({ vendor_note: rest.vendor_note }, { logprobs: answer.choices[0]?.logprobs }),
    chunk({}, { finish_reason: 'tool_calls', vendor_choice: WORD }),
    'data: [DONE]\n\n',
  ].join('')
}

let t: TestGateway
beforeAll(async () => {
  t = await createTestGateway({ plugins: [houseRules({ codeName: WORD })] })
})
afterAll(() => t.close())

describe.each(DIALECTS)('in an answer to %s', (dialect) => {
  it.each([false, true])('the code name is masked in every member; streamed: %s', async (stream) => {
    t.upstream.script(raw(200, body(stream), stream ? { contentType: 'text/event-stream' } : {}))
    const { path, body: asked } = ask(dialect, 'chat/m', { stream })
    const response = await t.post(path, asked)
    const text = await response.text()
    expect(response.status).toBe(200)
    expect(text).toContain('████████')
    expect(text).not.toContain(WORD)
  })
})

// Text outside the usual text members: a vendor's copy of a thought, transcripts, quotations, an expected answer.
import { expect, it } from 'vitest'
import { raw, reply } from '../../../adapters/testing/index.ts'
import { guardedOnes, SECRETS } from './support.ts'

const open = guardedOnes()
const SECRET = SECRETS.openai
const guardrails = { secrets: { mode: 'redact' } }
const asked = { model: 'chat/m', messages: [{ role: 'user', content: 'hi' }] }

const answered = (message: object) =>
  JSON.stringify({ id: 'x', choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop' }] })

it.each([
  [
    'the details of a thought',
    { reasoning: `a ${SECRET}`, reasoning_details: [{ type: 'reasoning.text', text: `a ${SECRET}` }] },
  ],
  ['details that say more than it', { reasoning: 'a', reasoning_details: [{ type: 'reasoning.text', text: `b ${SECRET}` }] }],
  ['a transcript', { audio: { id: 'a', data: 'AAAA', expires_at: 1, transcript: `said ${SECRET}` } }],
])('%s in an answer', async (_what, message) => {
  const t = await open({ guardrails })
  t.upstream.script(raw(200, answered({ content: 'ok', ...message })))
  const answer = await (await t.post('/v1/chat/completions', asked)).text()
  expect(answer).toContain('"content":"ok"')
  expect(answer).not.toContain(SECRET)
})

it('details that a guardrail finds nothing in stay', async () => {
  const t = await open({ guardrails })
  const details = [{ type: 'reasoning.encrypted', data: 'E', id: 'r' }]
  t.upstream.script(raw(200, answered({ content: `ok ${SECRET}`, reasoning: 'a', reasoning_details: details })))
  const answer = (await (await t.post('/v1/chat/completions', asked)).json()) as { choices: [{ message: object }] }
  expect(answer.choices[0].message).toMatchObject({ content: 'ok [SECRET_REDACTED]', reasoning_details: details })
})

it('a transcript in a stream', async () => {
  const t = await open({ guardrails })
  const frame = (delta: object, finish: string | null = null) =>
    `data: ${JSON.stringify({ id: 'x', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
  const pieces = ['said ', SECRET.slice(0, 9), SECRET.slice(9)].map((transcript) => frame({ audio: { id: 'a', transcript } }))
  t.upstream.script({ kind: 'frames', frames: [frame({ role: 'assistant' }), ...pieces, frame({}, 'stop'), 'data: [DONE]\n\n'] })
  const answer = await (await t.post('/v1/chat/completions', { ...asked, stream: true })).text()
  expect(answer).toContain('said [SECRET_REDACTED]')
  expect(answer).toContain('[DONE]')
})

const cited = { type: 'char_location', cited_text: SECRET, document_index: 0, start_char_index: 0, end_char_index: 1 }
const plain = { ...cited, cited_text: 'plain' }

it.each([
  ['an expected answer', '/v1/chat/completions', { ...asked, prediction: { type: 'content', content: `a ${SECRET}` } }],
  [
    'a quotation',
    '/v1/messages',
    {
      model: 'messages/m',
      max_tokens: 50,
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: [{ type: 'text', text: 'ok', citations: [plain, cited] }] },
        { role: 'user', content: 'so?' },
      ],
    },
  ],
])('%s in a request', async (what, path, body) => {
  const t = await open({ guardrails })
  t.upstream.script(reply({ text: 'ok' }))
  expect((await t.post(path, body)).status).toBe(200)
  const sent = t.upstream.requests.at(-1)?.text
  expect(sent).not.toContain(SECRET)
  expect(sent).toContain(what === 'a quotation' ? '"cited_text":"plain"' : 'a [SECRET_REDACTED]')
})

// Answers: the same text is removed whether they are whole or streamed, for every split of the stream.
import { describe, expect, it } from 'vitest'
import { frames, reply, type TestGateway } from '../../../adapters/testing/index.ts'
import type { Dialect } from '../../../core/types/request/canonical.ts'
import { ask, ERROR_FRAME } from '../../adapters/node/support.ts'
import { answerOf, DIALECTS, saidBy } from '../../support/dialects.ts'
import { change, guardedOnes, heard, logged, PERSONAL, SECRETS, sent } from './support.ts'

const gateway = guardedOnes()

const REDACT = {
  secrets: { mode: 'redact' },
  pii: { mode: 'redact', output: true },
  keywords: { mode: 'redact', deny: ['project falcon'], regex: ['proj-[0-9]{4}'] },
}
const SECRET = SECRETS.openai
const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
const streamOf = (...pieces: string[]) =>
  frames([...pieces.map((content) => chunk({ content })), chunk({}, 'stop'), 'data: [DONE]\n\n'])

async function asked(t: TestGateway, dialect: Dialect, model: string, stream: boolean): Promise<string> {
  const { path, body } = ask(dialect, model, { stream })
  const response = await t.post(path, body)
  const text = await response.text()
  expect(response.status, text).toBe(200)
  return text
}

describe('redact', () => {
  const CONTENT = `Mail ${PERSONAL.email} 👋 or +49 30 12345678, key ${SECRET}, Project  Falcon (proj-1234): ${PERSONAL.card}.`
  const CLEAN =
    'Mail [EMAIL_REDACTED] 👋 or [PHONE_REDACTED], key [SECRET_REDACTED], [KEYWORD_REDACTED] ([KEYWORD_REDACTED]): [CREDIT_CARD_REDACTED].'

  it.each(DIALECTS)('%s callers read the same, whole and streamed, from every kind of upstream', async (dialect) => {
    const t = await gateway({ guardrails: REDACT })
    for (const upstream of DIALECTS)
      for (const stream of [false, true])
        for (const size of [1, 5, 400])
          expect(
            await heard(t, dialect, CONTENT, { stream, chunk: size, model: `${upstream}/m` }),
            `${upstream} ${stream} ${size}`,
          ).toBe(CLEAN)
  })

  it.each(DIALECTS)('a stream to %s callers may be cut at every offset', async (dialect) => {
    const t = await gateway({ guardrails: REDACT })
    for (let at = 0; at <= CONTENT.length; at++) {
      // A JSON string cannot carry one half of a surrogate pair alone.
      if (/[\ud800-\udbff]$/.test(CONTENT.slice(0, at))) continue
      t.upstream.script(streamOf(...[CONTENT.slice(0, at), CONTENT.slice(at)].filter((piece) => piece !== '')))
      const answer = answerOf(dialect, await asked(t, dialect, 'chat/m', true), true)
      expect(saidBy(answer).text, `cut at ${at}`).toBe(CLEAN)
    }
  })

  it.each(DIALECTS)('arguments of tool calls and thoughts for %s callers, whole and streamed', async (dialect) => {
    const t = await gateway({ guardrails: REDACT })
    const args = `{"to": "${PERSONAL.email}", "n": 12345678901234567890, "deep": ["${SECRET}"]}`
    for (const stream of [false, true]) {
      t.upstream.script(
        reply({
          reasoning: { text: `hm ${SECRET}` },
          text: 'calling',
          toolCalls: [{ id: 'call_1', name: 'mail', args }],
          chunk: 6,
        }),
      )
      const answer = answerOf(dialect, await asked(t, dialect, 'chat/m', stream), stream)
      expect(saidBy(answer)).toEqual({ thought: 'hm [SECRET_REDACTED]', text: 'calling' })
      const call = answer.choices[0]?.parts.find((part) => part.t === 'tool_call')
      expect(JSON.parse(call?.t === 'tool_call' ? call.args : '')).toMatchObject({
        to: '[EMAIL_REDACTED]',
        deep: ['[SECRET_REDACTED]'],
      })
    }
  })

  it('a thought that was changed loses its signature, another keeps it', async () => {
    const t = await gateway({ guardrails: REDACT })
    for (const stream of [false, true])
      for (const [thought, kept] of [
        [`hm ${SECRET}`, false],
        ['hm', true],
      ] as const) {
        t.upstream.script(reply({ reasoning: { text: thought, signature: 'sig-1234' }, text: 'ok' }))
        expect((await asked(t, 'messages', 'messages/m', stream)).includes('sig-1234'), `${stream} ${thought}`).toBe(kept)
      }
  })

  it('an answer in which nothing is found keeps its bytes, and log keeps those of streams too', async () => {
    const t = await gateway({ guardrails: REDACT })
    const body =
      '{ "id":"c","object":"chat.completion","created":1,"model":"m", "choices":[{"index":0,"message":{"role":"assistant","content":"plain","refusal":null},"logprobs":null, "finish_reason":"stop"}],"odd":1}'
    t.upstream.script({ kind: 'raw', status: 200, body })
    expect(await asked(t, 'chat', 'chat/m', false)).toBe(body)
    await change(t, { guardrails: { pii: { mode: 'off' }, keywords: { mode: 'off' }, secrets: { mode: 'log' } } })
    const said = [
      chunk({ role: 'assistant', content: SECRET.slice(0, 9), odd: 1 }),
      chunk({ content: SECRET.slice(9) }),
      chunk({}, 'stop'),
      'data: [DONE]\n\n',
    ]
    t.upstream.script(frames(said))
    expect(await asked(t, 'chat', 'chat/m', true)).toBe(said.join(''))
    expect(await logged(t, 1)).toMatchObject({
      guardrails: [{ detector: 'secrets', entity: 'api_key', action: 'log', direction: 'output', count: 1 }],
    })
  })

  it('tokens that would spell it out do not come along', async () => {
    const t = await gateway({ guardrails: REDACT })
    const logprobs = (token: string) => ({ content: [{ token, logprob: -0.1, bytes: null, top_logprobs: [] }] })
    const piece = (content: string) =>
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { content }, logprobs: logprobs(content), finish_reason: null }] })}\n\n`
    t.upstream.script(frames([piece('key '), piece(SECRET), piece(' ok'), chunk({}, 'stop'), 'data: [DONE]\n\n']))
    expect(await asked(t, 'chat', 'chat/m', true)).not.toContain(SECRET)
  })
})

describe('block', () => {
  const BLOCK = { secrets: { mode: 'block' } }

  it.each(DIALECTS)('a whole answer to %s callers is 400, and its tokens are billed', async (dialect) => {
    const t = await gateway({ guardrails: BLOCK })
    for (const upstream of DIALECTS) {
      t.upstream.script(reply({ text: `it is ${SECRET}` }))
      const { status, error, text } = await sent(t, dialect, 'hi', { model: `${upstream}/m` })
      expect(status).toBe(400)
      expect(error?.message).toBe("answer blocked by guardrail 'secrets'")
      expect(text).not.toContain(SECRET)
    }
    await t.untilSettled(4)
    for (const { outcome } of t.settled)
      expect(outcome).toMatchObject({
        status: 400,
        steps: [{ usage: { inputTotal: 12, outputTotal: 7 } }],
        error: { code: 'guardrail_blocked' },
      })
    expect(await logged(t)).toMatchObject({ status: 400, tokens: { prompt: 12, completion: 7 }, error_code: 'guardrail_blocked' })
  })

  it.each(DIALECTS)('a stream to %s callers ends in its error frame, and what came is billed', async (dialect) => {
    const t = await gateway({ guardrails: BLOCK })
    const before = 'Let me tell you about it. '.repeat(20)
    for (const upstream of DIALECTS) {
      t.upstream.script(reply({ text: `${before}it is ${SECRET} and more`, chunk: 9 }))
      const { status, text } = await sent(t, dialect, 'hi', { stream: true, model: `${upstream}/m` })
      expect(status).toBe(200)
      expect(text).toMatch(ERROR_FRAME[dialect])
      expect(text).toContain("answer blocked by guardrail 'secrets'")
      expect(text).not.toContain('sk-')
      expect(text).not.toContain('[DONE]')
    }
    await t.untilSettled(4)
    for (const { outcome } of t.settled) {
      expect(outcome).toMatchObject({ status: 502, error: { code: 'guardrail_blocked' } })
      expect(outcome.steps[0]?.usage.outputTotal).toBeGreaterThan(0)
    }
  })

  it('nothing of what is blocked gets out, wherever the stream is cut', async () => {
    const t = await gateway({ guardrails: { ...BLOCK, topics: { mode: 'block', deny: ['falcon'] } } })
    for (const [content, found] of [
      [`x ${SECRET} y`, SECRET.slice(0, 6)],
      ['x Falcon y', 'Fal'],
    ] as const)
      for (let at = 1; at < content.length; at++) {
        t.upstream.script(streamOf(content.slice(0, at), content.slice(at)))
        const { text } = await sent(t, 'chat', 'hi', { stream: true })
        // Ids of answers are random letters, so matches in them mean nothing.
        expect(text.replaceAll(/"chatcmpl-\w+"/g, ''), `cut at ${at}`).not.toContain(found)
        expect(text).toMatch(ERROR_FRAME.chat)
      }
  })
})

it('answers of a panel are inspected where they arise, and so is what is made of them', async () => {
  const t = await gateway({ guardrails: { secrets: { mode: 'redact' } } })
  await t.post('/api/virtual-models', {
    name: 'chain',
    strategy: 'pipeline',
    targets: [{ model: 'chat/a' }, { model: 'chat/b' }],
  })
  for (const stream of [false, true]) {
    t.upstream.script(reply({ text: `draft ${SECRET}` }), reply({ text: `final ${SECRET}` }))
    const { text, status } = await sent(t, 'chat', 'hi', { model: 'chain', stream })
    expect(status, text).toBe(200)
    expect(saidBy(answerOf('chat', text, stream)).text).toBe('final [SECRET_REDACTED]')
    expect(t.upstream.requests.at(-1)?.text).toContain('draft [SECRET_REDACTED]')
  }
})

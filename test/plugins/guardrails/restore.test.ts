// `restore`: personal data is sent upstream as numbered placeholders and restored in the answer to the same request.
import { afterEach, describe, expect, it } from 'vitest'
import { reply, type TestGateway } from '../../../adapters/testing/index.ts'
import { answerOf, DIALECTS, saidBy } from '../../support/dialects.ts'
import { change, guarded, heard, PERSONAL, SECRETS, sent } from './support.ts'

const open: TestGateway[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

async function restoring(more: Record<string, unknown> = {}): Promise<TestGateway> {
  const t = await guarded({
    guardrails: { pii: { mode: 'redact', restore: true, ...more }, secrets: { mode: 'redact' } },
  })
  open.push(t)
  return t
}

const OTHER = 'otto@example.org'
const QUESTION = `Write to ${PERSONAL.email} and ${OTHER}, then to ${PERSONAL.email} again, key ${SECRETS.openai}`

describe('restore', () => {
  it.each(DIALECTS)('numbers for the upstream, values for %s callers, whole and streamed in any pieces', async (dialect) => {
    const t = await restoring()
    for (const stream of [false, true])
      for (const chunk of [1, 3, 50]) {
        const content = 'Dear [EMAIL_1], cc [EMAIL_2] and [EMAIL_1]; not [EMAIL_3] [EMAIL_ [x] [SECRET_REDACTED]'
        expect(await heard(t, dialect, content, { stream, chunk, question: QUESTION })).toBe(
          `Dear ${PERSONAL.email}, cc ${OTHER} and ${PERSONAL.email}; not [EMAIL_3] [EMAIL_ [x] [SECRET_REDACTED]`,
        )
        const upstream = t.upstream.requests.at(-1)?.text ?? ''
        expect(upstream).toContain('Write to [EMAIL_1] and [EMAIL_2], then to [EMAIL_1] again, key [SECRET_REDACTED]')
      }
  })

  it('in arguments of tool calls, in good JSON', async () => {
    const t = await restoring()
    for (const stream of [false, true]) {
      t.upstream.script(reply({ text: '', toolCalls: [{ id: 'c1', name: 'mail', args: '{"to":"[EMAIL_1]","n":1.50}' }] }))
      const answer = answerOf('chat', (await sent(t, 'chat', QUESTION, { stream })).text, stream)
      expect(answer.choices[0]?.parts).toMatchObject([{ t: 'tool_call', args: `{"to":"${PERSONAL.email}","n":1.50}` }])
    }
  })

  it('what the model says of its own stays subject to the rules for answers', async () => {
    const t = await restoring({ output: true })
    for (const stream of [false, true])
      expect(await heard(t, 'chat', `[EMAIL_1] or eve@example.net`, { stream, question: QUESTION })).toBe(
        `${PERSONAL.email} or [EMAIL_REDACTED]`,
      )
  })

  it('numbers that the prompt holds already are not given out', async () => {
    const t = await restoring()
    await heard(t, 'chat', 'x', { question: `As [EMAIL_4] said, write to ${OTHER}` })
    expect(t.upstream.requests.at(-1)?.text).toContain('As [EMAIL_4] said, write to [EMAIL_5]')
    expect(await heard(t, 'chat', '[EMAIL_4] [EMAIL_5]', { question: `As [EMAIL_4] said, write to ${OTHER}` })).toBe(
      `[EMAIL_4] ${OTHER}`,
    )
  })

  it('one request knows nothing of another, and no cache keeps an answer that was read back', async () => {
    const t = await restoring()
    await t.fetch('/api/settings', {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: '{"exact_cache.ttl_ms":60000}',
    })
    expect(await heard(t, 'chat', 'to [EMAIL_1]', { question: `mail ${OTHER}` })).toBe(`to ${OTHER}`)
    expect(await heard(t, 'chat', 'to [EMAIL_1]', { question: `mail ${PERSONAL.email}` })).toBe(`to ${PERSONAL.email}`)
    expect(await heard(t, 'chat', 'to [EMAIL_1]', { question: 'mail nobody' })).toBe('to [EMAIL_1]')
    expect(t.upstream.requests).toHaveLength(3)
  })

  it('between the calls of a chain nothing is read back', async () => {
    const t = await restoring()
    await t.post('/api/virtual-models', {
      name: 'chain',
      strategy: 'pipeline',
      targets: [{ model: 'chat/a' }, { model: 'chat/b' }],
    })
    t.upstream.script(reply({ text: 'draft for [EMAIL_1]' }), reply({ text: 'final for [EMAIL_1]' }))
    await sent(t, 'chat', QUESTION, { model: 'chain' })
    expect(t.upstream.requests).toHaveLength(2)
    for (const { text } of t.upstream.requests) expect(text).not.toContain(PERSONAL.email)
  })

  it.each([
    'pipeline',
    'fusion',
  ])('what a %s made is read back for the caller, in every dialect, streamed or not', async (strategy) => {
    const t = await restoring()
    await t.post('/api/virtual-models', { name: 'many', strategy, targets: [{ model: 'chat/a' }, { model: 'messages/b' }] })
    for (const dialect of ['chat', 'messages', 'responses'] as const)
      for (const stream of [false, true])
        for (const output of [true, false]) {
          await change(t, { guardrails: { keywords: { mode: 'redact', deny: ['heron'], output } } })
          t.upstream.script(reply({ text: 'heron for [EMAIL_1], no [EMAIL_9]' }, { splitBytes: 7 }))
          const { text } = await sent(t, dialect, QUESTION, { model: 'many', stream })
          expect(saidBy(answerOf(dialect, text, stream)).text, `${dialect} ${stream}`).toBe(
            `${output ? '[KEYWORD_REDACTED]' : 'heron'} for ${PERSONAL.email}, no [EMAIL_9]`,
          )
        }
    for (const { text } of t.upstream.requests) expect(text).not.toContain(PERSONAL.email)
  })
})

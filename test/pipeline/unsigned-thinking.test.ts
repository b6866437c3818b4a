// Thoughts without a secret: a messages caller gets them in the gateway's envelope, and they hide no stored secret.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTestGateway, reply, type TestGateway, text } from '../../adapters/testing/index.ts'

const ASKED = { role: 'user', content: 'hi' }
const tools = [{ name: 'f', input_schema: { type: 'object', properties: {} } }]

let t: TestGateway
beforeAll(async () => {
  t = await createTestGateway()
})
afterAll(() => t.close())

async function ask(model: string, messages: unknown[], more: object = {}): Promise<string> {
  const response = await t.post('/v1/messages', { model, max_tokens: 99, messages, ...more })
  const answer = await response.text()
  expect(response.status, answer).toBe(200)
  return answer
}

it.each([false, true])('an unsigned thought is signed with an empty envelope (stream: %s)', async (stream) => {
  t.upstream.script(reply({ reasoning: { text: 'hm' }, text: 'ok' }))
  const answer = await ask('chat/m', [ASKED], { stream })
  expect(answer.match(/"signature":"gw1[^"]*"/g)).toEqual(['"signature":"gw1.chat.."'])
})

it('the envelope comes back as no secret, and does not reach a messages upstream', async () => {
  const said = {
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'hm', signature: 'gw1.chat..' },
      { type: 'text', text: 'a' },
    ],
  }
  for (const target of ['messages', 'chat', 'responses', 'generate_content']) {
    t.upstream.script(text('done'))
    await ask(`${target}/claude-sonnet-4-5`, [ASKED, said, ASKED])
    expect(t.upstream.requests.at(-1)?.text).not.toContain('gw1')
  }
})

it('a kept signature of a call is put back beside a thought without one', async () => {
  const signature = 'c2lnbmVkIGJ5IGdlbWluaQ=='
  const call = { id: 'fc_one', name: 'f', args: '{}' }
  t.upstream.script(reply({ reasoning: { text: '', signature }, toolCalls: [call] }))
  const model = 'generate_content/gemini-3-flash'
  const answer = JSON.parse(await ask(model, [ASKED], { tools }))
  const use = answer.content.find(({ type }: { type: string }) => type === 'tool_use')
  for (const own of ['', 'gw1.chat..']) {
    t.upstream.script(text('done'))
    const history = [
      ASKED,
      { role: 'assistant', content: [{ type: 'thinking', thinking: 'hm', signature: own }, use] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: use.id, content: 'ok' }] },
    ]
    await ask(model, history, { tools })
    expect(t.upstream.requests.at(-1)?.text).toContain(signature)
  }
})

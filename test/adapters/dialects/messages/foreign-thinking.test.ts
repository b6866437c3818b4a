import { describe, expect, it } from 'vitest'
import { messagesDialect } from '../../../../adapters/dialects/messages/index.ts'
import { headerBag } from '../../../../core/http/headers.ts'
import { wireBody } from '../../../../core/json/wire-body.ts'
import { wrapSignature } from '../../../../core/models/signature.ts'
import { testHop } from './fixtures.ts'

const ENVELOPE = wrapSignature({ dialect: 'responses', modelFamily: 'gpt', value: 'secret' })
const thinking = (signature: string) => ({ type: 'thinking', thinking: 'hm', signature })
const USE = { type: 'tool_use', id: 't1', name: 'f', input: {} }
const RESULT = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'ok' }] }

function splice(body: object | string, codec = testHop({ caller: 'messages', model: 'claude-x' })) {
  const source = wireBody(typeof body === 'string' ? body : JSON.stringify(body))
  messagesDialect.spliceRequest(source, codec, headerBag())
  return { text: new TextDecoder().decode(Buffer.concat(source.toBytes())), wire: source.json(), codec }
}

describe('the byte lane of a messages request', () => {
  it('thinking of another vendor is removed, Anthropic’s own and every other byte stay', () => {
    const before = `{"model":"claude-x","max_tokens":9,"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[`
    const after = `{"type":"tool_use","id":"t1","name":"f","input":{"n":12345678901234567890}}]},{"role":"user","content":"y"}]}`
    const own = JSON.stringify(thinking('EqQBCgIYAhIM'))
    for (const foreign of [ENVELOPE, '']) {
      const { text } = splice(`${before}${own},${JSON.stringify(thinking(foreign))}, ${after}`)
      expect(text).toBe(`${before}${own},${after}`)
    }
    expect(splice(`${before}${own},${after}`).text).toBe(`${before}${own},${after}`)
  })

  it('a turn with only foreign thinking is removed, also in a long history', () => {
    const turns = (count: number) =>
      Array.from({ length: count }, (_, at) => [
        { role: 'user', content: `${at}` },
        { role: 'assistant', content: [thinking(ENVELOPE)] },
        { role: 'assistant', content: [thinking(ENVELOPE), { type: 'text', text: 'a' }] },
      ]).flat()
    for (const count of [1, 40]) {
      const { messages } = splice({ model: 'm', max_tokens: 9, messages: turns(count) }).wire as { messages: object[] }
      expect(messages).toHaveLength(2 * count)
      expect(messages[1]).toEqual({ role: 'assistant', content: [{ type: 'text', text: 'a' }] })
    }
  })

  it('a budget goes too when the running tool turn then opens without thinking; adaptive thinking stays', () => {
    const messages = [{ role: 'user', content: 'x' }, { role: 'assistant', content: [thinking(ENVELOPE), USE] }, RESULT]
    const budget = splice({ model: 'm', max_tokens: 4096, thinking: { type: 'enabled', budget_tokens: 2000 }, messages })
    expect(budget.wire).not.toHaveProperty('thinking')
    expect(budget.codec.warnings).toEqual(['dropped_reasoning'])
    const adaptive = splice({ model: 'm', max_tokens: 4096, thinking: { type: 'adaptive' }, messages })
    expect(adaptive.wire.thinking).toEqual({ type: 'adaptive' })
    expect(adaptive.codec.warnings).toEqual([])
  })
})

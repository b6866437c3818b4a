import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { CanonicalRequest, JsonObject, Part } from '../../../../core/types/request/canonical.ts'
import type { CodecContext } from '../../../../core/types/request/dialect.ts'
import { assistant, call, encode, result, testHop, tool, user } from './fixtures.ts'

type Wish = Partial<CanonicalRequest>
const plan = (model: string, wish: Wish) => {
  const codec = testHop({ model })
  const { thinking, output_config } = encode(wish, codec)
  return { thinking, effort: (output_config as { effort?: string } | undefined)?.effort, warnings: codec.warnings }
}
const tools: CanonicalRequest['tools'] = [{ t: 'function', name: 'f' }]

it.each([
  ['minimal', 1024],
  ['low', 4096],
  ['medium', 10_000],
  ['high', 24_000],
  ['xhigh', 31_999],
  ['max', 31_999],
] as const)('2.5: effort %s is a budget of %i where only budgets are known', (effort, budget) => {
  expect(plan('claude-sonnet-4-5', { reasoning: { effort } }).thinking).toEqual({ type: 'enabled', budget_tokens: budget })
})

it('a forced call drops the thinking budget, with a warning', () => {
  const codec = testHop()
  const body = encode({ tools, toolChoice: { mode: 'required' }, reasoning: { effort: 'high' } }, codec)
  expect(body.tool_choice).toEqual({ type: 'any' })
  expect(body).not.toHaveProperty('thinking')
  expect(codec.warnings).toEqual(['dropped_reasoning'])
})

it('a small max_tokens disables thinking and is not raised', () => {
  const codec = testHop()
  const body = encode({ maxTokens: 1500, reasoning: { effort: 'high' } }, codec)
  expect(body.max_tokens).toBe(1500)
  expect(body).not.toHaveProperty('thinking')
  expect(codec.warnings).toEqual(['reasoning_clamped'])
})

it('a budget leaves a quarter of the cap for the answer', () => {
  expect(plan('claude-sonnet-4-5', { maxTokens: 3000, reasoning: { effort: 'high' } })).toMatchObject({
    thinking: { type: 'enabled', budget_tokens: 2250 },
    warnings: ['reasoning_clamped'],
  })
})

it('where the cap is the gateway’s own, thinking leaves room for an answer', () => {
  const sent = (model: string, effort: 'high' | 'xhigh' | 'max', facts: Partial<CodecContext> = {}) => {
    const { max_tokens, thinking } = encode({ reasoning: { effort } }, testHop({ model, ...facts }))
    return [max_tokens, (thinking as { budget_tokens: number }).budget_tokens]
  }
  expect(sent('claude-sonnet-4-5', 'high')).toEqual([32_000, 24_000])
  expect(sent('claude-sonnet-4-5', 'xhigh')).toEqual([42_666, 31_999])
  expect(sent('claude-opus-4-1', 'max')).toEqual([32_000, 24_000])
  expect(sent('a-model-nobody-knows', 'high', { caps: { family: 'other' } })).toEqual([8192, 4096])
})

it.each(['chat', 'responses', 'generate_content'] as const)('leaves a quarter for the answer, whatever %s asks', (source) => {
  fc.assert(
    fc.property(
      fc.option(fc.integer({ min: 2048, max: 64_000 }), { nil: undefined }),
      fc.oneof(
        fc.constantFrom('minimal', 'low', 'medium', 'high', 'xhigh', 'max').map((effort) => ({ effort })),
        fc.integer({ min: 1, max: 70_000 }).map((budgetTokens) => ({ mode: 'enabled', budgetTokens })),
      ),
      (maxTokens, reasoning) => {
        const codec = testHop({ model: 'claude-sonnet-4-5' })
        const wish = { source, reasoning: reasoning as CanonicalRequest['reasoning'] }
        const { max_tokens, thinking } = encode(maxTokens === undefined ? wish : { ...wish, maxTokens }, codec)
        const { budget_tokens } = thinking as { budget_tokens: number }
        expect(budget_tokens).toBeGreaterThanOrEqual(1024)
        expect(budget_tokens).toBeLessThanOrEqual(((max_tokens as number) * 3) / 4)
        const asked = 'budgetTokens' in reasoning ? reasoning.budgetTokens : budget_tokens
        if (budget_tokens < asked) expect(codec.warnings).toContain('reasoning_clamped')
      },
    ),
  )
})

it('newer models think adaptively, visible where the caller can show it', () => {
  expect(plan('claude-opus-4-8', { reasoning: { effort: 'xhigh' } })).toEqual({
    thinking: { type: 'adaptive', display: 'summarized' },
    effort: 'xhigh',
    warnings: [],
  })
  expect(plan('claude-opus-4-8', { source: 'responses', reasoning: { effort: 'minimal' } })).toEqual({
    thinking: { type: 'adaptive' },
    effort: 'low',
    warnings: [],
  })
  expect(
    plan('claude-opus-4-8', { source: 'generate_content', reasoning: { budgetTokens: 8000, includeThoughts: true } }),
  ).toEqual({
    thinking: { type: 'adaptive', display: 'summarized' },
    effort: 'medium',
    warnings: [],
  })
  expect(plan('claude-opus-4-6', { reasoning: { effort: 'xhigh' } })).toEqual({
    thinking: { type: 'adaptive' },
    effort: 'high',
    warnings: ['reasoning_clamped'],
  })
})

it('a caller of this dialect gets what it asked for, converted where the model changed', () => {
  const own = (reasoning: CanonicalRequest['reasoning'], more: Wish = {}): Wish => ({ source: 'messages', reasoning, ...more })
  expect(plan('claude-opus-4-6', own({ mode: 'enabled', budgetTokens: 2000 })).thinking).toEqual({
    type: 'enabled',
    budget_tokens: 2000,
  })
  expect(plan('claude-sonnet-4-5', own({ mode: 'enabled', budgetTokens: 1024 }, { maxTokens: 1500 })).thinking).toEqual({
    type: 'enabled',
    budget_tokens: 1024,
  })
  expect(plan('claude-opus-5', own({ mode: 'enabled', budgetTokens: 2000 }))).toEqual({
    thinking: { type: 'adaptive', display: 'summarized' },
    effort: 'low',
    warnings: [],
  })
  expect(plan('claude-opus-5', own({ mode: 'adaptive' })).thinking).toEqual({ type: 'adaptive' })
  expect(plan('claude-opus-5', own({ mode: 'adaptive', summary: 'omitted', effort: 'max' }))).toMatchObject({
    thinking: { display: 'omitted' },
    effort: 'max',
  })
  expect(plan('claude-opus-5', own({ effort: 'low' }))).toEqual({ thinking: undefined, effort: 'low', warnings: [] })
  expect(plan('claude-sonnet-4-5', own({ mode: 'adaptive', effort: 'high' })).thinking).toEqual({
    type: 'enabled',
    budget_tokens: 24_000,
  })
})

it('off is said where the model can say it; more than `high` is clamped then', () => {
  expect(plan('claude-opus-5', { reasoning: { effort: 'none' } }).thinking).toEqual({ type: 'disabled' })
  expect(plan('claude-opus-5', { source: 'messages', reasoning: { mode: 'disabled', effort: 'max' } })).toEqual({
    thinking: { type: 'disabled' },
    effort: 'high',
    warnings: ['reasoning_clamped'],
  })
  expect(plan('claude-3-haiku-20240307', { reasoning: { effort: 'none' } })).toEqual({
    thinking: undefined,
    effort: undefined,
    warnings: [],
  })
  expect(plan('claude-3-haiku-20240307', { reasoning: { effort: 'low' } }).warnings).toEqual(['dropped_reasoning'])
})

it('a running tool turn without signed thinking disables budgets, not adaptive thinking', () => {
  const signed: Part = { t: 'reasoning', text: 'hm', signature: { dialect: 'messages', modelFamily: 'claude', value: 's' } }
  const turn = (...parts: Part[]) => ({
    tools,
    reasoning: { effort: 'low' as const },
    messages: [user('x'), assistant(...parts, call('a')), tool(result('a'))],
  })
  expect(plan('claude-sonnet-4-5', turn())).toEqual({ thinking: undefined, effort: undefined, warnings: ['dropped_reasoning'] })
  expect(plan('claude-sonnet-4-5', turn(signed)).thinking).toMatchObject({ type: 'enabled' })
  expect(plan('claude-opus-5', turn()).thinking).toMatchObject({ type: 'adaptive' })
})

it('with thinking, temperature and top_k are dropped, and top_p stays near one', () => {
  const codec = testHop()
  const body = encode({ reasoning: { effort: 'low' }, sampling: { temperature: 0.3, topK: 5, topP: 0.97 } }, codec)
  expect(body.top_p).toBe(0.97)
  expect(body).not.toHaveProperty('temperature')
  expect(body).not.toHaveProperty('top_k')
  expect(codec.warnings).toEqual(['dropped_temperature', 'dropped_top_k'])
  expect(encode({ reasoning: { effort: 'low' }, sampling: { topP: 0.5 } })).not.toHaveProperty('top_p')
})

it('an unknown model gets what the caller said, in the plainest form', () => {
  const codec = () => testHop({ model: 'kimi', caps: { family: 'moonshot' } })
  expect(encode({ reasoning: { effort: 'low' } }, codec()).thinking).toEqual({ type: 'enabled', budget_tokens: 4096 })
  expect(encode({ source: 'messages', reasoning: { mode: 'adaptive', effort: 'low' } }, codec())).toMatchObject({
    thinking: { type: 'adaptive' },
    output_config: { effort: 'low' },
  })
})

it('replays signed thinking whose text another dialect kept as a summary', () => {
  const signature = { dialect: 'messages' as const, modelFamily: 'claude', value: 'EqQB' }
  const said = assistant({ t: 'reasoning', text: '', summary: ['They want it.'], signature }, 'Done.')
  expect((encode({ source: 'responses', messages: [user('x'), said, user('y')] }).messages as JsonObject[])[1]?.content).toEqual([
    { type: 'thinking', thinking: 'They want it.', signature: 'EqQB' },
    { type: 'text', text: 'Done.' },
  ])
})

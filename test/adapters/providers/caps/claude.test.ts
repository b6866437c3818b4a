import { expect, it } from 'vitest'
import { claudeCaps } from '../../../../adapters/providers/caps/claude.ts'

it.each([
  'claude-3-haiku-20240307',
  'claude-3-5-sonnet-20241022',
  'anthropic.claude-3-5-sonnet-20241022-v2:0',
  'claude-3.5-haiku',
  'claude-2.1',
  'claude-v2',
  'claude-instant-1.2',
])('%s does not think', (model) => {
  expect(claudeCaps(model)).toMatchObject({
    sampling: 'free',
    reasoning: false,
    prefill: true,
    structuredOutputs: false,
    thinking: { enabled: false, adaptive: false },
  })
})

it.each([
  'claude-3-7-sonnet-20250219',
  'claude-3.7-sonnet:thinking',
  'claude-sonnet-4-20250514',
  'claude-opus-4@20250514',
  'us.anthropic.claude-opus-4-1-20250805-v1:0',
  'claude-sonnet-4.5',
  'claude-haiku-4-5-20251001',
  'anthropic/claude-opus-4-5',
])('%s thinks with budgets only and takes a prefill', (model) => {
  expect(claudeCaps(model)).toMatchObject({
    sampling: 'free',
    prefill: true,
    midSystem: false,
    thinking: { enabled: true, adaptive: false, disabled: true },
  })
})

it.each(['claude-opus-4-6', 'claude-sonnet-4.6'])('%s knows both kinds of thinking', (model) => {
  const caps = claudeCaps(model)
  expect(caps).toMatchObject({ sampling: 'free', prefill: false, thinking: { enabled: true, adaptive: true } })
  expect(caps.efforts).not.toContain('xhigh')
})

it.each([
  'claude-opus-4-7',
  'claude-opus-4-8',
  'claude-sonnet-5',
  'claude-fable-5-1',
  'claude-opus-9',
  'claude-saga-7-2',
  'claude-mythos-preview',
  'claude-opus-latest',
])('%s takes adaptive thinking and default sampling only', (model) => {
  const caps = claudeCaps(model)
  expect(caps).toMatchObject({
    family: 'claude',
    sampling: 'default_only',
    prefill: false,
    structuredOutputs: true,
    thinking: { enabled: false, adaptive: true },
  })
  expect(caps.efforts).toEqual(['low', 'medium', 'high', 'xhigh', 'max'])
})

it('knows who takes system messages in mid-conversation', () => {
  for (const model of [
    'claude-opus-4-8',
    'claude-opus-5',
    'claude-opus-5-5',
    'claude-sonnet-5-5',
    'claude-haiku-5-5',
    'claude-fable-5-2',
    'claude-mythos-5',
    'claude-saga-7',
  ]) {
    expect([model, claudeCaps(model).midSystem]).toEqual([model, true])
  }
  for (const model of ['claude-opus-4-7', 'claude-sonnet-5', 'claude-sonnet-4-6', 'claude-haiku-4-5']) {
    expect([model, claudeCaps(model).midSystem]).toEqual([model, false])
  }
})

it('knows the limits', () => {
  expect(claudeCaps('claude-3-opus-20240229')).toMatchObject({ maxOutput: 4096, context: 200_000 })
  expect(claudeCaps('claude-3-5-sonnet-latest').maxOutput).toBe(8192)
  expect(claudeCaps('claude-opus-4-1').maxOutput).toBe(32_000)
  expect(claudeCaps('claude-sonnet-4-5').maxOutput).toBe(64_000)
  expect(claudeCaps('claude-opus-4-5')).toMatchObject({ maxOutput: 64_000, structuredOutputs: true })
  expect(claudeCaps('claude-sonnet-4-0').structuredOutputs).toBe(false)
})

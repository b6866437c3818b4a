import { describe, expect, it } from 'vitest'
import type { CanonicalRequest, JsonObject, ReasoningOptions } from '../../../../core/types/request/canonical.ts'
import { codec, encode, request } from './support.ts'

function thinking(model: string, reasoning: ReasoningOptions, extra: Partial<CanonicalRequest> = {}): [unknown, string[]] {
  const on = codec({ model })
  const { body } = encode(request({ reasoning, ...extra }), on)
  return [(body.generationConfig as JsonObject | undefined)?.thinkingConfig, on.warnings]
}

describe('thinkingConfig', () => {
  it('says a level to Gemini 3 and clamps what it has not', () => {
    expect(thinking('gemini-3-flash', { effort: 'medium' })).toEqual([{ includeThoughts: true, thinkingLevel: 'MEDIUM' }, []])
    expect(thinking('gemini-3-flash', { effort: 'none' })).toEqual([{ thinkingLevel: 'MINIMAL' }, ['reasoning_clamped']])
    expect(thinking('gemini-3-pro-preview', { effort: 'minimal' })).toEqual([
      { includeThoughts: true, thinkingLevel: 'LOW' },
      ['reasoning_clamped'],
    ])
    expect(thinking('gemini-3-flash', { effort: 'max' })).toEqual([
      { includeThoughts: true, thinkingLevel: 'HIGH' },
      ['reasoning_clamped'],
    ])
    expect(thinking('gemini-3-flash', { mode: 'enabled', budgetTokens: 3000 })).toEqual([
      { includeThoughts: true, thinkingLevel: 'LOW' },
      [],
    ])
  })

  it('leaves a quarter of a foreign caller’s cap for the answer, and a caller of this dialect its own budget', () => {
    const asked = { mode: 'enabled', budgetTokens: 9000 } as const
    for (const source of ['chat', 'messages', 'responses'] as const) {
      const [config, warnings] = thinking('gemini-2.5-flash', asked, { source, maxTokens: 4000 })
      expect([config, warnings]).toMatchObject([{ thinkingBudget: 3000 }, ['reasoning_clamped']])
    }
    expect(thinking('gemini-2.5-flash', asked, { source: 'chat', maxTokens: 12_000 })).toMatchObject([
      { thinkingBudget: 9000 },
      [],
    ])
    expect(thinking('gemini-2.5-flash', asked, { source: 'generate_content', maxTokens: 4000 })).toMatchObject([
      { thinkingBudget: 9000 },
      [],
    ])
    expect(thinking('gemini-2.5-pro', asked, { source: 'chat', maxTokens: 100 })).toMatchObject([
      { thinkingBudget: 128 },
      ['reasoning_clamped'],
    ])
  })

  it('says a budget to Gemini 2.5 within the model’s bounds', () => {
    expect(thinking('gemini-2.5-flash', { effort: 'high' })).toEqual([{ includeThoughts: true, thinkingBudget: 24_576 }, []])
    expect(thinking('gemini-2.5-flash', { effort: 'none' })).toEqual([{ thinkingBudget: 0 }, []])
    expect(thinking('gemini-2.5-pro', { effort: 'none' })).toEqual([{ thinkingBudget: 128 }, ['reasoning_clamped']])
    expect(thinking('gemini-2.5-flash', { effort: 'max' })).toEqual([
      { includeThoughts: true, thinkingBudget: 24_576 },
      ['reasoning_clamped'],
    ])
    expect(thinking('gemini-2.5-pro', { effort: 'xhigh' })).toEqual([{ includeThoughts: true, thinkingBudget: 32_768 }, []])
    expect(thinking('gemini-2.5-pro', { mode: 'dynamic' })).toEqual([{ includeThoughts: true, thinkingBudget: -1 }, []])
  })

  it('says nothing to models that do not think, with a warning', () => {
    expect(thinking('gemini-2.0-flash', { effort: 'high' })).toEqual([undefined, ['dropped_reasoning']])
    expect(thinking('gemini-2.0-flash', { effort: 'none' })).toEqual([undefined, []])
  })

  it('asks for thoughts when the caller can show them', () => {
    expect(thinking('gemini-3-flash', { effort: 'low', summary: 'omitted' }, { source: 'messages' })[0]).toEqual({
      thinkingLevel: 'LOW',
    })
    expect(thinking('gemini-3-flash', { effort: 'low' }, { source: 'responses' })[0]).toEqual({ thinkingLevel: 'LOW' })
    expect(thinking('gemini-3-flash', { effort: 'low', summary: 'auto' }, { source: 'responses' })[0]).toEqual({
      includeThoughts: true,
      thinkingLevel: 'LOW',
    })
    expect(thinking('gemini-3-flash', { effort: 'low' }, { source: 'generate_content' })[0]).toEqual({ thinkingLevel: 'LOW' })
    expect(thinking('gemini-3-flash', { includeThoughts: false, effort: 'low' }, { source: 'generate_content' })[0]).toEqual({
      includeThoughts: false,
      thinkingLevel: 'LOW',
    })
  })

  it('never sends level and budget together, and passes an own caller’s wish to an unknown model', () => {
    const on = codec({ caps: { family: 'other' } })
    const { body } = encode(
      request({ source: 'generate_content', reasoning: { effort: 'low', budgetTokens: 10, mode: 'enabled' } }),
      on,
    )
    expect(body.generationConfig).toEqual({ thinkingConfig: { thinkingBudget: 10 } })
  })
})

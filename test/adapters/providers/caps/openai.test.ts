import { describe, expect, it } from 'vitest'
import { openaiCaps } from '../../../../adapters/providers/caps/openai.ts'

describe("OpenAI's models", () => {
  it.each([
    ['gpt-4o', 'yes'],
    ['gpt-4.1-mini', 'yes'],
    ['o3', 'yes'],
    ['gpt-5', 'yes'],
    ['gpt-5.2', 'yes'],
    ['gpt-5.4', 'effort_none_only'],
    ['gpt-5.4-mini-2026-03-17', 'effort_none_only'],
    ['gpt-5.6', 'effort_none_only'],
    ['gpt-6', 'effort_none_only'],
    ['gpt-6-astra', 'no'],
    ['gpt-6.1-sol', 'no'],
    ['gpt-6.2', 'no'],
    ['gpt-7.3-nova', 'no'],
    ['gpt-5-pro', 'no'],
    ['gpt-5.3-codex', 'no'],
    ['o3-deep-research', 'no'],
  ])('fact 3: %s takes tools on chat: %s', (model, tools) => {
    expect(openaiCaps(model).toolsOnChat).toBe(tools)
  })

  it.each([
    ['o3', ['low', 'medium', 'high']],
    ['o1-mini', []],
    ['gpt-4.1', []],
    ['gpt-5', ['minimal', 'low', 'medium', 'high']],
    ['gpt-5-pro', ['high']],
    ['gpt-5.1', ['none', 'low', 'medium', 'high']],
    ['gpt-5.1-codex-max', ['low', 'medium', 'high', 'xhigh']],
    ['gpt-5.2', ['none', 'low', 'medium', 'high', 'xhigh']],
    ['gpt-5.2-pro', ['medium', 'high', 'xhigh']],
    ['gpt-5.6', ['none', 'low', 'medium', 'high', 'xhigh', 'max']],
    ['gpt-6.2', ['low', 'medium', 'high', 'xhigh', 'max']],
  ])('%s reasons with %j', (model, efforts) => {
    expect(openaiCaps(model).efforts).toEqual(efforts)
  })

  it('reasoning models take max_completion_tokens, the developer role, default sampling and no stop', () => {
    for (const model of ['o1', 'o3', 'o4-mini', 'gpt-5', 'gpt-5.4', 'gpt-6.2']) {
      expect(openaiCaps(model), model).toMatchObject({
        family: 'gpt',
        reasoning: true,
        maxTokensField: 'max_completion_tokens',
        developerRole: true,
        stopSupported: false,
      })
      expect(openaiCaps(model).sampling, model).not.toBe('free')
    }
    expect(openaiCaps('o3').sampling).toBe('none')
    expect(openaiCaps('gpt-5').sampling).toBe('default_only')
    expect(openaiCaps('o1-mini').developerRole).toBe(false)
  })

  it('models that answer at once are free, the chat variants of gpt-5 included', () => {
    for (const model of ['gpt-4o', 'gpt-4.1', 'gpt-3.5-turbo', 'gpt-5-chat-latest', 'gpt-5.3-chat-latest']) {
      expect(openaiCaps(model), model).toMatchObject({
        sampling: 'free',
        reasoning: false,
        stopSupported: true,
        toolsOnChat: 'yes',
      })
    }
    expect(openaiCaps('gpt-4o').maxTokensField).toBe(undefined)
  })

  it('cache breakpoints exist from gpt-5.6 on', () => {
    expect(['gpt-4.1', 'gpt-5.5', 'gpt-5.6', 'gpt-6', 'gpt-6.2'].map((model) => openaiCaps(model).cacheBreakpoints)).toEqual([
      false,
      false,
      true,
      true,
      true,
    ])
  })

  it('an unknown newer id of a known family inherits the newest, an unknown family is plain', () => {
    expect(openaiCaps('gpt-9.9-whatever')).toEqual(openaiCaps('gpt-6.2'))
    expect(openaiCaps('o9')).toEqual(openaiCaps('o3'))
    expect(openaiCaps('gpt-oss-120b')).toEqual({ family: 'gpt' })
    expect(openaiCaps('davinci-002')).toEqual({ family: 'gpt' })
  })

  it('dates, fine-tunes and a provider prefix do not hide the model', () => {
    expect(openaiCaps('ft:gpt-4o-mini-2024-07-18:org::id')).toEqual(openaiCaps('gpt-4o-mini'))
    expect(openaiCaps('openai/gpt-5.2-2025-12-11')).toEqual(openaiCaps('gpt-5.2'))
  })

  it('only search models take web_search_options on chat; audio models hear and see nothing', () => {
    expect(openaiCaps('gpt-4o-search-preview').webSearch).toBe(true)
    expect(openaiCaps('gpt-5.2').webSearch).toBe(undefined)
    expect(openaiCaps('gpt-4o-audio-preview')).toMatchObject({ audioIn: true, visionIn: false })
    expect(openaiCaps('o3-mini').visionIn).toBe(false)
  })
})

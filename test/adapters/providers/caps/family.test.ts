import { expect, it } from 'vitest'
import { claudeCaps } from '../../../../adapters/providers/caps/claude.ts'
import { familyCaps } from '../../../../adapters/providers/caps/family.ts'
import { geminiCaps } from '../../../../adapters/providers/caps/gemini.ts'
import { openaiCaps } from '../../../../adapters/providers/caps/openai.ts'
import { builtInProviders } from '../../../../adapters/providers/index.ts'

const HOSTS = ['', 'vertex_ai/', 'bedrock/', 'openrouter/vendor/', 'publishers/vendor/models/', 'databricks-', 'Azure/']
const VENDORS = ['anthropic.', 'us.anthropic.', 'eu.anthropic.', 'global.anthropic.', 'us-gov.anthropic.']

it('a model is known by its family behind any prefix of a host', () => {
  for (const host of HOSTS) {
    for (const name of ['claude-3-5-sonnet-20241022', 'claude-opus-4-1@20250805', 'claude-sonnet-4.5', 'claude-opus-4-7'])
      expect(familyCaps(host + name), host + name).toMatchObject(hostless(claudeCaps(name)))
    for (const name of ['gemini-1.5-pro', 'gemini-2.5-flash', 'gemini-3-pro-preview', 'gemini-flash-latest'])
      expect(familyCaps(host + name), host + name).toMatchObject(hostless(geminiCaps(name)))
    for (const name of ['gpt-4o', 'gpt-5.1', 'o1', 'o3-mini', 'o4-mini-2025-04-16', 'chatgpt-4o-latest', 'gpt-3.5-turbo'])
      expect(familyCaps(host + name), host + name).toMatchObject(hostless(openaiCaps(name)))
  }
  for (const vendor of VENDORS)
    expect(familyCaps(`bedrock/${vendor}claude-3-7-sonnet-20250219-v1:0`)).toMatchObject(
      hostless(claudeCaps('claude-3-7-sonnet')),
    )
  expect(familyCaps('ft:gpt-4o-mini-2024-07-18:org::id')).toMatchObject({ family: 'gpt', sampling: 'free' })
})

function hostless({ toolsOnChat: _, webSearch: __, ...caps }: ReturnType<typeof claudeCaps>) {
  return caps
}

it.each([
  'llama-3',
  'gpt-oss-120b',
  'openai.gpt-oss-120b-1:0',
  'gpt-j-6b',
  'gemma-3-27b',
  'qwen3-14b-claude-sonnet-4.5-distill',
  'olmo-2',
  'o',
  'omni-1',
  'my-o1',
  '',
])('`%s` is of no family', (model) => expect(familyCaps(model)).toBeNull())

it('hosts of the registry follow the family, and keep their own name for other models', () => {
  for (const id of ['bedrock', 'openrouter', 'vercel-gateway', 'databricks', 'github-models']) {
    const provider = builtInProviders.find((one) => one.id === id)
    expect(provider?.caps('anthropic.claude-opus-4-7')).toMatchObject({ family: 'claude', sampling: 'default_only' })
    expect(provider?.caps('llama-3')).toEqual({ family: id })
  }
})

it('which endpoint takes tools is not said of other hosts', () => {
  expect(openaiCaps('gpt-5.4-pro').toolsOnChat).toBe('no')
  expect(familyCaps('gpt-5.4-pro')).not.toHaveProperty('toolsOnChat')
})

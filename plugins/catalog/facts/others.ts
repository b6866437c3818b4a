// Vendors with only a few facts.
import type { ProviderFacts } from './fact-row.ts'

const TOOLS = { function_calling: true, tool_choice: true, system_messages: true }
const usd = (dollars: number): number => dollars * 1e9

export const DEEPSEEK: ProviderFacts = {
  source: 'api-docs.deepseek.com: models and pricing',
  asOf: '2025-09',
  rows: [
    { match: 'deepseek-*', capabilities: { system_messages: true, prompt_caching: true } },
    // The card still has the hourly prices that ended in September 2025.
    { match: 'deepseek-chat', contextWindow: 128_000, maxOutputTokens: 8192, price: null, capabilities: TOOLS },
    {
      match: 'deepseek-reasoner',
      contextWindow: 128_000,
      maxOutputTokens: 65_536,
      price: null,
      capabilities: { reasoning: true },
    },
  ],
}

export const GROQ: ProviderFacts = {
  source: 'console.groq.com/docs/models and /docs/deprecations',
  asOf: '2025-09',
  rows: [
    { match: 'llama-3.3-70b-versatile', contextWindow: 131_072, maxOutputTokens: 32_768, capabilities: TOOLS },
    { match: 'llama-3.1-8b-instant', contextWindow: 131_072, maxOutputTokens: 131_072, capabilities: TOOLS },
    { match: 'openai/gpt-oss-*', contextWindow: 131_072, maxOutputTokens: 65_536, capabilities: { ...TOOLS, reasoning: true } },
    { match: 'qwen/qwen3-32b', contextWindow: 131_072, maxOutputTokens: 40_960, capabilities: { ...TOOLS, reasoning: true } },
    { match: 'meta-llama/llama-4-*', contextWindow: 131_072, maxOutputTokens: 8192, capabilities: { ...TOOLS, vision: true } },
  ],
  unlisted: [
    'gemma*',
    'llama2-*',
    'llama3-*',
    'llama-3.1-405b-*',
    'llama-3.1-70b-*',
    'llama-3.2-*',
    'llama-3.3-70b-specdec',
    'llama-guard-3-*',
    'mixtral-*',
    'mistral-saba-*',
    'deepseek-r1-*',
  ],
}

export const MISTRAL: ProviderFacts = {
  source: 'docs.mistral.ai: models, function calling, vision',
  asOf: '2025-09',
  rows: [
    { match: 'mistral-large*', capabilities: TOOLS },
    { match: 'mistral-medium*', capabilities: TOOLS },
    { match: 'mistral-small*', capabilities: TOOLS },
    { match: 'ministral-*', capabilities: TOOLS },
    { match: 'magistral-*', capabilities: { ...TOOLS, reasoning: true } },
    { match: 'pixtral-*', capabilities: { ...TOOLS, vision: true } },
  ],
  listed: [
    'codestral-latest',
    'magistral-medium-latest',
    'magistral-small-latest',
    'mistral-large-latest',
    'pixtral-large-latest',
  ],
  // Names without a date or `-latest` exist only in the card.
  unlisted: [
    '*:*',
    'codestral',
    'devstral-small',
    'magistral-medium',
    'magistral-small',
    'ministral-3b',
    'ministral-8b',
    'mistral-7b',
    'mistral-large',
    'mistral-medium-2312',
    'mistral-nemo',
    'mistral-saba',
    'mistral-small-24b-*',
    'mistral-small-3.*',
    'mixtral-*',
    'pixtral-large',
  ],
}

export const XAI: ProviderFacts = {
  source: 'docs.x.ai: models',
  asOf: '2025-09',
  rows: [
    { match: 'grok-*', capabilities: TOOLS },
    { match: 'grok-2-vision-*', capabilities: { vision: true, reasoning: false } },
    { match: 'grok-3-mini*', capabilities: { reasoning: true } },
    { match: 'grok-4-0709', contextWindow: 256_000, capabilities: { vision: true, reasoning: true, response_schema: true } },
    { match: 'grok-4*-non-reasoning', capabilities: { reasoning: false } },
  ],
}

export const PERPLEXITY: ProviderFacts = {
  source: 'docs.perplexity.ai: models',
  asOf: '2025-09',
  rows: [
    { match: 'sonar*', capabilities: { web_search: true, function_calling: false } },
    { match: 'sonar-reasoning*', capabilities: { reasoning: true } },
  ],
  unlisted: ['llama-3.1-sonar-*', 'r1-1776', 'sonar-pro-search'],
}

/** The gateway's own test provider. It has a price, so that you can try budgets with it. */
export const ECHO: ProviderFacts = {
  source: 'adapters/providers/echo.ts',
  asOf: '2026-11',
  rows: [{ match: '*', mode: 'chat', capabilities: TOOLS, price: { input: usd(1), output: usd(2) } }],
  listed: ['echo-1'],
}

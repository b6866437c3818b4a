import type { ProviderFacts } from './fact-row.ts'

const TEXT = { function_calling: true, parallel_function_calling: true, tool_choice: true, system_messages: true }

export const GOOGLE: ProviderFacts = {
  source: 'ai.google.dev/gemini-api/docs/models and /docs/deprecations',
  asOf: '2025-10',
  rows: [
    // The context window applies to the prompt; answers have their own limit.
    { match: 'gemini-2.*', contextWindow: 1_048_576, capabilities: TEXT },
    { match: 'gemini-2.5-*', capabilities: { prompt_caching: true } },
    { match: 'gemini-3*', contextWindow: 1_048_576, capabilities: { ...TEXT, prompt_caching: true } },
    { match: 'gemini-*-latest', contextWindow: 1_048_576, capabilities: TEXT },
    { match: 'gemini-omni-*', contextWindow: null, maxOutputTokens: null },
    { match: 'gemma-4-*', contextWindow: 262_144, maxOutputTokens: null },
  ],
  // Models and spellings of other vendors that the rate card lists under this name, and retired models.
  unlisted: [
    'claude-*',
    'gemini-1.*',
    'gemini-flash-1.*',
    'gemini-pro*',
    'gemini-live-*',
    'gemma-2-*',
    'gemma-3',
    'gemma-3n',
    '*-maas',
  ],
}

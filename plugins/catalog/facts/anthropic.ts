import type { ProviderFacts } from './fact-row.ts'

export const ANTHROPIC: ProviderFacts = {
  source: 'docs.claude.com: models overview, model deprecations, prompt caching, tool use',
  asOf: '2025-10',
  rows: [
    {
      match: 'claude-*',
      capabilities: {
        function_calling: true,
        parallel_function_calling: true,
        tool_choice: true,
        prompt_caching: true,
        system_messages: true,
      },
    },
    { match: 'claude-2*', capabilities: { function_calling: false, parallel_function_calling: false, prompt_caching: false } },
  ],
  // Retired models, and short names of the rate card that the API does not accept.
  unlisted: ['claude-v1', 'claude-2*', 'claude-3-*'],
}

// The gateway with the plugins that nothing runs without, for bench/instructions.mjs and `npm run bench -- --kernel`.
import { preset } from '../dist/plugins/preset.js'

const OFF = [
  ...['rateLimits', 'guardrails', 'wasmFilters', 'exactCache', 'catalog', 'pricing', 'policy', 'proxyPools', 'virtualModels'],
  ...['helicone', 'semanticCache', 'ledger', 'usage', 'budgets', 'webhooks', 'alerts', 'requestLog', 'savings', 'liveEvents'],
  ...['resilience', 'quota', 'tokenSaver', 'cacheInjection', 'reasoningReplay', 'thoughtSignatures', 'payloadRules'],
  ...['stripUnsupported', 'itemIds', 'thinkTags', 'countTokens', 'metrics', 'telemetry'],
]

export default {
  plugins: preset(Object.fromEntries(OFF.map((name) => [name, false]))),
  connections: {
    openai: { provider: 'custom', baseUrl: `${process.env.BENCH_UPSTREAM}/v1`, wireFormat: 'chat', apiKey: 'sk-bench' },
  },
}

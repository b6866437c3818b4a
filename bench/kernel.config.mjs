// A gateway with only the required plugins, for bench/instructions.mjs and `npm run bench -- --kernel`. BENCH_LIMITS, which `--limits`
// sets, adds rate limits and the request log.
import { preset } from 'hookgate/preset'

const OFF = [
  ...['rateLimits', 'guardrails', 'wasmFilters', 'exactCache', 'catalog', 'pricing', 'policy', 'proxyPools', 'virtualModels'],
  ...['helicone', 'semanticCache', 'ledger', 'usage', 'budgets', 'webhooks', 'alerts', 'requestLog', 'savings', 'liveEvents'],
  ...['resilience', 'quota', 'tokenSaver', 'cacheInjection', 'reasoningReplay', 'thoughtSignatures', 'payloadRules'],
  ...['stripUnsupported', 'itemIds', 'thinkTags', 'countTokens', 'metrics', 'telemetry'],
]

const LIMITS = ['rateLimits', 'requestLog']
const off = process.env.BENCH_LIMITS ? OFF.filter((name) => !LIMITS.includes(name)) : OFF

export default {
  plugins: preset(Object.fromEntries(off.map((name) => [name, false]))),
  connections: {
    openai: { provider: 'custom', baseUrl: `${process.env.BENCH_UPSTREAM}/v1`, wireFormat: 'chat', apiKey: 'sk-bench' },
  },
}

// The gateway for bench/policies.mjs: without the policy plugins, with their defaults, or with active policies.
import { definePlugin, preset } from 'hookgate'

const mode = process.env.BENCH_POLICIES
const without = {
  guardrails: false,
  exactCache: false,
  semanticCache: false,
  helicone: false,
  tokenSaver: false,
  cacheInjection: false,
  reasoningReplay: false,
  thoughtSignatures: false,
  payloadRules: false,
}
const settings = {
  guardrails: { enabled: true, secrets: { mode: 'redact' }, pii: { mode: 'redact' } },
  exact_cache: { ttl_ms: 600_000 },
  token_saver: { filters_enabled: true },
  cache_injection: { enabled: true },
  reasoning_replay: { enabled: true },
}

/** The load always sends the same body, so each request gets its own name space in the cache and is a miss. */
const misses = definePlugin({
  name: 'bench-misses',
  requires: ['exactCache'],
  setup(gateway) {
    const cache = gateway.use('exactCache')
    let request = 0
    gateway.hook('request', (ctx) => cache.request(ctx, { seed: String(request++) }))
  },
})

export default {
  connections: {
    openai: { provider: 'custom', baseUrl: `${process.env.BENCH_UPSTREAM}/v1`, wireFormat: 'chat', apiKey: 'sk-bench' },
  },
  plugins: [...preset(mode === 'without' ? without : {}), ...(mode === 'misses' ? [misses()] : [])],
  ...((mode === 'misses' || mode === 'hits') && { settings }),
}

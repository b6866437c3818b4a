// The gateway of the soak test: an upstream of each dialect, virtual models over them, and the stateful policies enabled.
const wireFormats = ['chat', 'messages', 'responses', 'generate_content']
const targets = wireFormats.map((wireFormat) => `${wireFormat}/m`)

export default {
  connections: Object.fromEntries(
    wireFormats.map((wireFormat) => [
      wireFormat,
      { provider: 'custom', baseUrl: process.env[`SOAK_${wireFormat.toUpperCase()}`], wireFormat, apiKey: 'sk-soak' },
    ]),
  ),
  virtualModels: {
    'soak-failover': { strategy: 'failover', targets },
    'soak-balance': { strategy: 'load_balance', targets },
    'soak-fastest': { strategy: 'latency_based', targets },
  },
  budgets: { all: { scope: 'org', window: 'daily', hardLimitUsd: 1e6 } },
  settings: {
    guardrails: { enabled: true, secrets: { mode: 'redact' }, pii: { mode: 'redact' } },
    exact_cache: { ttl_ms: 1000 },
    token_saver: { filters_enabled: true },
    cache_injection: { enabled: true },
    reasoning_replay: { enabled: true },
    request_log: { bodies: true },
  },
}

// The names of the options of the preset.

/** True: `false` leaves the plugin out. */
export const LEAVES_OUT = {
  signIn: false,
  mail: true,
  oidc: true,
  keys: false,
  organizations: false,
  rateLimits: true,
  guardrails: true,
  wasmFilters: true,
  exactCache: true,
  registry: true,
  pluginList: true,
  dashboard: true,
  downloads: true,
  attention: true,
  configPlan: true,
  transfer: true,
  catalog: true,
  pricing: true,
  policy: true,
  proxyPools: true,
  virtualModels: true,
  helicone: true,
  semanticCache: true,
  ledger: true,
  usage: true,
  budgets: true,
  freePool: true,
  webhooks: true,
  alerts: true,
  requestLog: true,
  savings: true,
  advisor: true,
  liveEvents: true,
  playground: true,
  resilience: true,
  quota: true,
  oauthAccounts: true,
  tokenSaver: true,
  cacheInjection: true,
  reasoningReplay: true,
  thoughtSignatures: true,
  payloadRules: true,
  stripUnsupported: true,
  itemIds: true,
  responsesState: true,
  thinkTags: true,
  countTokens: true,
  defaultModels: true,
  webFetch: true,
  compaction: true,
  completions: true,
  batches: true,
  responsesSocket: true,
  voices: true,
  heartbeat: true,
  answerModel: true,
  upstreamHeaders: true,
  vendorIds: true,
  cors: true,
  health: true,
  metrics: true,
  tunnel: true,
  interception: true,
  telemetry: true,
} as const

/** A misspelled name would silently leave a guardrail on or off. @throws TypeError */
export function checkOptions(options: object, leavesOut: Readonly<Record<string, boolean>>): void {
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(leavesOut, name))
      throw new TypeError(`preset: there is no option \`${name}\`. There are: ${Object.keys(leavesOut).join(', ')}.`)
    if (value === false && leavesOut[name] === false)
      throw new TypeError(`preset: \`${name}\` cannot be left out: nothing runs without it.`)
  }
}

// Every GATEWAY_* variable, declared once: type, default, meaning. `hookgate env` prints this table and docs/ is made from it.

export type VariableType = 'string' | 'int' | 'number' | 'bool' | 'enum' | 'list' | 'json' | 'url' | 'secret'

export interface Variable {
  /** Without the GATEWAY_ prefix. */
  readonly name: string
  readonly type: VariableType
  /** null = unset: disabled or not configured. */
  readonly default: string | number | boolean | null
  readonly about: string
  readonly values?: readonly string[]
  readonly min?: number
  readonly max?: number
  /** Allowed schemes of a URL variable. */
  readonly schemes?: readonly string[]
  /** A bad value is logged and ignored instead of stopping the boot. */
  readonly lenient?: true
  /** Set to nothing means something else than not set. */
  readonly emptyMeans?: string
  /** Read when the gateway starts and not at a reload. */
  readonly atStart?: true
  /** An unprefixed name read when the prefixed one is unset. */
  readonly fallback?: string
}

const v = (
  name: string,
  type: VariableType,
  fallback: Variable['default'],
  about: string,
  more: Partial<Variable> = {},
): Variable => ({
  name,
  type,
  default: fallback,
  about,
  ...more,
})
const atStart = { atStart: true } as const
const positive = { min: 0 }
const fraction = { min: 0, max: 1 }

export const VARIABLES: readonly Variable[] = [
  v('PROFILE', 'enum', 'local', 'Who this gateway serves: one user, or many tenants.', { values: ['local', 'cloud'] }),
  v('HOST', 'string', '127.0.0.1', 'Bind address.', atStart),
  v('PORT', 'int', 8788, 'Port; 0 picks a free one.', { min: 0, max: 65535, ...atStart }),
  v('MAX_CONNECTIONS', 'int', 10_000, 'Connections of clients at a time; beyond, new ones are refused.', {
    min: 2,
    ...atStart,
  }),
  v(
    'MAX_PENDING_CONNECTIONS',
    'int',
    null,
    'Of them, those that have not yet brought a whole request; the oldest goes. Default: half.',
    { min: 1, ...atStart },
  ),
  v('MAX_PENDING_CONNECTIONS_PER_ADDRESS', 'int', 200, 'The same for one address (IPv6: one /64), after a second.', {
    min: 1,
    ...atStart,
  }),
  v('CONFIG', 'string', null, 'Path of the configuration file; default `gateway.config.ts` in the working directory.'),
  v('DATA_DIR', 'string', null, 'Local data directory; computed when unset.', atStart),
  v('DATABASE_URL', 'url', null, 'Database URL; otherwise a file database in the data directory.', {
    fallback: 'DATABASE_URL',
    ...atStart,
  }),
  v('ALLOW_NEWER', 'bool', false, 'Start on a database that a newer version has migrated.', atStart),
  v('REDIS_URL', 'url', null, 'Shared store for rates, in-flight slots and debounce.', {
    fallback: 'REDIS_URL',
    ...atStart,
  }),
  v('MULTI_TENANT', 'bool', false, 'Self-serve multi-tenancy. No sign-up yet, and it closes the password sign-in.'),
  v('ADMIN_EMAILS', 'list', '', 'E-mail addresses that become system administrators on sign-up.'),
  v('IDP_CLIENT_ID', 'string', null, 'Identity-provider client id; needs the secret too.'),
  v('IDP_CLIENT_SECRET', 'secret', null, 'Identity-provider client secret.'),
  v('IDP_ALLOWED_DOMAINS', 'list', '', 'E-mail domains that may sign in.'),
  v('IDP_ISSUER', 'url', null, 'Identity-provider issuer override.'),
  v('EMAIL_API_KEY', 'secret', null, 'Transactional e-mail; without it e-mails are logged.'),
  v('EMAIL_FROM', 'string', null, 'Sender of transactional e-mail.'),
  v('PUBLIC_URL', 'url', null, 'The address users reach the gateway by; base of links, allowed Host.', {
    schemes: ['http', 'https'],
    ...atStart,
  }),
  v('DASHBOARD_DIR', 'string', null, 'Dashboard assets; falls back to `dashboard/dist`.'),
  v('DIST_DIR', 'string', null, 'Release artifacts for /dl/*.'),
  v('DIST_BASE_URL', 'url', null, 'Redirect base for /dl/*; wins over the directory.'),
  v('MASTER_KEY', 'secret', null, 'The 32-byte master key itself, base64 or hex.', atStart),
  v('MASTER_KEY_PATH', 'string', null, 'File with the 32-byte master key.', atStart),
  v('DASHBOARD_PASSWORD_HASH', 'secret', null, 'Argon2 PHC hash of the dashboard password.'),
  v('JWT_SECRET', 'secret', null, 'Secret of session tokens; derived from the master key when unset.'),
  v('REQUIRE_API_KEY', 'bool', false, 'Require a client key on /v1/*.'),
  v('CORS_ORIGINS', 'list', '', 'Origins whose web pages may call /v1/* and /v1beta/* from a browser; `*` for all.'),
  v('MAX_KEY_DAYS', 'int', null, 'Longest lifetime of a client key, in days.', positive),
  v(
    'RATE_LIMIT_RPM',
    'int',
    null,
    'Requests per minute of each key without a cap of its own, and of each anonymous address.',
    positive,
  ),
  v('RATE_LIMIT_BURST', 'int', null, 'How many of them may come at once; default: the rate.', positive),
  v('VIRTUAL_MODELS_ONLY', 'bool', false, 'Strict mode: concrete models are refused.'),
  v('FREE_POOL_VM', 'string', 'gateway/free', 'System virtual model of the free pool.'),
  v('FREE_POOL_GLOBAL_DAILY_TOKEN_CAP', 'int', null, 'Free-pool tokens per UTC day, over all.', positive),
  v('FREE_TIER_TOKEN_LIMIT_HOUR', 'int', null, 'Free-pool tokens of one organization per rolling hour.', positive),
  v('FREE_TIER_TOKEN_LIMIT_DAY', 'int', null, 'The same per rolling day.', positive),
  v('FREE_TIER_TOKEN_LIMIT_WEEK', 'int', null, 'The same per rolling 7 days.', positive),
  v('FREE_TIER_REQUIRES_VERIFIED_EMAIL', 'bool', true, 'Free pool only with a verified e-mail (multi-tenant).'),
  v('ACCOUNT_MAX_INFLIGHT', 'int', null, 'Concurrent requests per upstream account.', positive),
  v('COST_CENTER_MAX_INFLIGHT', 'int', null, 'Concurrent requests per cost center.', positive),
  v('COST_CENTER_HEADER_TRUSTED', 'bool', true, 'x-gateway-cost-center overrides the key’s stored one.'),
  v('COOLDOWN_RETRY_MAX_WAIT_MS', 'int', null, 'Longest retry-after waited out on the same account, ms.', positive),
  v('REQUEST_DEADLINE_MS', 'int', null, 'Total deadline until the first content, ms; 0 = none.', positive),
  v('UPSTREAM_CONNECT_TIMEOUT_MS', 'int', 10_000, 'Connect timeout, ms; 0 disables.', positive),
  v('UPSTREAM_IDLE_TIMEOUT_MS', 'int', 120_000, 'Longest gap between upstream bytes, ms; 0 disables.', positive),
  v('UPSTREAM_POOL_MAX_IDLE_PER_HOST', 'int', 32, 'Idle connections kept per host.', { ...positive, ...atStart }),
  v('UPSTREAM_TCP_KEEPALIVE_SECS', 'int', 60, 'TCP keep-alive, s; 0 disables.', { ...positive, ...atStart }),
  v('HEALTH_CHECK_INTERVAL_SECS', 'int', null, 'Active prober of each connection; unset or 0 = off.', positive),
  v(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    'url',
    null,
    'OpenTelemetry collector (OTLP over HTTP); unset: no traces and metrics are sent.',
    {
      fallback: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    },
  ),
  v('OTEL_EXPORTER_OTLP_HEADERS', 'secret', null, 'Headers for it: `name=value,name=value`.', {
    fallback: 'OTEL_EXPORTER_OTLP_HEADERS',
  }),
  v('OTEL_SERVICE_NAME', 'string', 'hookgate', 'What this gateway is called there.', { fallback: 'OTEL_SERVICE_NAME' }),
  v('OTEL_TRACES_SAMPLER_ARG', 'number', 1, 'Share of the requests that are traced, unless their caller decided.', {
    fallback: 'OTEL_TRACES_SAMPLER_ARG',
    ...fraction,
  }),
  v('METRICS_REQUIRE_OPERATOR', 'bool', false, '/metrics takes an operator credential only.'),
  v('LIMITER_REDIS_FALLBACK', 'enum', 'fail-open', 'When the shared store is unreachable.', {
    values: ['fail-open', 'local', 'fail-closed'],
    lenient: true,
    ...atStart,
  }),
  v('REASONING_REPLAY', 'bool', false, 'Cache reasoning and re-inject it by tool-call id.'),
  v('GENCONTENT_SIGNATURE_CACHE', 'bool', true, 'Cache tool-call thought signatures for an hour.'),
  v('ANSWER_MODEL', 'enum', 'auto', 'Name of the model in answers; auto: as asked in messages, as served elsewhere.', {
    values: ['auto', 'requested', 'served'],
  }),
  v('PASS_UPSTREAM_HEADERS', 'list', '', 'Headers of the upstream that callers get: `ratelimit`, `request_id`.'),
  v('VENDOR_IDS', 'enum', 'auto', 'Refuse ids of stored responses that another key created; auto: on the cloud profile.', {
    values: ['auto', 'on', 'off'],
  }),
  v('HEARTBEAT_GENERATE_CONTENT', 'enum', 'auto', 'Heartbeat of generate-content streams; auto: by client.', {
    values: ['auto', 'frame', 'comment', 'off'],
  }),
  v('STREAM_HEARTBEAT_MS', 'int', 15_000, 'Heartbeat of quiet streams, ms; 0 disables.', positive),
  v('MAX_BODY_BYTES', 'int', 20 * 1024 * 1024, 'Body cap of the JSON model routes, bytes.', { min: 1 }),
  v('MAX_RECEIVING_BYTES', 'int', 256 * 1024 * 1024, 'Bytes of bodies that are being received, in all; beyond: 503.', {
    min: 1,
  }),
  v('MAX_RECEIVING_BYTES_PER_KEY', 'int', 128 * 1024 * 1024, 'The same of one client key, or of one anonymous address.', {
    min: 1,
  }),
  v('MIN_BODY_BYTES_PER_SEC', 'int', 1024, 'A body that comes slower for 10 s is given up with 408; 0 disables.', positive),
  v('OVERLOAD_LOOP_DELAY_MS', 'int', 200, 'Event-loop delay beyond which new requests get 503, ms; 0 disables.', positive),
  v('OVERLOAD_HEAP_PERCENT', 'int', 95, 'The same by the heap in use, percent of its limit; 0 disables.', { min: 0, max: 100 }),
  v('MAX_REQUEST_VALUES', 'int', 200_000, 'Objects, arrays and members in a JSON body of a model route.', { min: 1 }),
  v('MAX_REQUEST_NUMBERS', 'int', 4_000_000, 'Numbers in its arrays.', { min: 1 }),
  v('MAX_ANSWER_VALUES', 'int', 500_000, 'Objects, arrays and members in a JSON answer or event of a stream that is read.', {
    min: 1,
  }),
  v('MAX_ANSWER_NUMBERS', 'int', 10_000_000, 'Numbers in its arrays.', { min: 1 }),
  v('PAYLOAD_RULES_PATH', 'string', null, 'JSON file of payload rules, re-read when it changes.', { lenient: true }),
  v('STRIP_UNSUPPORTED_FIELDS', 'bool', true, 'Strip a field an upstream refuses by name and retry.'),
  v('ALERT_WEBHOOK_URL', 'url', null, 'Legacy alert webhook.'),
  v('ALERT_WEBHOOK_FORMAT', 'enum', 'generic', 'Its format.', { values: ['slack', 'discord', 'generic'] }),
  v('DEDUP_TTL_MS', 'int', null, 'Window in which identical non-stream requests share an answer, ms.', positive),
  v('SEMANTIC_CACHE_ENABLED', 'bool', false, 'Semantic cache master switch.', { lenient: true }),
  v('SEMANTIC_CACHE_TTL_MS', 'int', null, 'Semantic cache lifetime, ms.', { ...positive, lenient: true }),
  v('SEMANTIC_CACHE_THRESHOLD', 'number', null, 'Least cosine similarity; 0.95 when enabled.', { ...fraction, lenient: true }),
  v('SEMANTIC_CACHE_EMBED_MODEL', 'string', null, 'External `provider/model` that embeds prompts.', { lenient: true }),
  v('SEMANTIC_CACHE_REVALIDATE_RATE', 'number', 0.05, 'Share of hits treated as misses for sampling.', {
    ...fraction,
    lenient: true,
  }),
  v('SEMANTIC_CACHE_PRECISION_FLOOR', 'number', 0.9, 'Below it a route’s threshold rises.', { ...fraction, lenient: true }),
  v('ROUTES', 'json', null, 'Named, cost-ordered candidate lists.', { lenient: true }),
  v('FINGERPRINT_VERSIONS', 'json', null, 'Client versions by provider id.', { lenient: true }),
  v('MONTHLY_BUDGET_USD', 'number', null, 'Budget status of the advisor.', positive),
  v('SESSION_BUDGET_USD', 'number', null, 'Spend cap per session.', positive),
  v('BUDGET_FAIL_CLOSED', 'bool', false, '503 when budgets cannot be verified.'),
  v(
    'BUDGET_UNKNOWN_PROMPT',
    'string',
    'reserve',
    'A prompt that lies at the vendor or behind an address: `reserve` keeps back the model’s whole window, `refuse` answers 400.',
  ),
  v('DEFAULT_KEY_BUDGET_USD', 'number', null, 'Hard limit of each new key’s budget.', positive),
  v(
    'DEFAULT_KEY_BUDGET_WINDOW',
    'string',
    'monthly',
    'Its window: hourly, daily, weekly, monthly, yearly or lifetime; with anything else new keys get none.',
  ),
  v('MAX_KEY_BUDGET_USD', 'number', null, 'Highest hard limit of a key budget.', positive),
  v('MAX_BUDGET_INCREASE_DAYS', 'int', 90, 'Longest temporary budget increase, days; 0 = unbounded.', positive),
  v('BUDGET_TIMEZONE', 'string', 'UTC', 'IANA zone of calendar windows.', { lenient: true }),
  v('CAVEMAN_LEVEL', 'enum', null, 'Output-side token saver.', {
    values: ['lite', 'full', 'ultra', 'wenyan-lite', 'wenyan', 'wenyan-ultra'],
    lenient: true,
  }),
  v('PONYTAIL_LEVEL', 'enum', null, 'Second token saver.', { values: ['lite', 'full', 'ultra'], lenient: true }),
  v(
    'THINK_TAG_MODELS',
    'list',
    null,
    'Globs of models whose inline think tags move to the reasoning channel; computed when unset.',
    {
      emptyMeans: 'disabled',
    },
  ),
  v('MITM_ENABLED', 'bool', false, 'Local TLS interception proxy.'),
  v('MITM_PORT', 'int', 8443, 'Its port.', { min: 0, max: 65535 }),
  v('MITM_MANAGE_HOSTS', 'bool', false, 'Best-effort hosts file entries.'),
  v('MITM_INSTALL_CA', 'bool', false, 'Best-effort CA installation.'),
  v('OUTBOUND_PROXY', 'url', null, 'Global proxy: http, https or socks5; a connection’s own wins.', {
    schemes: ['http', 'https', 'socks5'],
  }),
  v('PLUGIN_PATH', 'string', null, 'WASM filters: a file, several with the path delimiter between them, or a folder.'),
  v('PLUGIN_FAIL_OPEN', 'bool', false, 'A failing WASM filter is passed over instead of refusing the request.'),
  v('SHADOW_EVAL_ENABLED', 'bool', false, 'Shadow replay.'),
  v('SHADOW_SAMPLE_RATE', 'number', 0.02, 'Share of requests replayed.', fraction),
  v('SHADOW_DAILY_USD_BUDGET', 'number', 5, 'Daily spend cap of replays.', positive),
  v('SHADOW_TTL_DAYS', 'int', 7, 'How long samples are kept, days.', positive),
  v('PRICING_SYNC_ENABLED', 'bool', true, 'Sync public rate cards at start and on an interval.'),
  v(
    'PRICING_SYNC_URL',
    'url',
    'https://raw.githubusercontent.com/BerriAI/litellm/{ref}/model_prices_and_context_window.json',
    'Primary rate card (USD per token); https, or http to a private host. `{ref}` becomes the version reference.',
  ),
  v('PRICING_FALLBACK_URL', 'url', 'https://models.dev/api.json', 'Fallback rate card (USD per 1M tokens).'),
  v('PRICING_SYNC_INTERVAL_SECS', 'int', 21_600, 'Interval, s.', { min: 1, max: 2_000_000 }),
  v('PRICING_SYNC_FETCH_TIMEOUT_SECS', 'int', 90, 'Per fetch, s.', { min: 1, max: 3600 }),
  v('PRICING_SYNC_REF', 'string', 'v1.89.4', 'Version reference of the primary snapshot: a release tag.'),
  v('PRICING_SYNC_DRIFT_PCT', 'number', 25, 'Price change flagged for review, percent.', positive),
  v('USAGE_RETENTION_DAYS', 'int', 30, '0 or negative keeps forever.'),
  v('AUDIT_RETENTION_DAYS', 'int', null, 'Prune audit entries older than this, never past the export cursor.', positive),
  v('ERROR_RULES', 'json', null, 'Error-classification rules.', { lenient: true }),
  v('LOG_ENABLED', 'bool', true, 'Persist the per-request log.'),
  v('LOG_BODIES', 'bool', false, 'Store bodies; the setting `request_log.bodies` overrides.'),
  v('LOG_MAX_BODY_BYTES', 'int', 1_048_576, 'Per-body cap, bytes.', positive),
  v('LOG_RETENTION_DAYS', 'int', 30, '0 disables time pruning.', positive),
  v('LOG_RETENTION_MAX_BYTES', 'int', 2_147_483_648, '0 disables size pruning.', positive),
  v('LOG_BODY_RETENTION_DAYS', 'int', 0, 'Shorter retention of bodies; 0 = as rows.', positive),
  v('LIVE_EVENT_BUFFER', 'int', 256, 'Recent events kept for live subscribers.', { min: 1 }),
]

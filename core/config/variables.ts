// Declares the GATEWAY_* variables that core, hosts and the command line read, and those that several plugins read. A plugin declares its
// own in `variables` of its definition.
import type { Variable, VariableType } from '../types/variables.ts'

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
  v('PUBLIC_URL', 'url', null, 'The address users reach the gateway by; base of links, allowed Host.', {
    schemes: ['http', 'https'],
    ...atStart,
  }),
  v('MASTER_KEY', 'secret', null, 'The 32-byte master key itself, base64 or hex.', atStart),
  v('MASTER_KEY_PATH', 'string', null, 'File with the 32-byte master key.', atStart),
  v('REQUIRE_API_KEY', 'bool', false, 'Require a client key on /v1/*.'),
  v('REQUEST_DEADLINE_MS', 'int', null, 'Total deadline until the first content, ms; 0 = none.', positive),
  v('UPSTREAM_CONNECT_TIMEOUT_MS', 'int', 10_000, 'Connect timeout, ms; 0 disables.', positive),
  v('UPSTREAM_IDLE_TIMEOUT_MS', 'int', 120_000, 'Longest gap between upstream bytes, ms; 0 disables.', positive),
  v('UPSTREAM_POOL_MAX_IDLE_PER_HOST', 'int', 32, 'Idle connections kept per host.', { ...positive, ...atStart }),
  v('UPSTREAM_TCP_KEEPALIVE_SECS', 'int', 60, 'TCP keep-alive, s; 0 disables.', { ...positive, ...atStart }),
  v('LIMITER_REDIS_FALLBACK', 'enum', 'fail-open', 'When the shared store is unreachable.', {
    values: ['fail-open', 'local', 'fail-closed'],
    lenient: true,
    ...atStart,
  }),
  v('STREAM_HEARTBEAT_MS', 'int', 15_000, 'Heartbeat of quiet streams, ms; 0 disables.', { min: 0, max: 86_400_000 }),
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
  v('OUTBOUND_PROXY', 'url', null, 'Global proxy: http, https or socks5; a connection’s own wins.', {
    schemes: ['http', 'https', 'socks5'],
  }),

  // Read by several plugins.
  v('ROUTES', 'json', null, 'Named, cost-ordered candidate lists.', { lenient: true }),
  v('USAGE_RETENTION_DAYS', 'int', 30, 'How long usage is kept, days; 0 or negative keeps forever.'),
  v('LOG_RETENTION_DAYS', 'int', 30, 'How long logged requests are kept, days; 0 disables time pruning.', positive),

  // Not read yet.
  v('ADMIN_EMAILS', 'list', [], 'E-mail addresses that become system administrators on sign-up.'),
  v('IDP_ALLOWED_DOMAINS', 'list', [], 'E-mail domains that may sign in.'),
  v('IDP_ISSUER', 'url', null, 'Identity-provider issuer override.'),
  v('EMAIL_API_KEY', 'secret', null, 'Transactional e-mail; without it e-mails are logged.'),
  v('EMAIL_FROM', 'string', null, 'Sender of transactional e-mail.'),
  v('DASHBOARD_DIR', 'string', null, 'Dashboard assets; falls back to `dashboard/dist`.'),
  v('DIST_DIR', 'string', null, 'Release artifacts for /dl/*.'),
  v('DIST_BASE_URL', 'url', null, 'Redirect base for /dl/*; wins over the directory.'),
  v('FREE_POOL_GLOBAL_DAILY_TOKEN_CAP', 'int', null, 'Free-pool tokens per UTC day, over all.', positive),
  v('FREE_TIER_TOKEN_LIMIT_HOUR', 'int', null, 'Free-pool tokens of one organization per rolling hour.', positive),
  v('FREE_TIER_TOKEN_LIMIT_DAY', 'int', null, 'The same per rolling day.', positive),
  v('FREE_TIER_TOKEN_LIMIT_WEEK', 'int', null, 'The same per rolling 7 days.', positive),
  v('FREE_TIER_REQUIRES_VERIFIED_EMAIL', 'bool', true, 'Free pool only with a verified e-mail (multi-tenant).'),
  v('FINGERPRINT_VERSIONS', 'json', null, 'Client versions by provider id.', { lenient: true }),
  v('MONTHLY_BUDGET_USD', 'number', null, 'Budget status of the advisor.', positive),
  v('MITM_ENABLED', 'bool', false, 'Local TLS interception proxy.'),
  v('MITM_PORT', 'int', 8443, 'Its port.', { min: 0, max: 65535 }),
  v('MITM_MANAGE_HOSTS', 'bool', false, 'Best-effort hosts file entries.'),
  v('MITM_INSTALL_CA', 'bool', false, 'Best-effort CA installation.'),
  v('SHADOW_EVAL_ENABLED', 'bool', false, 'Shadow replay.'),
  v('SHADOW_SAMPLE_RATE', 'number', 0.02, 'Share of requests replayed.', fraction),
  v('SHADOW_DAILY_USD_BUDGET', 'number', 5, 'Daily spend cap of replays.', positive),
  v('SHADOW_TTL_DAYS', 'int', 7, 'How long samples are kept, days.', positive),
]

/** The variables that select the configuration file. They are read before the file names its plugins, and all others after it. */
export const FILE_VARIABLES = VARIABLES.filter(({ name }) => name === 'CONFIG' || name === 'PROFILE')

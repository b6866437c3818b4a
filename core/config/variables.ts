// Declares the GATEWAY_* variables that core, hosts and the command line read, and those that several plugins read. A plugin declares its
// own in `variables` of its definition.
import type { Variable, VariableType } from '../types/plugin/variables.ts'

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

export const VARIABLES: readonly Variable[] = [
  v('PROFILE', 'enum', 'local', 'Who this gateway serves: one user, or many tenants.', { values: ['local', 'cloud'] }),
  v('HOST', 'string', '127.0.0.1', 'Bind address.', atStart),
  v('PORT', 'int', 8788, 'Port; 0 picks a free one.', { min: 0, max: 65535, ...atStart }),
  v('MAX_CONNECTIONS', 'int', 10_000, 'Largest number of open client connections. The gateway closes new connections above it.', {
    min: 2,
    ...atStart,
  }),
  v(
    'MAX_PENDING_CONNECTIONS',
    'int',
    null,
    'Largest number of client connections that have not sent a whole request yet. Above it the oldest one is closed. Default: half of GATEWAY_MAX_CONNECTIONS.',
    { min: 1, ...atStart },
  ),
  v(
    'MAX_PENDING_CONNECTIONS_PER_ADDRESS',
    'int',
    200,
    'The same limit for one IPv4 address or one IPv6 /64. It closes only connections older than a second.',
    {
      min: 1,
      ...atStart,
    },
  ),
  v(
    'WORKERS',
    'string',
    null,
    'Number of processes that `hookgate serve` serves with, 1 to 64; `auto`: as many as the machine has cores. Default: 1.',
    atStart,
  ),
  v('CONFIG', 'string', null, 'Path of the configuration file; default `gateway.config.ts` in the working directory.'),
  v('DATA_DIR', 'string', null, 'Local data directory; computed when unset.', atStart),
  v('DATABASE_URL', 'url', null, 'Database URL; otherwise a file database in the data directory.', {
    fallback: 'DATABASE_URL',
    ...atStart,
  }),
  v('ALLOW_NEWER', 'bool', false, 'Start on a database that a newer version has migrated.', atStart),
  v('REDIS_URL', 'url', null, 'Redis that replicas share, for rate limits, in-flight slots and short-lived values.', {
    fallback: 'REDIS_URL',
    ...atStart,
  }),
  v(
    'STORAGE_URL',
    'url',
    null,
    'Store of short-lived values, opened by the plugin that offers a driver for its scheme.',
    atStart,
  ),
  v('PUBLIC_URL', 'url', null, 'Address at which users reach the gateway. It is the base of links and an allowed Host.', {
    schemes: ['http', 'https'],
    ...atStart,
  }),
  v('MASTER_KEY', 'secret', null, 'The 32-byte master key itself, base64 or hex.', atStart),
  v('MASTER_KEY_PATH', 'string', null, 'File with the 32-byte master key.', atStart),
  v('REQUIRE_API_KEY', 'bool', false, 'Require a client key on /v1/*.'),
  v('REQUEST_DEADLINE_MS', 'int', null, 'Deadline of a request until its first content, ms; 0 = none.', positive),
  v(
    'HOOK_TIMEOUT_MS',
    'int',
    30_000,
    'Longest time of one asynchronous hook that sets no `timeoutMs`, ms; 0 = no limit.',
    positive,
  ),
  v('UPSTREAM_CONNECT_TIMEOUT_MS', 'int', 10_000, 'Connect timeout, ms; 0 disables.', positive),
  v('UPSTREAM_IDLE_TIMEOUT_MS', 'int', 120_000, 'Longest gap between upstream bytes, ms; 0 disables.', positive),
  v('UPSTREAM_POOL_MAX_IDLE_PER_HOST', 'int', 32, 'Idle connections kept per host.', { ...positive, ...atStart }),
  v('UPSTREAM_TCP_KEEPALIVE_SECS', 'int', 60, 'TCP keep-alive, s; 0 disables.', { ...positive, ...atStart }),
  v(
    'LIMITER_REDIS_FALLBACK',
    'enum',
    'fail-open',
    'What to do when Redis is unreachable: let requests pass, count per process, or refuse.',
    {
      values: ['fail-open', 'local', 'fail-closed'],
      lenient: true,
      ...atStart,
    },
  ),
  v('STREAM_HEARTBEAT_MS', 'int', 15_000, 'Heartbeat of quiet streams, ms; 0 disables.', { min: 0, max: 86_400_000 }),
  v('MAX_BODY_BYTES', 'int', 20 * 1024 * 1024, 'Body cap of the JSON model routes, bytes.', { min: 1 }),
  v(
    'MAX_RECEIVING_BYTES',
    'int',
    256 * 1024 * 1024,
    'Bytes of request bodies that the gateway receives at the same time. Above it requests get 503.',
    {
      min: 1,
    },
  ),
  v('MAX_RECEIVING_BYTES_PER_KEY', 'int', 128 * 1024 * 1024, 'The same limit for one client key or one anonymous address.', {
    min: 1,
  }),
  v(
    'MIN_BODY_BYTES_PER_SEC',
    'int',
    1024,
    'Least speed of a request body. A body that is slower for 10 s gets 408; 0 disables.',
    positive,
  ),
  v('OVERLOAD_LOOP_DELAY_MS', 'int', 200, 'Event-loop delay above which new requests get 503, ms; 0 disables.', positive),
  v('OVERLOAD_HEAP_PERCENT', 'int', 95, 'Heap in use above which new requests get 503, percent of its limit; 0 disables.', {
    min: 0,
    max: 100,
  }),
  v(
    'MAX_REQUEST_VALUES',
    'int',
    200_000,
    'Largest number of objects, arrays and members in the JSON body of a request to a model route.',
    { min: 1 },
  ),
  v('MAX_REQUEST_NUMBERS', 'int', 4_000_000, 'Largest number of numbers in the arrays of such a body.', { min: 1 }),
  v(
    'MAX_ANSWER_VALUES',
    'int',
    500_000,
    'Largest number of objects, arrays and members in a JSON answer or stream event that the gateway reads.',
    {
      min: 1,
    },
  ),
  v('MAX_ANSWER_NUMBERS', 'int', 10_000_000, 'Largest number of numbers in the arrays of such an answer or event.', { min: 1 }),
  v('OUTBOUND_PROXY', 'url', null, 'Global proxy: http, https or socks5. The proxy of a connection overrides it.', {
    schemes: ['http', 'https', 'socks5'],
  }),
  v('FINGERPRINT_VERSIONS', 'json', null, 'Client versions by provider id, for vendors that document such a header.', {
    lenient: true,
  }),

  // Read by several plugins.
  v('ROUTES', 'json', null, 'Named lists of candidates, ordered by cost.', { lenient: true }),
  v('IDP_CLIENT_ID', 'string', null, 'Identity-provider client id. Set the client secret too.'),
  v('IDP_CLIENT_SECRET', 'secret', null, 'Identity-provider client secret.'),
  v('BUDGET_TIMEZONE', 'string', 'UTC', 'IANA time zone of calendar windows.', { lenient: true }),
  v('USAGE_RETENTION_DAYS', 'int', 30, 'How long usage is kept, days; 0 or negative keeps forever.'),
  v('FREE_POOL_VM', 'string', 'gateway/free', 'Name of the virtual model of the free pool.'),
  v('LOG_RETENTION_DAYS', 'int', 30, 'How long logged requests are kept, days; 0 disables time pruning.', positive),
]

/** The variables that select the configuration file. They are read before the file names its plugins, and all others after it. */
export const FILE_VARIABLES = VARIABLES.filter(({ name }) => name === 'CONFIG' || name === 'PROFILE')

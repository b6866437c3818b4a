// The event catalog: default subscriptions, debounce times, and the members of `data` for events from the bus.

interface EventKind {
  readonly defaultOn: boolean
  /** Emitted once in this time for each value of one member of its `data`. */
  readonly debounce?: { readonly ms: number; readonly by: 'dedup_key' }
  /** For the documentation: the emitter's own minimum interval. */
  readonly told?: { readonly ms: number; readonly by: string }
  /** The event comes from the bus, with these members only. */
  readonly members?: readonly string[]
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

const ON = { defaultOn: true }
const OFF = { defaultOn: false }
const BY_REQUEST = { ...ON, debounce: { ms: MINUTE_MS, by: 'dedup_key' } } as const
const BY_BUDGET = { ...ON, debounce: { ms: 24 * HOUR_MS, by: 'dedup_key' } } as const
const AUDITED = { ...OFF, members: ['action', 'actor', 'target', 'org_id', 'at', 'details'] }
const OF_ACCOUNT = ['provider', 'account_id']

const KINDS = {
  'request.failed': BY_REQUEST,
  'request.rate_limited': BY_REQUEST,
  'request.budget_rejected': BY_REQUEST,
  'budget.threshold_crossed': BY_BUDGET,
  'budget.crossed': BY_BUDGET,
  'budget.projected_exceeded': BY_BUDGET,
  'provider.circuit_opened': { ...ON, members: [...OF_ACCOUNT, 'consecutive_failures', 'cooldown_until', 'occurred_at'] },
  'provider.circuit_closed': { ...ON, members: [...OF_ACCOUNT, 'open_for_ms', 'occurred_at'] },
  'account.cooldown_started': {
    ...ON,
    members: [...OF_ACCOUNT, 'retry_after_seconds', 'cooldown_until', 'source', 'occurred_at'],
  },
  'account.quota_exhausted': { ...ON, members: [...OF_ACCOUNT, 'occurred_at'] },
  'provider.outage': {
    ...ON,
    // The emitter itself limits the rate, for every listener.
    told: { ms: 10 * MINUTE_MS, by: 'provider' },
    members: ['provider', 'severity', 'error_count', 'window_seconds', 'first_error_at', 'last_error_at', 'dedup_key'],
  },
  'webhook.endpoint_auto_disabled': ON,
  'report.weekly_digest': {
    ...ON,
    members: ['period_start', 'period_end', 'total_usd_saved', 'total_tokens_saved', 'top_opportunities', 'headline'],
  },
  'key.created': AUDITED,
  'key.rotated': AUDITED,
  'key.deleted': AUDITED,
  'user.created': AUDITED,
  'user.deleted': AUDITED,
  'spend.tracked': OFF,
} as const satisfies Readonly<Record<string, EventKind>>

export type EventType = keyof typeof KINDS

export const EVENT_TYPES = Object.keys(KINDS) as [EventType, ...EventType[]]

const BY_TYPE: ReadonlyMap<string, EventKind> = new Map(Object.entries(KINDS))

export const kindOf = (type: string): EventKind | undefined => BY_TYPE.get(type)

/** The event of `POST .../test`: sent to one endpoint, whatever its subscriptions are. */
export const TEST_EVENT = 'webhook.test'

/** An empty list means every event that is on by default. */
export function subscribes({ enabled, eventTypes }: { enabled: boolean; eventTypes: readonly string[] }, type: string): boolean {
  if (!enabled) return false
  return eventTypes.length === 0 ? kindOf(type)?.defaultOn === true : eventTypes.includes(type)
}

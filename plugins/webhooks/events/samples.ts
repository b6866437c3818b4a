// A sample payload for each event type, for the event catalogue. All values are invented.
import type { EventType } from './catalog.ts'

const AT = '2026-11-21T20:00:00.000Z'
const WINDOW = { window_start: '2026-11-01T00:00:00.000Z', window_end: '2026-12-01T00:00:00.000Z' }

const REQUEST = {
  request_id: 'req_01998f0e-6c1e-7b32-9a54-3d0c6f1b2a77',
  session_id: 'session-1',
  occurred_at: AT,
  api_key_label: 'ci-bot',
  api_key_id: 5,
  provider: 'openai',
  account_id: '4',
  model: 'gpt-4o',
  virtual_model: 'coder',
  status: 502,
  latency_ms: 812,
  tokens: { prompt: 0, completion: 0, cache_read: 0, cache_write: 0, reasoning: 0, total: 0 },
  cost: { cost_usd: null, charge_usd: null },
  free_pool: false,
  dedup_key: 'openai:502',
}

const failed = (status: number, message: string, code: string, retryable: boolean) => ({
  ...REQUEST,
  status,
  dedup_key: `openai:${status}`,
  error: { message, code, retryable },
})

const budget = (spend_usd: number, threshold: number, more: object = {}) => ({
  budget_id: 3,
  scope: 'key',
  entity_id: 5,
  entity_label: 'ci-bot',
  window: 'monthly',
  ...WINDOW,
  limit_usd: 150,
  spend_usd,
  remaining_usd: 150 - spend_usd,
  percent_used: (spend_usd / 150) * 100,
  ...more,
  triggering_request_id: REQUEST.request_id,
  occurred_at: AT,
  dedup_key: `3:${threshold}`,
})

const ACCOUNT = { provider: 'openai', account_id: '4' }
const BACK = '2026-11-21T20:01:00.000Z'

const audited = (action: string, target: string, details: object) => ({
  action,
  actor: 'dashboard',
  target,
  org_id: null,
  at: AT,
  details,
})

const DATA: Readonly<Record<EventType, object>> = {
  'request.failed': failed(502, 'The upstream answered 503.', 'upstream_error', true),
  'request.rate_limited': failed(429, 'The upstream answered 429.', 'rate_limited', true),
  'request.budget_rejected': failed(402, 'The budget is used up.', 'budget_exhausted', false),
  'budget.threshold_crossed': budget(127.5, 85, { threshold_percent: 85 }),
  'budget.crossed': budget(150, 100),
  'budget.projected_exceeded': budget(120, 0),
  'provider.circuit_opened': { ...ACCOUNT, consecutive_failures: 5, cooldown_until: BACK, occurred_at: AT },
  'provider.circuit_closed': { ...ACCOUNT, open_for_ms: 61_000, occurred_at: AT },
  'account.cooldown_started': {
    ...ACCOUNT,
    retry_after_seconds: 60,
    cooldown_until: BACK,
    source: 'retry_after',
    occurred_at: AT,
  },
  'account.quota_exhausted': { ...ACCOUNT, occurred_at: AT },
  'provider.outage': {
    provider: 'openai',
    severity: 'critical',
    error_count: 40,
    window_seconds: 300,
    first_error_at: '2026-11-21T19:55:00.000Z',
    last_error_at: AT,
    dedup_key: 'openai',
  },
  'webhook.endpoint_auto_disabled': {
    endpoint_id: 'ep_9f3kTq2Lr8',
    url: 'https://hooks.example.com/in',
    failing_since: '2026-11-16T20:00:00.000Z',
    disabled_at: AT,
  },
  'report.weekly_digest': {
    period_start: '2026-11-14T00:00:00.000Z',
    period_end: '2026-11-21T00:00:00.000Z',
    total_usd_saved: 12.5,
    total_tokens_saved: 1_204_000,
    top_opportunities: [],
    headline: 'Caches saved $12.50 in the week.',
  },
  'key.created': audited('key.create', '5', { label: 'ci-bot' }),
  'key.rotated': audited('key.rotate', '5', { label: 'ci-bot' }),
  'key.deleted': audited('key.revoke', '5', { label: 'ci-bot' }),
  'user.created': audited('user.create', '2', {}),
  'user.deleted': audited('user.delete', '2', {}),
  'spend.tracked': {
    events: [
      {
        ...REQUEST,
        status: 200,
        account_id: 4,
        tokens: { ...REQUEST.tokens, prompt: 812, completion: 204, total: 1016 },
        cost: { cost_usd: 0.00412, charge_usd: 0.00412 },
        dedup_key: 'openai:200',
        org_id: null,
      },
    ],
    count: 1,
  },
}

/** Returns the whole body of a delivery in the format `standard`. */
export function sampleOf(type: EventType): Record<string, unknown> {
  return {
    id: 'evt_01998f0e-6c1e-7b32-9a54-3d0c6f1b2a78',
    type,
    created_at: AT,
    api_version: 'v1',
    org_id: null,
    data: DATA[type],
  }
}

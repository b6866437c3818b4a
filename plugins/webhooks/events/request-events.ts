// Queues request.failed, request.rate_limited and request.budget_rejected in the transaction that settles the request.
import { accountOf, answererOf, isShared, spentNano, usedTokens } from '../../../core/records/request-record.ts'
import type { GatewayErrorShape } from '../../../core/types/error.ts'
import type { EventMap, PluginGateway } from '../../../core/types/plugin/plugin.ts'
import type { Outcome, RequestContext } from '../../../core/types/request/context.ts'
import type { Outbox, OutboxEvent } from '../service.ts'
import { EVENT_TYPES, kindOf } from './catalog.ts'

// One request in an event: ids, names and figures, no prompt and no answer.
const NANO = 1e9

interface RequestRecord {
  readonly request_id: string
  readonly session_id?: string
  readonly occurred_at: string
  /** Empty for callers without a key. */
  readonly api_key_label: string
  readonly api_key_id: number | null
  /** Without an upstream call the first planned provider; `gateway` when that is unknown too. */
  readonly provider: string
  /** Connection id; empty when no account was chosen. */
  readonly account_id: string
  readonly model: string
  /** Empty when the request did not name one. */
  readonly virtual_model: string
  readonly status: number
  readonly latency_ms: number
  readonly tokens: Tokens
  readonly cost: { readonly cost_usd: number | null; readonly charge_usd: number | null }
  readonly free_pool: boolean
  readonly dedup_key: string
}

interface Tokens {
  prompt: number
  completion: number
  cache_read: number
  cache_write: number
  reasoning: number
  total: number
}

export function requestRecord(ctx: RequestContext, outcome: Outcome, now: number): RequestRecord {
  const answered = answererOf(ctx, outcome)
  // Without an upstream call: the last skipped account, or the first planned one.
  const passed = answered === null ? ctx.attempts.at(-1)?.candidate : undefined
  const target = passed?.target ?? ctx.plan?.targets[0]
  const provider = answered?.provider ?? passed?.connection.provider ?? target?.provider ?? 'gateway'
  const { costNano, chargeNano } = spentNano(outcome)
  const usd = (nano: number | null) => (nano === null ? null : nano / NANO)
  return {
    request_id: ctx.id,
    ...(ctx.sessionId === null ? {} : { session_id: ctx.sessionId }),
    occurred_at: new Date(now).toISOString(),
    api_key_label: ctx.principal.label ?? '',
    api_key_id: ctx.principal.keyId,
    provider,
    account_id:
      (answered === null
        ? passed === undefined
          ? (target?.shared?.account ?? target?.connectionId)
          : accountOf(passed)
        : answered.connectionId) ?? '',
    model: answered?.model ?? target?.model ?? ctx.requestedModel,
    virtual_model: ctx.virtualModel ?? '',
    status: outcome.status,
    latency_ms: Math.round(outcome.latencyMs),
    tokens: tokensOf(outcome),
    cost: { cost_usd: usd(costNano), charge_usd: usd(chargeNano) },
    free_pool: isShared(ctx, outcome),
    dedup_key: `${provider}:${outcome.status}`,
  }
}

function tokensOf(outcome: Outcome): Tokens {
  const { input, output, cacheRead, cacheWrite, reasoning } = usedTokens(outcome)
  return { prompt: input, completion: output, cache_read: cacheRead, cache_write: cacheWrite, reasoning, total: input + output }
}

/** Returns the event for a caller's answer; null for the gateway's own refusals except 402. */
export function requestEvent(ctx: RequestContext, outcome: Outcome, now: number): OutboxEvent | null {
  const { error } = outcome
  // Internal calls are reported with their parent.
  if (error === undefined || outcome.aborted || ctx.ingress === null) return null
  const what = failureOf(ctx, outcome.status, error)
  if (what === null) return null
  const { type, ...said } = what
  return { type, orgId: ctx.principal.orgId, data: { ...requestRecord(ctx, outcome, now), error: said }, occurredAt: now }
}

interface Failure {
  readonly type: 'request.failed' | 'request.rate_limited' | 'request.budget_rejected'
  readonly message: string
  readonly code: 'upstream_error' | 'rate_limited' | 'budget_exhausted'
  readonly retryable: boolean
}

function failureOf(ctx: RequestContext, status: number, error: GatewayErrorShape): Failure | null {
  if (status === 402 && error.code === 'budget_exhausted')
    return { type: 'request.budget_rejected', message: 'The budget is used up.', code: 'budget_exhausted', retryable: false }
  if (status === 429 && upstreamLimited(ctx))
    return { type: 'request.rate_limited', message: 'The upstream answered 429.', code: 'rate_limited', retryable: true }
  if (status < 500 || error.upstream === null) return null
  const { message, retryable } = upstreamFailure(error.upstream)
  return { type: 'request.failed', message, code: 'upstream_error', retryable }
}

function upstreamLimited({ attempts }: RequestContext): boolean {
  return attempts.some(({ status, error }) => status === 429 || error?.upstream?.status === 429)
}

/** The upstream's own text may quote the prompt. */
function upstreamFailure({ kind, status }: NonNullable<GatewayErrorShape['upstream']>): { message: string; retryable: boolean } {
  if (kind === 'stream') return { message: 'The upstream broke its stream off.', retryable: true }
  if (kind === 'timeout') return { message: 'The upstream did not answer in time.', retryable: true }
  if (kind === 'protocol') return { message: 'The upstream’s answer could not be understood.', retryable: true }
  if (status === 0) return { message: `The upstream could not be reached (${kind}).`, retryable: true }
  return { message: `The upstream answered ${status}.`, retryable: status >= 500 }
}

// Queues events of the bus that endpoints can subscribe to, with the catalog's members only.
export function bridge({ events }: PluginGateway, outbox: Outbox): void {
  for (const type of EVENT_TYPES) {
    const members = kindOf(type)?.members
    if (members === undefined) continue
    // Emitting plugins declare their event types; without the plugin no event arrives.
    events.on(type as keyof EventMap, (data: unknown, { orgId }) => {
      void outbox.publish({ type, orgId, data: picked(data as Readonly<Record<string, unknown>>, members) })
    })
  }
}

function picked(data: Readonly<Record<string, unknown>>, members: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(members.filter((name) => data[name] !== undefined).map((name) => [name, data[name]]))
}

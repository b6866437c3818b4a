// Builds the live event of a completed request: figures and names, never content.
import { answererOf, callsOf, isShared, spentNano, usedTokens } from '../../core/records/request-record.ts'
import type { Outcome, RequestContext } from '../../core/types/request/context.ts'

export interface LiveEvent {
  readonly request_id: string
  /** RFC 3339 UTC, the end of the request. */
  readonly occurred_at: string
  readonly org_id: number | null
  readonly api_key_label: string | null
  readonly provider: string | null
  readonly model: string | null
  /** As the caller named it; null: it named none. */
  readonly requested_model: string | null
  readonly virtual_model: string | null
  readonly status: number
  readonly latency_ms: number
  /** Until the first content; null: none came. */
  readonly ttft_ms: number | null
  /** Upstream calls. */
  readonly attempts: number
  readonly tokens: {
    readonly prompt: number
    readonly completion: number
    readonly cache_read: number
    readonly cache_write: number
    readonly reasoning: number
    readonly total: number
  }
  readonly cost: { readonly cost_usd: number | null; readonly charge_usd: number | null }
  readonly cached: boolean
  readonly free_pool: boolean
  readonly stream: boolean
  readonly source: string
}

/** A settled request before formatting; most are never sent. */
export interface Settled {
  readonly event: 'request'
  readonly requestId: string
  /** Epoch ms. */
  readonly at: number
  readonly orgId: number | null
  readonly keyLabel: string | null
  readonly provider: string | null
  readonly model: string | null
  readonly requestedModel: string | null
  readonly virtualModel: string | null
  readonly freePool: boolean
  readonly stream: boolean
  readonly source: string
  readonly attempts: number
  readonly outcome: Outcome
}

export function settledOf(ctx: RequestContext, outcome: Outcome, now: number): Settled {
  const { principal } = ctx
  const answered = answererOf(ctx, outcome)
  return {
    event: 'request',
    requestId: ctx.id,
    at: now,
    orgId: principal.orgId,
    keyLabel: principal.label,
    provider: answered?.provider ?? null,
    model: answered?.model ?? null,
    requestedModel: ctx.requestedModel === '' ? null : ctx.requestedModel,
    virtualModel: ctx.virtualModel,
    freePool: isShared(ctx, outcome),
    stream: ctx.stream,
    source: ctx.source,
    attempts: callsOf(ctx.attempts),
    outcome,
  }
}

export function eventOf(settled: Settled): LiveEvent {
  const { outcome } = settled
  const { input, output, cacheRead, cacheWrite, reasoning } = usedTokens(outcome)
  const { costNano, chargeNano } = spentNano(outcome)
  return {
    request_id: settled.requestId,
    occurred_at: new Date(settled.at).toISOString(),
    org_id: settled.orgId,
    api_key_label: settled.keyLabel,
    provider: settled.provider,
    model: settled.model,
    requested_model: settled.requestedModel,
    virtual_model: settled.virtualModel,
    status: outcome.status,
    latency_ms: Math.round(outcome.latencyMs),
    ttft_ms: outcome.firstByteMs === null ? null : Math.round(outcome.firstByteMs),
    attempts: settled.attempts,
    tokens: {
      prompt: input,
      completion: output,
      cache_read: cacheRead,
      cache_write: cacheWrite,
      reasoning,
      total: input + output,
    },
    cost: { cost_usd: usd(costNano), charge_usd: usd(chargeNano) },
    cached: outcome.cached !== false,
    free_pool: settled.freePool,
    stream: settled.stream,
    source: settled.source,
  }
}

function usd(nano: number | null): number | null {
  return nano === null ? null : nano / 1e9
}

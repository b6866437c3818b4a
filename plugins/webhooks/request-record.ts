// One request as events show it (SPEC "data of request.*"): ids, names and figures; nothing of what was asked or answered.
import type { Outcome, RequestContext } from '../../core/types/context.ts'

const NANO = 1e9

export interface RequestRecord {
  readonly request_id: string
  readonly session_id?: string
  readonly occurred_at: string
  /** Empty for callers without a key. */
  readonly api_key_label: string
  readonly api_key_id: number | null
  /** The first that was to be asked, when none was; `gateway` when that is not known either. */
  readonly provider: string
  /** Connection id; empty when no account was chosen. */
  readonly account_id: string
  readonly model: string
  /** Empty when the request named none. */
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
  const last = ctx.candidate ?? ctx.attempts.at(-1)?.candidate
  const target = last?.target ?? ctx.plan?.targets[0]
  const provider = last?.connection.provider ?? target?.provider ?? 'gateway'
  const { status, costNano, chargeNano, steps } = outcome
  // Nothing was bought: that is free, and known.
  const usd = (nano: number | null) => (nano === null ? (steps.length === 0 ? 0 : null) : nano / NANO)
  return {
    request_id: ctx.id,
    ...(ctx.sessionId === null ? {} : { session_id: ctx.sessionId }),
    occurred_at: new Date(now).toISOString(),
    api_key_label: ctx.principal.label ?? '',
    api_key_id: ctx.principal.keyId,
    provider,
    account_id: last?.connection.id ?? target?.connectionId ?? '',
    model: target?.model ?? ctx.requestedModel,
    virtual_model: ctx.virtualModel ?? '',
    status,
    latency_ms: Math.round(outcome.latencyMs),
    tokens: tokensOf(outcome),
    cost: { cost_usd: usd(costNano), charge_usd: usd(chargeNano) },
    free_pool: false,
    dedup_key: `${provider}:${status}`,
  }
}

function tokensOf({ steps, usage }: Outcome): Tokens {
  const sum: Tokens = { prompt: 0, completion: 0, cache_read: 0, cache_write: 0, reasoning: 0, total: 0 }
  for (const one of steps.length > 0 ? steps.map((step) => step.usage) : [usage]) {
    sum.prompt += one.inputTotal
    sum.completion += one.outputTotal
    sum.cache_read += one.cacheRead
    sum.cache_write += one.cacheWrite
    sum.reasoning += one.reasoning ?? 0
    sum.total += one.total
  }
  return sum
}

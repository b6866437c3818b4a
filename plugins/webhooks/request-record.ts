// One request as events show it: ids, names and figures; nothing of what was asked or answered.
import { answererOf, spentNano, usedTokens } from '../../core/records/request-record.ts'
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
    account_id: (answered === null ? (passed?.connection.id ?? target?.connectionId) : answered.connectionId) ?? '',
    model: answered?.model ?? target?.model ?? ctx.requestedModel,
    virtual_model: ctx.virtualModel ?? '',
    status: outcome.status,
    latency_ms: Math.round(outcome.latencyMs),
    tokens: tokensOf(outcome),
    cost: { cost_usd: usd(costNano), charge_usd: usd(chargeNano) },
    free_pool: false,
    dedup_key: `${provider}:${outcome.status}`,
  }
}

function tokensOf(outcome: Outcome): Tokens {
  const { input, output, cacheRead, cacheWrite, reasoning } = usedTokens(outcome)
  return { prompt: input, completion: output, cache_read: cacheRead, cache_write: cacheWrite, reasoning, total: input + output }
}

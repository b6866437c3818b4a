// The lines of a simulation: one for each request, then the sums.
import type { Attempt } from '../../core/types/request/context.ts'
import { nameOf } from './account-times.ts'
import type { SimulatedRequest, Simulation } from './engine.ts'

export interface RequestLine {
  readonly at_ms: number
  readonly model: string
  readonly attempts: readonly AttemptLine[]
  readonly status: number
  /** The caller's error message; null on success. */
  readonly error: string | null
  readonly latency_ms: number
  /** null: no price is known. */
  readonly cost_usd: number | null
}

/** A call; with `skipped` a skipped account. */
export interface AttemptLine {
  /** `provider/label`. */
  readonly connection: string
  readonly model: string
  /** The upstream's status; null when none was received, or nothing was sent. */
  readonly status: number | null
  /** The network failure: `connect`, `timeout`. */
  readonly failure: string | null
  readonly skipped: string | null
  /** Ms until the account is available again, if known. */
  readonly back_in_ms: number | null
}

export interface SummaryLine {
  readonly requests: number
  readonly succeeded: number
  /** 0 to 1. */
  readonly success_rate: number
  readonly upstream_calls: number
  readonly attempts_per_request: number
  /** Nearest rank over all requests. */
  readonly p95_ms: number
  /** Without the requests that have no known price. */
  readonly cost_usd: number
  /** Answered requests without a known price. */
  readonly unpriced_requests: number
  readonly duration_ms: number
  readonly accounts: readonly AccountLine[]
}

export interface AccountLine {
  readonly connection: string
  readonly calls: number
  readonly cooldown_ms: number
  readonly open_ms: number
  readonly refused_ms: number
}

export function requestLine({ at, model, attempts, status, error, latencyMs, costNano }: SimulatedRequest): RequestLine {
  return {
    at_ms: at,
    model,
    attempts: attempts.map(attemptLine),
    status,
    error,
    latency_ms: latencyMs,
    cost_usd: costNano === null ? null : costNano / 1e9,
  }
}

export function summaryLine({ requests, accounts, durationMs }: Simulation): SummaryLine {
  const sent = requests.flatMap(({ attempts }) => attempts.filter(({ skipped }) => skipped === undefined))
  const succeeded = requests.filter(({ status }) => status < 400).length
  const calls = (name: string) => sent.filter(({ candidate }) => nameOf(candidate.connection) === name).length
  return {
    requests: requests.length,
    succeeded,
    success_rate: rounded(succeeded / requests.length),
    upstream_calls: sent.length,
    attempts_per_request: rounded(sent.length / requests.length),
    p95_ms: nearestRank(
      requests.map(({ latencyMs }) => latencyMs),
      0.95,
    ),
    cost_usd: requests.reduce((sum, { costNano }) => sum + (costNano ?? 0), 0) / 1e9,
    unpriced_requests: requests.filter(({ status, costNano }) => status < 400 && costNano === null).length,
    duration_ms: durationMs,
    accounts: [...accounts].map(([connection, { cooldown, open, refused }]) => ({
      connection,
      calls: calls(connection),
      cooldown_ms: cooldown,
      open_ms: open,
      refused_ms: refused,
    })),
  }
}

function attemptLine({ candidate, status, error, skipped, startedAt }: Attempt): AttemptLine {
  const upstream = error?.upstream ?? null
  const received = skipped !== undefined ? null : upstream === null ? (status ?? null) : upstream.status || null
  return {
    connection: nameOf(candidate.connection),
    model: candidate.target.model,
    status: received,
    failure: upstream !== null && received === null ? upstream.kind : null,
    skipped: skipped?.reason ?? null,
    back_in_ms: skipped?.until === undefined ? null : skipped.until - startedAt,
  }
}

function nearestRank(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0
}

function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000
}

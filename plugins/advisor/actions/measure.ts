// Figures of requests before and after an action, and the limits that take it back.
import { isReplay } from '../../../core/records/replays.ts'
import type { Services } from '../../../core/types/plugin/plugin.ts'
import { DAY_MS, WINDOW_DAYS } from '../facts.ts'
import type { Kind } from '../service.ts'
import type { Applied, Measured, Reason } from './store.ts'

/** The newest requests of a window decide. */
const CAP = 5000
const MIN_REQUESTS = 20
const ERROR_POINTS = 0.05
const SLOWER = 1.5
const SLOWER_MS = 500
const DEARER = 1.1
const LEAST_QUALITY = 0.8
const ENOUGH_SAMPLES = 10
const COST_KINDS: ReadonlySet<Kind> = new Set([
  'switch_model',
  'enable_exact_cache',
  'enable_cache_injection',
  'enable_token_filters',
])

export interface MeasuredWindow {
  readonly since: number
  readonly until: number
  readonly orgId: number | null
  readonly virtualModel: string | null
}

/** @param unanswered requests that reached no upstream: they have no usage row. */
export async function measured(
  usage: Services['ledger']['usage'],
  { virtualModel, ...window }: MeasuredWindow,
  unanswered = 0,
): Promise<Measured> {
  let requests = Math.max(0, unanswered)
  let errors = requests
  let costNano = 0
  let priced = 0
  const latencies: number[] = []
  await usage.newest({ ...window, ...(virtualModel !== null && { virtualModel }) }, CAP, (row) => {
    if (isReplay(row)) return
    costNano += row.costNano ?? 0
    if (row.costNano !== null) priced++
    if (row.step !== 0) return
    requests++
    // A client that leaves says nothing about the upstream.
    if (row.status >= 400 && row.status !== 499) errors++
    latencies.push(row.latencyMs)
  })
  latencies.sort((a, b) => a - b)
  return {
    requests,
    errorRate: requests === 0 ? 0 : errors / requests,
    p95Ms: latencies[Math.ceil(latencies.length * 0.95) - 1] ?? null,
    costPerRequestUsd: priced === 0 ? null : costNano / requests / 1e9,
  }
}

/**
 * Returns why the action must be taken back; null: it holds, or too few requests say so. @param quality the score of the model that an
 * action prefers, from shadow evaluation; null: too few samples.
 */
export function regression(kind: Kind, before: Measured, after: Measured, quality: number | null): Reason | null {
  if (after.requests < MIN_REQUESTS) return null
  if (after.errorRate > before.errorRate + ERROR_POINTS) return 'error_rate'
  if (before.p95Ms !== null && after.p95Ms !== null)
    if (after.p95Ms > before.p95Ms * SLOWER && after.p95Ms > before.p95Ms + SLOWER_MS) return 'latency'
  const [was, is] = [before.costPerRequestUsd, after.costPerRequestUsd]
  if (COST_KINDS.has(kind) && was !== null && is !== null && is > was * DEARER) return 'cost'
  return quality !== null && quality < LEAST_QUALITY ? 'quality' : null
}

/** Returns the score of the model that a `switch_model` sends requests to; null: too few samples, or another action. */
export async function qualityOf(
  shadow: Services['shadow'] | undefined,
  { kind, orgId, action }: Pick<Applied, 'kind' | 'orgId' | 'action'>,
  now: number,
): Promise<number | null> {
  if (shadow === undefined || kind !== 'switch_model' || action.type !== 'update_virtual_model') return null
  const preferred = action.params.targets.find(({ enabled, weight }) => enabled && weight > 0)?.target
  const scores = await shadow.scores({ orgId, since: now - WINDOW_DAYS * DAY_MS, until: now })
  const score = preferred === undefined ? undefined : scores.get(preferred)
  return score === undefined || score.samples < ENOUGH_SAMPLES ? null : score.score
}

// The attempt timeline in its stored and public form: one line for each upstream call and each skipped candidate.
import { accountOf } from '../../core/records/request-record.ts'
import { sanitizeMessage } from '../../core/text/sanitize.ts'
import type { GatewayErrorShape } from '../../core/types/error.ts'
import type { Attempt, Step } from '../../core/types/request/context.ts'
import { codeOf, type Entry, messageOf } from './entry.ts'

export interface TimelineLine {
  n: number
  role: 'panel' | 'judge' | 'step' | null
  provider: string
  connection_id: string
  model: string
  started_at: string
  latency_ms: number | null
  ttft_ms: number | null
  waited_ms: number | null
  wire_format: string | null
  lane: 'bytes' | 'events' | null
  cause: string | null
  status: number | null
  error: { code: string | null; message: string } | null
  action: string | null
  skipped: { reason: string; until: string | null } | null
  tokens: { prompt: number; completion: number } | null
  cost_usd: number | null
}

const MAX_MESSAGE = 500

/** The stored timeline; null without attempts or skipped accounts. */
export function timelineJson({ attempts, outcome, wireFormat }: Entry): string | null {
  const [only] = attempts
  if (only === undefined) return null
  // Most requests are one successful call, and its row has the same facts. The full timeline would be half of the row.
  if (attempts.length === 1 && only.action === 'returned' && only.error === undefined && only.role === undefined)
    return onlyJson(only, wireFormat)
  const billed = [...outcome.steps]
  return JSON.stringify(attempts.map((attempt, index) => lineOf(attempt, index + 1, billed)))
}

/** Columns of the row that describe its only call. */
export interface OnlyCall {
  readonly provider: string | null
  readonly connection_id: string | null
  readonly model: string | null
  readonly tokens_prompt: number
  readonly tokens_completion: number
  readonly cost_nano: number | null
  /** The caller's dialect. */
  readonly wire_format: string
  /** 0 or 1. */
  readonly stream: number
}

export function timelineOf(json: string | null, row: OnlyCall): TimelineLine[] {
  if (json === null) return []
  const kept = JSON.parse(json) as Stored[] | Only
  if (!isOnly(kept)) return kept.map((line) => ({ ...UNKNOWN, ...line }))
  const [startedAt, latency, status, lane, wireFormat] = kept
  const call = {
    n: 1,
    role: null,
    provider: row.provider ?? '',
    connection_id: row.connection_id ?? '',
    model: row.model ?? '',
    started_at: new Date(startedAt).toISOString(),
    latency_ms: latency,
    // The answer of a stream counts from its first content.
    ttft_ms: row.stream === 1 ? latency : null,
    waited_ms: null,
    wire_format: wireFormat === 0 ? row.wire_format : (wireFormat ?? null),
    lane: lane === undefined ? null : (LANES[lane] ?? null),
    cause: null,
    status,
    error: null,
    action: 'returned',
    skipped: null,
    tokens: { prompt: row.tokens_prompt, completion: row.tokens_completion },
    cost_usd: usd(row.cost_nano),
  }
  return [call]
}

/** Rows of earlier versions lack these members. */
type Later = 'ttft_ms' | 'waited_ms' | 'wire_format' | 'lane' | 'cause'
type Stored = Omit<TimelineLine, Later> & Partial<Pick<TimelineLine, Later>>

const UNKNOWN: Pick<TimelineLine, Later> = { ttft_ms: null, waited_ms: null, wire_format: null, lane: null, cause: null }

/** Start, latency, status, number of the lane; the upstream's dialect: 0 is the caller's own, null is unknown. */
type Only = [number, number, number, number?, (string | 0 | null)?]

/** Their numbers are stored. */
const LANES = [null, 'bytes', 'events'] as const

function onlyJson({ startedAt, latencyMs, status, lane, wireFormat }: Attempt, callers: string): string {
  const wire = wireFormat === callers ? '0' : JSON.stringify(wireFormat ?? null)
  return `[${startedAt},${Math.round(latencyMs ?? 0)},${status ?? 200},${LANES.indexOf(lane ?? null)},${wire}]`
}

function isOnly(kept: Stored[] | Only): kept is Only {
  return typeof kept[0] === 'number'
}

export function loggedMessage(error: GatewayErrorShape): string {
  return plainText(sanitizeMessage(messageOf(error)), MAX_MESSAGE)
}

/** Returns text for a column: PostgreSQL stores no NUL, and a lone surrogate would be read back changed. */
export function plainText(text: string, max: number): string {
  const cut = text.length > max ? text.slice(0, max) : text
  const whole = cut.includes('\0') ? cut.replaceAll('\0', '\uFFFD') : cut
  return whole.isWellFormed() ? whole : whole.toWellFormed()
}

export const usd = (nano: number | null): number | null => (nano === null ? null : nano / 1e9)

function lineOf(attempt: Attempt, n: number, billed: Step[]): TimelineLine {
  const { candidate, startedAt, latencyMs, ttftMs, waitedMs, wireFormat, lane, status, error, action, skipped, role } = attempt
  const { connection, target } = candidate
  const step = action === 'skipped' ? null : taken(billed, attempt)
  return {
    n,
    role: role ?? null,
    provider: connection.provider,
    connection_id: accountOf(candidate),
    model: target.model,
    started_at: new Date(startedAt).toISOString(),
    latency_ms: rounded(latencyMs),
    ttft_ms: rounded(ttftMs),
    waited_ms: rounded(waitedMs),
    wire_format: wireFormat ?? null,
    lane: lane ?? null,
    cause: error === undefined || skipped !== undefined ? null : (error.upstream?.kind ?? 'gateway'),
    // No upstream was called: the gateway's own status would look like an upstream's.
    status: skipped === undefined ? (status ?? null) : null,
    error: error === undefined ? null : { code: codeOf(error), message: loggedMessage(error) },
    action: action ?? null,
    skipped:
      skipped === undefined
        ? null
        : { reason: skipped.reason, until: skipped.until === undefined ? null : new Date(skipped.until).toISOString() },
    tokens: step === null ? null : { prompt: step.usage.inputTotal, completion: step.usage.outputTotal },
    cost_usd: step === null ? null : usd(step.costNano),
  }
}

function rounded(ms: number | undefined): number | null {
  return ms === undefined ? null : Math.round(ms)
}

/** Takes this call's line of the bill. Each line is used once, for the attempt that answered. */
function taken(billed: Step[], { candidate, startedAt, action }: Attempt): Step | null {
  if (action !== 'returned') return null
  const at = billed.findIndex(
    (step) => step.connectionId === accountOf(candidate) && step.model === candidate.target.model && step.startedAt === startedAt,
  )
  return at === -1 ? null : (billed.splice(at, 1)[0] ?? null)
}

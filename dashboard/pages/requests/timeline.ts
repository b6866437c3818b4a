// The attempts of a request on one time axis, as spans in milliseconds from its arrival. Pure, so that bars and table show the same.
import type { paths } from '../../api/schema.d.ts'

export type Details = paths['/api/logs/{request_id}']['get']['responses'][200]['content']['application/json']
export type Attempt = Details['attempts'][number]

/** Returns the upstream calls of a request. Candidates that were passed over had none; they are no tries. */
export function triedOf(attempts: readonly Attempt[]): readonly Attempt[] {
  return attempts.filter(({ skipped }) => skipped === null)
}

/** `open`: connection and headers; `arrives`: the answer arrives; `waited`: the gateway waits for the account. */
export type SpanKind = 'gateway' | 'open' | 'arrives' | 'waited'

export interface Span {
  readonly kind: SpanKind
  readonly from: number
  readonly to: number
}

export interface Line {
  /** Of its first attempt among those that were tried, from 1. */
  readonly number: number
  /** Equal neighbours are one line: their attempts, in order. */
  readonly attempts: readonly Attempt[]
  readonly spans: readonly Span[]
  /** Times of first content. */
  readonly ticks: readonly number[]
  /** Ends of attempts that failed. */
  readonly caps: readonly number[]
  readonly verdict: string
}

export interface Timeline {
  /** Length of the axis. */
  readonly whole: number
  /** Time that no attempt accounts for: queue, plugins, encoding. */
  readonly gateway: readonly Span[]
  readonly gatewayMs: number
  readonly lines: readonly Line[]
  readonly skipped: readonly Attempt[]
}

type Logged = Pick<Details, 'created_at' | 'latency_ms' | 'attempts'>

export function timelineOf({ created_at, latency_ms, attempts }: Logged): Timeline {
  const start = Date.parse(created_at)
  const tried = triedOf(attempts)
  const placed = tried.map((attempt, index) => {
    const next = tried[index + 1]
    const end = next === undefined ? latency_ms : Math.max(0, Date.parse(next.started_at) - start)
    return { attempt, ...placedAttempt(attempt, Math.max(0, Date.parse(attempt.started_at) - start), end) }
  })
  const whole = Math.max(latency_ms, 1, ...placed.flatMap(({ spans }) => spans.map(({ to }) => to)))
  const gateway = gaps(
    placed.flatMap(({ spans }) => spans),
    whole,
  )
  return {
    whole,
    gateway,
    gatewayMs: gateway.reduce((sum, { from, to }) => sum + to - from, 0),
    skipped: attempts.filter(({ skipped }) => skipped !== null),
    lines: folded(placed.map(({ attempt }) => attempt)).map((group) => {
      const own = placed.filter(({ attempt }) => group.includes(attempt))
      const last = group.at(-1) as Attempt
      return {
        number: tried.indexOf(group[0] as Attempt) + 1,
        attempts: group,
        spans: own.flatMap(({ spans }) => spans),
        ticks: own.flatMap(({ tick }) => tick ?? []),
        caps: own.flatMap(({ cap }) => cap ?? []),
        verdict: verdictOf(last, last === tried.at(-1)),
      }
    }),
  }
}

export function failed({ error, status }: Attempt): boolean {
  return error !== null || (status ?? 0) >= 400
}

/** The log has the time to the first content of a stream, and of other answers the time to their end. */
function placedAttempt(
  attempt: Attempt,
  from: number,
  latest: number,
): Omit<Line, 'number' | 'attempts' | 'verdict' | 'ticks' | 'caps'> & {
  tick: number | null
  cap: number | null
} {
  const { ttft_ms, latency_ms, waited_ms } = attempt
  const waited = waited_ms ?? 0
  const end = Math.max(from, ttft_ms === null ? from + (latency_ms ?? latest - waited - from) : latest - waited)
  const first = ttft_ms === null ? null : Math.min(from + ttft_ms, end)
  const spans: Span[] =
    first === null
      ? [{ kind: failed(attempt) ? 'open' : 'arrives', from, to: end }]
      : [
          { kind: 'open', from, to: first },
          { kind: 'arrives', from: first, to: end },
        ]
  if (waited > 0) spans.push({ kind: 'waited', from: end, to: end + waited })
  return { spans, tick: first, cap: failed(attempt) ? end : null }
}

function gaps(spans: readonly Span[], whole: number): Span[] {
  const found: Span[] = []
  let at = 0
  for (const { from, to } of [...spans].sort((a, b) => a.from - b.from)) {
    if (from > at) found.push({ kind: 'gateway', from: at, to: from })
    at = Math.max(at, to)
  }
  if (at < whole) found.push({ kind: 'gateway', from: at, to: whole })
  return found
}

/** Groups neighbours with the same target, account, outcome and role. */
function folded(attempts: readonly Attempt[]): Attempt[][] {
  const groups: Attempt[][] = []
  for (const attempt of attempts) {
    const before = groups.at(-1)?.[0]
    const same =
      before !== undefined &&
      (['provider', 'model', 'connection_id', 'status', 'role', 'cause'] as const).every((name) => before[name] === attempt[name])
    if (same) groups.at(-1)?.push(attempt)
    else groups.push([attempt])
  }
  return groups
}

const ACTIONS: Readonly<Record<string, string>> = {
  returned: 'returned',
  next_account: 'next account',
  next_target: 'next target',
  retried: 'retried',
  retry_stripped_field: 'stripped a field and retried',
  retry_fresh_socket: 'retried on a new connection',
}

/** For the last attempt the log holds the step that this failure would have caused. */
const AT_THE_END: Readonly<Record<string, string>> = {
  next_account: 'no account was left',
  next_target: 'no target was left',
}

/** Returns what came of an attempt, as the end of a sentence. @param last no attempt comes after it */
export function verdictOf({ action, error, cause, waited_ms }: Attempt, last: boolean): string {
  const step =
    action === null
      ? error === null
        ? 'returned'
        : 'ended'
      : (last && AT_THE_END[action]) || ACTIONS[action] || action.replaceAll('_', ' ')
  const wait = waited_ms === null || waited_ms === 0 ? '' : `, waited ${seconds(waited_ms)}`
  return error === null ? step + wait : `${error.code ?? cause ?? 'failed'} → ${step}${wait}`
}

function seconds(ms: number): string {
  return ms < 1000 ? `${ms} ms` : `${Math.round(ms / 100) / 10} s`
}

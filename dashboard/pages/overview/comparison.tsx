// The figures of the window against the same window before: an hour and a day against yesterday, longer ones against the time before.
import { type Got, useGet } from '../../api/query.ts'
import { percent } from '../../app/format.ts'
import { WINDOW_DAYS, windowOf } from '../../ui/window.tsx'

type Summary = Got<'/api/logs/summary'>
type Usage = Got<'/api/usage'>

const LOOK_MS = 60_000
const BEFORE: Record<ReturnType<typeof windowOf>, string> = {
  '1h': 'the same hour yesterday',
  '24h': 'the 24 hours before',
  '7d': 'the 7 days before',
  '30d': 'the 30 days before',
}

export function Comparison({ now, usage }: { now: Summary; usage: Usage | undefined }) {
  const window = windowOf()
  const back_days = WINDOW_DAYS[window]
  const summary = useGet('/api/logs/summary', { query: { window, back_days } }, LOOK_MS)
  const spent = useGet('/api/usage', { query: { window, back_days } }, LOOK_MS)
  const before = summary.data
  if (before === undefined || before.requests === 0) return null
  if (now.truncated || before.truncated) return <p class="quiet">Too many requests to compare with {BEFORE[window]}.</p>
  const rate = ({ answered, requests }: Summary): number | null => (requests === 0 ? null : answered / requests)
  const changes = [
    ['requests', change(now.requests, before.requests)],
    ['answered', points(rate(now), rate(before))],
    ['time', change(now.p50_ms, before.p50_ms)],
    ['p95', change(now.p95_ms, before.p95_ms)],
    ['first token', change(now.ttft_p50_ms, before.ttft_p50_ms)],
    ['tokens a second', change(now.tokens_per_s_p50, before.tokens_per_s_p50)],
    ['spend', usage?.truncated || spent.data?.truncated ? null : change(usage?.totals.cost_usd, spent.data?.totals.cost_usd)],
  ] as const
  const shown = changes.filter(([, text]) => text !== null)
  return (
    <p class="comparison">
      <span class="quiet">Against {BEFORE[window]}:</span>{' '}
      {shown.map(([name, text]) => (
        <span key={name} class="compared">
          {name} <strong>{text}</strong>
        </span>
      ))}
    </p>
  )
}

/** `+12 %`; null where one of the two is unknown. */
function change(now: number | null | undefined, before: number | null | undefined): string | null {
  if (now == null || before == null || before === 0) return null
  return signed(now / before - 1, (share) => percent(share))
}

function points(now: number | null, before: number | null): string | null {
  if (now === null || before === null) return null
  return signed(now - before, (share) => `${(share * 100).toFixed(1)} points`)
}

function signed(value: number, format: (size: number) => string): string {
  if (Math.abs(value) < 0.0005) return '±0'
  return `${value > 0 ? '+' : '−'}${format(Math.abs(value))}`
}

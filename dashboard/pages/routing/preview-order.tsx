// The answer of a preview: who is tried in which order, and who is left out, why and until when.
import type { paths } from '../../api/schema.d.ts'
import { count, ms, percent } from '../../app/format.ts'
import { Notice } from '../../ui/page.tsx'
import { Status } from '../../ui/status.tsx'
import { Ago, Money, Time } from '../../ui/text.tsx'

export type Previewed = paths['/api/virtual-models/preview']['post']['responses'][200]['content']['application/json']
type Ranked = Previewed['order'][number]
type Dropped = Previewed['dropped'][number]

interface PreviewOrderProps {
  of: Previewed
  /** Returns `provider/label` of a connection. */
  nameOf: (id: number) => string
}

export function PreviewOrder({ of: { order, dropped, key }, nameOf }: PreviewOrderProps) {
  return (
    <>
      {key !== undefined && !key.allowed && (
        <Notice tone="warning">The key “{key.label}” may not use this name: its requests get 403.</Notice>
      )}
      {key?.expired === true && <Notice tone="warning">The key “{key.label}” has expired: its requests get 401.</Notice>}
      <ol class="preview">
        {order.map((one) => (
          <Row key={`${one.rank} ${one.target}`} of={one} />
        ))}
        {dropped.map((one) => (
          <LeftOut key={`dropped ${one.target}`} of={one} nameOf={nameOf} />
        ))}
      </ol>
      {order.length === 0 && <Notice tone="error">No target can answer now: requests to this model fail.</Notice>}
    </>
  )
}

function Row({ of: { rank, target, draw_probability, connections_available, connections_total, signals } }: { of: Ranked }) {
  const { est_cost_usd, latency_ms, latency_samples = 0, quota_remaining_pct, breaker, inflight } = signals
  return (
    <li>
      <span class="preview-rank">{rank}</span>
      <strong>{target}</strong>
      <span class="preview-signals">
        <Money usd={est_cost_usd} />
        <span title="Measured latency, and the number of samples">
          {latency_ms === undefined ? 'not measured' : `${ms(latency_ms)} (${count(latency_samples)})`}
        </span>
        {draw_probability !== undefined && <span title="Probability to be drawn first">{percent(draw_probability)}</span>}
        {quota_remaining_pct !== undefined && <span>{percent(quota_remaining_pct / 100)} quota left</span>}
        {breaker === 'half_open' && <Status tone="waiting">probing</Status>}
        {inflight !== undefined && inflight > 0 && <span>{count(inflight)} running</span>}
        <span>
          {connections_available} of {connections_total} {connections_total === 1 ? 'connection' : 'connections'}
        </span>
      </span>
    </li>
  )
}

function LeftOut({ of: { target, reason, until, connections }, nameOf }: { of: Dropped; nameOf: (id: number) => string }) {
  return (
    <li class="left-out">
      <span class="preview-rank">—</span>
      <Status tone="refused">{target}</Status>
      <span class="preview-signals">
        <span>left out: {worded(reason)}</span>
        {until !== undefined && <Until at={until} />}
        {connections.map((one) => (
          <span key={one.id}>
            {nameOf(one.id)}: {worded(one.reason)} {one.until !== undefined && <Until at={one.until} />}
          </span>
        ))}
      </span>
    </li>
  )
}

function Until({ at }: { at: string }) {
  return (
    <span>
      until <Time at={at} /> (<Ago at={at} />)
    </span>
  )
}

function worded(reason: string): string {
  return reason.replaceAll('_', ' ')
}

// The attempts of a request: who was asked, for how long, what came of it, and who was passed over. `t` shows the same as a table.
import { useGet } from '../../api/query.ts'
import { ms } from '../../app/format.ts'
import { query as address, setQuery } from '../../app/location.ts'
import { useKeys } from '../../app/palette/keys.tsx'
import { AddressNote } from '../../ui/notes/address-note.tsx'
import { Notice } from '../../ui/page.tsx'
import { useShowMore } from '../../ui/show-more.tsx'
import { HttpStatus, Status } from '../../ui/status.tsx'
import { Table } from '../../ui/table.tsx'
import { Money, Time } from '../../ui/text.tsx'
import { type Attempt, type Details, type Line, type Span, type Timeline, timelineOf, triedOf, verdictOf } from './timeline.ts'

export function Waterfall({ details }: { details: Details }) {
  const asTable = address.value.get('view') === 'table'
  const turn = (): void => setQuery({ view: asTable ? null : 'table' })
  useKeys([{ keys: 't', what: 'Attempts as table or bars', run: turn }])
  const timeline = timelineOf(details)
  const skipped = useShowMore(timeline.skipped)
  const nameOf = useConnectionNames()
  if (details.attempts.length === 0)
    return (
      <Notice>No upstream was asked: {details.cached ? 'the cache had the answer.' : 'the gateway answered by itself.'}</Notice>
    )
  return (
    <div class="waterfall">
      <AddressNote name="view" shown={asTable ? 'table' : null} />
      {skipped.shown.map((attempt) => (
        <p key={attempt.n} class="quiet skipped">
          skipped {attempt.provider}/{attempt.model}
          {onText(attempt, nameOf)}: {attempt.skipped?.reason.replaceAll('_', ' ')}
          {attempt.skipped?.until != null && (
            <>
              {' '}
              until <Time at={attempt.skipped.until} />
            </>
          )}
        </p>
      ))}
      {skipped.more}
      {asTable ? <AttemptTable details={details} /> : <Lines of={timeline} />}
      <button type="button" class="button plain" title="t" onClick={turn}>
        {asTable ? 'Show as bars' : 'Show as table'}
      </button>
    </div>
  )
}

/** Returns the label of the connection that an attempt used, where the reader may see connections and it is still there. */
function useConnectionNames(): (attempt: Attempt) => string | undefined {
  const connections = useGet('/api/providers')
  return ({ connection_id }) => connections.data?.data.find(({ id }) => String(id) === connection_id)?.label
}

/** Empty where the label says no more than the provider. */
function onText(attempt: Attempt, nameOf: (attempt: Attempt) => string | undefined): string {
  const name = nameOf(attempt)
  return name === undefined || name === attempt.provider ? '' : ` on ${name}`
}

function Lines({ of: { whole, gateway, gatewayMs, lines } }: { of: Timeline }) {
  const { shown, more } = useShowMore(lines)
  return (
    <>
      <p class="axis" aria-hidden="true">
        <span>0</span>
        <span>{ms(whole / 2)}</span>
        <span>{ms(whole)}</span>
      </p>
      <div class="attempt">
        <p class="quiet">
          <span class="attempt-name">gateway</span> <span class="figure">{ms(gatewayMs)}</span>
        </p>
        <Track whole={whole} spans={gateway} />
      </div>
      {shown.map((line) => (
        <Attempts key={line.attempts[0]?.n} line={line} whole={whole} />
      ))}
      {more}
      <p class="legend quiet" aria-hidden="true">
        <span class="gateway">gateway</span>
        <span class="open">connect and headers</span>
        <span class="arrives">answer</span>
        <span class="waited">waited</span>
      </p>
    </>
  )
}

function Attempts({ line: { number, attempts, spans, ticks, caps, verdict }, whole }: { line: Line; whole: number }) {
  const nameOf = useConnectionNames()
  const [first] = attempts as [Attempt, ...Attempt[]]
  const last = attempts.at(-1) as Attempt
  const took = attempts.reduce((sum, { latency_ms }) => sum + (latency_ms ?? 0), 0)
  const firstContent = attempts.find(({ ttft_ms }) => ttft_ms !== null)?.ttft_ms
  return (
    <div class="attempt">
      <p>
        <span class="attempt-name">
          {first === last ? number : `${number}–${number + attempts.length - 1}`} {first.provider}/{first.model}
          {attempts.length > 1 && ` ×${attempts.length}`}
          {first.role !== null && ` (${first.role})`}
          <span class="quiet">{onText(first, nameOf)}</span>
        </span>{' '}
        {last.status === null ? <Status tone="failed">no answer</Status> : <HttpStatus status={last.status} />}{' '}
        <span class="figure">{ms(took)}</span>
      </p>
      <Track whole={whole} spans={spans} ticks={ticks} caps={caps} />
      <p class="verdict">
        {firstContent != null && `first content after ${ms(firstContent)}, `}
        {verdict}
      </p>
      {last.error !== null && <p class="quiet clip-lines">{last.error.message}</p>}
    </div>
  )
}

interface TrackProps {
  whole: number
  spans: readonly Span[]
  ticks?: readonly number[]
  caps?: readonly number[]
}

/** Widths are set through the DOM: the page's policy refuses style attributes. */
function Track({ whole, spans, ticks = [], caps = [] }: TrackProps) {
  const at = (time: number): string => `${(Math.min(time, whole) / whole) * 100}%`
  // A short one at the end of the axis stays in sight.
  const left = (time: number): string => `min(${at(time)}, calc(100% - 3px))`
  return (
    <div class="track" aria-hidden="true">
      {spans.map(({ kind, from, to }) => (
        <span key={`${kind} ${from}`} class={`span ${kind}`} style={{ left: left(from), width: at(to - from) }} />
      ))}
      {ticks.map((time) => (
        <span key={`tick ${time}`} class="tick" style={{ left: left(time) }} />
      ))}
      {caps.map((time) => (
        <span key={`cap ${time}`} class="cap" style={{ left: left(time) }} />
      ))}
    </div>
  )
}

function AttemptTable({ details }: { details: Details }) {
  const tried = triedOf(details.attempts)
  const nameOf = useConnectionNames()
  const start = Date.parse(details.created_at)
  return (
    <Table
      label="Attempts"
      rows={tried}
      rowKey={({ n }) => n}
      columns={[
        { id: 'n', title: '#', cell: (attempt) => tried.indexOf(attempt) + 1 },
        { id: 'target', title: 'Target', cell: ({ provider, model }) => `${provider}/${model}` },
        { id: 'account', title: 'Connection', wide: true, cell: (attempt) => nameOf(attempt) ?? attempt.connection_id },
        { id: 'status', title: 'Status', cell: ({ status }) => (status === null ? '—' : <HttpStatus status={status} />) },
        { id: 'start', title: 'Began after', numeric: true, cell: ({ started_at }) => ms(Date.parse(started_at) - start) },
        { id: 'first', title: 'First content', numeric: true, wide: true, cell: ({ ttft_ms }) => ms(ttft_ms) },
        { id: 'waited', title: 'Waited', numeric: true, wide: true, cell: ({ waited_ms }) => ms(waited_ms) },
        {
          id: 'format',
          title: 'Format',
          wide: true,
          cell: ({ wire_format, lane }) => (wire_format === null ? '—' : `${wire_format}${lane === null ? '' : `, ${lane}`}`),
        },
        { id: 'time', title: 'Time', numeric: true, cell: ({ latency_ms }) => ms(latency_ms) },
        { id: 'cost', title: 'Cost', numeric: true, wide: true, cell: ({ cost_usd }) => <Money usd={cost_usd} /> },
        { id: 'verdict', title: 'Verdict', cell: (attempt) => verdictOf(attempt, attempt === tried.at(-1)) },
      ]}
    />
  )
}

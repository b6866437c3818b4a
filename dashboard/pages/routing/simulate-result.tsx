// Two runs side by side: how many requests were answered, how fast, at which cost, and by whom.
import { count, ms, percent } from '../../app/format.ts'
import { Part } from '../../ui/charts/part.tsx'
import { Table } from '../../ui/table.tsx'
import { Money } from '../../ui/text.tsx'
import { firstDifference, type SimulationRun, wayOf } from './simulation.ts'

const SHOWN = 50

export function Comparison({ before, after, isNew }: { before: SimulationRun; after: SimulationRun; isNew: boolean }) {
  const [was, is] = [before.summary, after.summary]
  const at = firstDifference(before, after)
  const calls = new Map(was.accounts.map((account) => [account.connection, account.calls]))
  return (
    <>
      <p class="quiet">
        Before: {isNew ? 'this draft' : 'what is saved'}, every upstream answers. After: this draft, with the outages.
      </p>
      <Table
        label="Before and after"
        rows={[
          ['Answered', percent(was.success_rate), percent(is.success_rate)] as const,
          ['p95', ms(was.p95_ms), ms(is.p95_ms)] as const,
          ['Cost', <Money key="was" usd={costOf(was)} />, <Money key="is" usd={costOf(is)} />] as const,
          ['Calls to upstreams', count(was.upstream_calls), count(is.upstream_calls)] as const,
        ]}
        rowKey={([title]) => title}
        columns={[
          { id: 'figure', title: `${count(is.requests)} requests`, cell: ([title]) => title },
          { id: 'before', title: 'Before', numeric: true, cell: ([, before]) => before },
          { id: 'after', title: 'After', numeric: true, cell: ([, , after]) => after },
        ]}
      />
      {is.unpriced_requests > 0 && (
        <p class="quiet">{count(is.unpriced_requests)} answered requests have no known price: they are not in the cost.</p>
      )}
      <Table
        label="Calls by connection"
        rows={is.accounts.filter(({ connection, calls: now }) => now > 0 || (calls.get(connection) ?? 0) > 0)}
        rowKey={({ connection }) => connection}
        columns={[
          { id: 'connection', title: 'Connection', cell: ({ connection }) => connection },
          {
            id: 'share',
            title: 'Calls after',
            cell: ({ connection, calls }) => <Part label={`Calls to ${connection}`} of={calls / is.upstream_calls} />,
          },
          { id: 'before', title: 'Before', numeric: true, cell: ({ connection }) => count(calls.get(connection) ?? 0) },
          { id: 'after', title: 'After', numeric: true, cell: ({ calls }) => count(calls) },
        ]}
      />
      {at === -1 ? (
        <p>All requests go the same way as before.</p>
      ) : (
        <p>
          First difference: request {at + 1}.{' '}
          {before.requests[at] !== undefined && <span class="quiet">{wayOf(before.requests[at])}, now </span>}
          {after.requests[at] !== undefined && wayOf(after.requests[at])}
        </p>
      )}
      <details>
        <summary>Each request</summary>
        <Table
          label="Simulated requests"
          rows={after.requests.slice(0, SHOWN).map((request, index) => ({ request, index }))}
          rowKey={({ index }) => index}
          columns={[
            { id: 'n', title: '#', cell: ({ index }) => index + 1 },
            { id: 'status', title: 'Status', cell: ({ request }) => request.status },
            { id: 'way', title: 'Way', cell: ({ request }) => wayOf(request) },
          ]}
        />
        {after.requests.length > SHOWN && <p class="quiet">The first {SHOWN} are shown.</p>}
      </details>
    </>
  )
}

/** Nothing is known when no answered request has a price. */
function costOf({ cost_usd, succeeded, unpriced_requests }: SimulationRun['summary']): number | null {
  return succeeded > 0 && unpriced_requests >= succeeded ? null : cost_usd
}

// Models ranked by what they did: success, times and costs of their calls.
import { type Got, useGet } from '../../api/query.ts'
import { count, ms, percent } from '../../app/format.ts'
import { query as address, setQuery } from '../../app/location.ts'
import { AddressNote } from '../../ui/notes/address-note.tsx'
import { TruncatedNotice } from '../../ui/notes/truncated-notice.tsx'
import { Empty, Loading, Panel } from '../../ui/page.tsx'
import { Table } from '../../ui/table.tsx'
import { Money } from '../../ui/text.tsx'

type Order = Got<'/api/eval'>['optimize']

const ORDERS: readonly (readonly [Order, string])[] = [
  ['score', 'by score'],
  ['cost', 'by cost'],
  ['latency', 'by time'],
]
const MOST = 50

export function ModelsCompared() {
  const asked = address.value.get('optimize')
  const order = ORDERS.find(([id]) => id === asked)?.[0] ?? 'score'
  const found = useGet('/api/eval', { query: { window: '7d', optimize: order, limit: MOST } })
  return (
    <Panel
      title="Models compared, 7 days"
      actions={ORDERS.map(([id, title]) => (
        <button
          key={id}
          type="button"
          class="button plain"
          aria-pressed={id === order}
          onClick={() => setQuery({ optimize: id === 'score' ? null : id })}
        >
          {title}
        </button>
      ))}
    >
      <AddressNote name="optimize" shown={order} />
      <Loading of={found}>
        {({ data, truncated }) =>
          data.length === 0 ? (
            <Empty title="No model was called in the last 7 days" />
          ) : (
            <>
              {truncated && <TruncatedNotice />}
              <Table
                label="Models compared"
                rows={data}
                rowKey={({ rank }) => rank}
                columns={[
                  { id: 'rank', title: '#', cell: ({ rank }) => rank },
                  { id: 'model', title: 'Model', cell: ({ provider, model }) => `${provider}/${model}` },
                  { id: 'requests', title: 'Calls', numeric: true, cell: ({ requests }) => count(requests) },
                  { id: 'success', title: 'Answered', numeric: true, cell: ({ success_rate }) => percent(success_rate) },
                  { id: 'p50', title: 'p50', numeric: true, wide: true, cell: ({ p50_ms }) => ms(p50_ms) },
                  { id: 'p95', title: 'p95', numeric: true, wide: true, cell: ({ p95_ms }) => ms(p95_ms) },
                  {
                    id: 'cost',
                    title: 'Cost of a call',
                    numeric: true,
                    wide: true,
                    cell: ({ avg_cost_usd }) => <Money usd={avg_cost_usd} />,
                  },
                  { id: 'score', title: 'Score', numeric: true, wide: true, cell: ({ score }) => score.toFixed(2) },
                ]}
              />
            </>
          )
        }
      </Loading>
    </Panel>
  )
}

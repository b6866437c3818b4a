// What was used and what it cost in the window: totals, the course over time, and the parts by group.
import { useGet } from '../../api/query.ts'
import { compact, count, ms, percent } from '../../app/format.ts'
import { query as address, setQuery } from '../../app/location.ts'
import { Figures } from '../../ui/charts/figures.tsx'
import { AddressNote } from '../../ui/notes/address-note.tsx'
import { TruncatedNotice } from '../../ui/notes/truncated-notice.tsx'
import { UnpricedNote } from '../../ui/notes/unpriced-note.tsx'
import { Empty, Loading, Panel } from '../../ui/page.tsx'
import { Table } from '../../ui/table.tsx'
import { Money } from '../../ui/text.tsx'
import { WindowChoice, WindowName, windowOf } from '../../ui/window.tsx'
import { CostOverTime } from './cost-over-time.tsx'

const GROUPS = [
  ['by_model', 'model', 'Model'],
  ['by_provider', 'provider', 'Provider'],
  ['by_key', 'key', 'Key'],
  ['by_virtual_model', 'virtual_model', 'Virtual model'],
  ['by_cost_center', 'cost_center', 'Cost center'],
] as const

export function Usage() {
  const window = windowOf()
  const usage = useGet('/api/usage', { query: { window } })
  const [list, member, title] = GROUPS.find(([, id]) => id === address.value.get('by')) ?? GROUPS[0]
  return (
    <Loading of={usage}>
      {(data) => {
        const { totals, truncated } = data
        const nothingKnown = totals.cost_usd === 0 && totals.unpriced_requests > 0
        const rows = data[list] as readonly (Omit<(typeof data.by_model)[number], 'model'> & Record<string, unknown>)[]
        return (
          <>
            {truncated && <TruncatedNotice />}
            <AddressNote name="by" shown={member} />
            <Panel title="Spend" actions={<WindowChoice />}>
              <Figures
                of={[
                  ['Cost', <Money key="cost" usd={nothingKnown ? null : totals.cost_usd} />],
                  ['Charged', <Money key="charged" usd={totals.charge_usd} />],
                  ['Saved', <Money key="saved" usd={totals.usd_saved} />],
                  ['Tokens', compact(totals.tokens.total)],
                ]}
              />
              <p>
                <WindowName of={data.window} />
              </p>
              <UnpricedNote calls={totals.unpriced_requests} />
              {totals.interrupted_requests > 0 && (
                <p class="quiet">
                  {count(totals.interrupted_requests)} interrupted requests are estimated:{' '}
                  <Money usd={totals.estimated_cost_usd} /> of the cost.
                </p>
              )}
              <CostOverTime window={window} by={member} groups={rows.map((row) => String(row[member]))} />
            </Panel>
            <Panel
              title={`By ${title.toLowerCase()}`}
              actions={GROUPS.map(([, id, name]) => (
                <button
                  key={id}
                  type="button"
                  class="button plain"
                  aria-pressed={id === member}
                  onClick={() => setQuery({ by: id === 'model' ? null : id })}
                >
                  {name}
                </button>
              ))}
            >
              {rows.length === 0 ? (
                <Empty title="No traffic of this kind in this window" />
              ) : (
                <Table
                  label={title}
                  rows={rows}
                  rowKey={(row) => String(row[member])}
                  columns={[
                    { id: 'name', title, cell: (row) => String(row[member]) },
                    {
                      id: 'cost',
                      title: 'Cost',
                      numeric: true,
                      cell: ({ cost_usd, unpriced_requests }) => (
                        <Money usd={cost_usd === 0 && unpriced_requests > 0 ? null : cost_usd} />
                      ),
                    },
                    {
                      id: 'unpriced',
                      title: 'No known price',
                      numeric: true,
                      wide: true,
                      cell: ({ unpriced_requests }) => count(unpriced_requests),
                    },
                    { id: 'requests', title: 'Requests', numeric: true, cell: ({ requests }) => count(requests) },
                    {
                      id: 'failed',
                      title: 'Failed',
                      numeric: true,
                      wide: true,
                      cell: ({ errors, requests }) => percent(errors / requests),
                    },
                    { id: 'in', title: 'Tokens in', numeric: true, wide: true, cell: ({ tokens }) => compact(tokens.prompt) },
                    {
                      id: 'out',
                      title: 'Tokens out',
                      numeric: true,
                      wide: true,
                      cell: ({ tokens }) => compact(tokens.completion),
                    },
                    { id: 'p95', title: 'p95', numeric: true, wide: true, cell: ({ p95_ms }) => ms(p95_ms) },
                  ]}
                />
              )}
            </Panel>
          </>
        )
      }}
    </Loading>
  )
}

// Exact sums for finance. The server makes the file; the page only shows its first rows.

import { download } from '../../api/download.ts'
import { useGet } from '../../api/query.ts'
import { count } from '../../app/format.ts'
import { query as address, setQuery } from '../../app/location.ts'
import { Button } from '../../ui/button.tsx'
import { AddressNote } from '../../ui/notes/address-note.tsx'
import { UnpricedNote } from '../../ui/notes/unpriced-note.tsx'
import { Empty, Loading, Panel } from '../../ui/page.tsx'
import { Table } from '../../ui/table.tsx'
import { Money } from '../../ui/text.tsx'
import { WindowChoice, WindowName, windowOf } from '../../ui/window.tsx'

const COLUMNS = ['key', 'cost_center', 'user', 'provider', 'model', 'virtual_model', 'day', 'month', 'source', 'org'] as const
const SHOWN = 200

export function Reports() {
  const window = windowOf()
  const groups = (address.value.get('group') ?? 'key,model')
    .split(',')
    .filter((one) => (COLUMNS as readonly string[]).includes(one))
  const group_by = groups.join(',') || 'key,model'
  const usage = useGet('/api/usage', { query: { window } })
  const report = useGet('/api/reports', { query: { window, group_by } })
  const toggle = (column: string): void => {
    const next = groups.includes(column) ? groups.filter((one) => one !== column) : [...groups, column]
    setQuery({ group: next.join(',') || null })
  }
  const save = (format: string): Promise<void> =>
    download(`/api/reports?${new URLSearchParams({ window, group_by, format })}`, `report-${window}.${format}`)
  return (
    <Panel title="Report" actions={<WindowChoice />}>
      <AddressNote name="group" shown={group_by} />
      <div class="actions">
        <span class="quiet">Group by</span>
        {COLUMNS.map((column) => (
          <button
            key={column}
            type="button"
            class="button plain"
            aria-pressed={groups.includes(column)}
            onClick={() => toggle(column)}
          >
            {column.replaceAll('_', ' ')}
          </button>
        ))}
      </div>
      <div class="actions">
        {['csv', 'json', 'parquet'].map((format) => (
          <Button key={format} onClick={() => save(format)}>
            Download {format}
          </Button>
        ))}
      </div>
      <Loading of={report}>
        {(data) =>
          data.data.length === 0 ? (
            <Empty title="Nothing was used in this window" />
          ) : (
            <>
              <p>
                <WindowName of={data} /> · {count(Number(data.totals.requests))} requests ·{' '}
                <Money usd={Number(data.totals.cost_usd)} />
              </p>
              {usage.data !== undefined && <UnpricedNote calls={usage.data.totals.unpriced_requests} />}
              <Table
                label="Report"
                rows={data.data.slice(0, SHOWN)}
                rowKey={(row) => JSON.stringify(data.group_by.map((name) => row[name]))}
                columns={[
                  ...data.group_by.map((name) => ({
                    id: name,
                    title: name.replaceAll('_', ' '),
                    cell: (row: Record<string, string | number | null>) => String(row[name] ?? '—'),
                  })),
                  { id: 'requests', title: 'Requests', numeric: true, cell: ({ requests }) => count(Number(requests)) },
                  {
                    id: 'tokens',
                    title: 'Tokens',
                    numeric: true,
                    wide: true,
                    cell: ({ total_tokens }) => count(Number(total_tokens)),
                  },
                  {
                    id: 'cost',
                    title: 'Cost',
                    numeric: true,
                    cell: ({ cost_usd }) => <Money usd={cost_usd === null ? null : Number(cost_usd)} />,
                  },
                ]}
              />
              {data.data.length > SHOWN && (
                <p class="quiet">
                  The first {SHOWN} of {count(data.data.length)} rows. The files hold all.
                </p>
              )}
            </>
          )
        }
      </Loading>
    </Panel>
  )
}

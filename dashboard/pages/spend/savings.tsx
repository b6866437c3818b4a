// What caches and the token saver saved, with a receipt for each saving and a check of their chain.
import { useState } from 'preact/hooks'
import { answerOf, api } from '../../api/client.ts'
import { useGet } from '../../api/query.ts'
import { compact, count, UNKNOWN } from '../../app/format.ts'
import { href } from '../../app/location.ts'
import { Button } from '../../ui/button.tsx'
import { Figures } from '../../ui/charts/figures.tsx'
import { Empty, Loading, Panel } from '../../ui/page.tsx'
import { Status } from '../../ui/status.tsx'
import { Table } from '../../ui/table.tsx'
import { Money, Time } from '../../ui/text.tsx'
import { WindowChoice, WindowName, windowOf } from '../../ui/window.tsx'

export function Savings() {
  const window = windowOf()
  const totals = useGet('/api/savings/totals', { query: { window } })
  const latest = useGet('/api/savings', { query: { limit: '20' } })
  const [verdict, setVerdict] = useState<{ ok: boolean; count: number; first_bad_seq: number | null } | null>(null)
  return (
    <>
      <Loading of={totals}>
        {(data) => (
          <Panel title="Saved" actions={<WindowChoice />}>
            <Figures
              of={[
                ['Money', <Money key="money" usd={data.usd_saved} />],
                ['Tokens', compact(data.tokens_saved)],
                ...Object.entries(data.by_source).map(
                  ([source, { usd_saved, receipts }]) =>
                    [source.replaceAll('_', ' '), <Money key={source} usd={usd_saved} />, `${count(receipts)} receipts`] as const,
                ),
              ]}
            />
            <p>
              <WindowName of={data.window} />
            </p>
          </Panel>
        )}
      </Loading>
      <Panel
        title="Receipts"
        actions={
          <>
            {verdict !== null &&
              (verdict.ok ? (
                <Status tone="ok">{`the chain of ${count(verdict.count)} receipts is whole`}</Status>
              ) : (
                <Status tone="failed">{`receipt ${verdict.first_bad_seq} was changed`}</Status>
              ))}
            <Button onClick={async () => setVerdict(await answerOf(api.GET('/api/savings/verify')))}>Verify</Button>
          </>
        }
      >
        <Loading of={latest}>
          {({ data }) =>
            data.length === 0 ? (
              <Empty title="Nothing was saved yet">
                <p>Caches and the token saver write a receipt for each saving.</p>
              </Empty>
            ) : (
              <Table
                label="Receipts"
                rows={data}
                rowKey={({ seq }) => seq}
                columns={[
                  { id: 'seq', title: '#', cell: ({ seq }) => seq },
                  { id: 'at', title: 'Time', cell: ({ at }) => <Time at={at} /> },
                  { id: 'source', title: 'Source', cell: ({ source }) => source.replaceAll('_', ' ') },
                  {
                    id: 'model',
                    title: 'Model',
                    wide: true,
                    cell: ({ provider, model }) => (model === null ? UNKNOWN : `${provider}/${model}`),
                  },
                  { id: 'tokens', title: 'Tokens', numeric: true, cell: ({ tokens_saved }) => count(tokens_saved) },
                  { id: 'method', title: 'How', wide: true, cell: ({ method }) => method.replaceAll('_', ' ') },
                  { id: 'usd', title: 'Money', numeric: true, cell: ({ usd_saved }) => <Money usd={usd_saved} /> },
                  {
                    id: 'request',
                    title: 'Request',
                    wide: true,
                    cell: ({ request_id }) => <a href={href(`/requests/${request_id}`)}>{request_id.slice(0, 12)}…</a>,
                  },
                ]}
              />
            )
          }
        </Loading>
      </Panel>
    </>
  )
}

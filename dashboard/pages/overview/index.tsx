import { useGet } from '../../api/query.ts'
import { bucketName } from '../../app/bucket-name.ts'
import { count, ms, percent } from '../../app/format.ts'
import { Bars } from '../../ui/charts/bars.tsx'
import { AddressNote } from '../../ui/notes/address-note.tsx'
import { TruncatedNotice } from '../../ui/notes/truncated-notice.tsx'
import { Empty, Loading, Page, Panel } from '../../ui/page.tsx'
import { PluginPanels } from '../../ui/plugins/plugin-panels.tsx'
import { Table } from '../../ui/table.tsx'
import { Money } from '../../ui/text.tsx'
import { WindowChoice, windowOf } from '../../ui/window.tsx'
import { Attention } from './attention.tsx'
import { Checklist } from './checklist.tsx'
import { Comparison } from './comparison.tsx'
import { Connections } from './connections.tsx'
import { Failures, Outcomes } from './outcomes.tsx'
import { Spend } from './spend.tsx'
import { TopKeys } from './top-keys.tsx'

const LOOK_MS = 30_000

export default function Overview() {
  const window = windowOf()
  const usage = useGet('/api/usage', { query: { window } }, LOOK_MS)
  const summary = useGet('/api/logs/summary', { query: { window } }, LOOK_MS)
  const series = useGet('/api/usage/timeseries', { query: { window } }, LOOK_MS)
  return (
    <Page title="Overview" actions={<WindowChoice />}>
      <AddressNote name="window" shown={window} />
      <Checklist />
      <Attention />
      <Loading of={summary}>
        {(outcomes) => (
          <Outcomes of={outcomes}>
            <Comparison now={outcomes} usage={usage.data} />
            <Loading of={series}>
              {({ data, bucket }) => (
                <div class="overview-chart">
                  <p class="quiet">Calls to upstreams per {bucket}</p>
                  <Bars
                    label={`Calls to upstreams per ${bucket}`}
                    format={count}
                    bars={data.map(({ ts, requests, errors }) => ({
                      label: bucketName(ts, bucket),
                      value: requests,
                      failed: errors,
                    }))}
                  />
                </div>
              )}
            </Loading>
          </Outcomes>
        )}
      </Loading>
      <Loading of={usage}>
        {(used) => (
          <>
            {used.truncated && <TruncatedNotice />}
            <div class="columns overview-pair">
              <Spend totals={used.totals} window={window} until={used.window.until} />
              <Loading of={summary}>{(outcomes) => <Failures of={outcomes} />}</Loading>
            </div>
            <Connections />
            <PluginPanels slot="overview" />
            <div class="columns">
              <Panel title="Models">
                {used.by_model.length === 0 ? (
                  <Empty title="No traffic in this window" />
                ) : (
                  <Table
                    label="Models"
                    rows={used.by_model.slice(0, 8)}
                    rowKey={({ model }) => String(model)}
                    columns={[
                      { id: 'model', title: 'Model', cell: ({ model }) => model },
                      { id: 'requests', title: 'Requests', numeric: true, cell: ({ requests }) => count(requests) },
                      {
                        id: 'failed',
                        title: 'Failed',
                        numeric: true,
                        cell: ({ errors, requests }) => percent(errors / requests),
                      },
                      { id: 'p95', title: 'p95', numeric: true, wide: true, cell: ({ p95_ms }) => ms(p95_ms) },
                      { id: 'cost', title: 'Spend', numeric: true, cell: ({ cost_usd }) => <Money usd={cost_usd} /> },
                    ]}
                  />
                )}
              </Panel>
              <TopKeys usage={used} summary={summary.data} />
            </div>
          </>
        )}
      </Loading>
    </Page>
  )
}

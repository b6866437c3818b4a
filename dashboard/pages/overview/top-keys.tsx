// The keys with most requests in the window. Requests and failures are those of the log, which has the ones that reached no upstream, too.
import type { Got } from '../../api/query.ts'
import { count, percent } from '../../app/format.ts'
import { Empty, Panel } from '../../ui/page.tsx'
import { Table } from '../../ui/table.tsx'
import { Money } from '../../ui/text.tsx'

const SHOWN = 8

interface TopKey {
  readonly key: string
  readonly requests: number
  readonly failed: number
  readonly cost: number | null
}

interface TopKeysProps {
  usage: Got<'/api/usage'>
  summary: Got<'/api/logs/summary'> | undefined
}

export function TopKeys({ usage, summary }: TopKeysProps) {
  const rows = rowsOf(usage, summary).slice(0, SHOWN)
  return (
    <Panel title="Keys">
      {rows.length === 0 ? (
        <Empty title="No request with a client key in this window" />
      ) : (
        <Table
          label="Keys"
          rows={rows}
          rowKey={({ key }) => key}
          columns={[
            { id: 'key', title: 'Key', breaks: true, cell: ({ key }) => key },
            { id: 'requests', title: 'Requests', numeric: true, cell: ({ requests }) => count(requests) },
            { id: 'failed', title: 'Failed', numeric: true, cell: ({ failed, requests }) => percent(failed / requests) },
            { id: 'cost', title: 'Spend', numeric: true, cell: ({ cost }) => <Money usd={cost} /> },
          ]}
        />
      )}
    </Panel>
  )
}

/** Without a log, or with one that is cut, the figures of the usage are all there is. */
function rowsOf({ by_key }: Got<'/api/usage'>, summary: TopKeysProps['summary']): readonly TopKey[] {
  if (summary === undefined || summary.truncated || summary.requests === 0)
    return by_key.map(({ key, requests, errors, cost_usd }) => ({ key, requests, failed: errors, cost: cost_usd }))
  const spent = new Map(by_key.map(({ key_id, cost_usd }) => [key_id, cost_usd]))
  return summary.by_key.map(({ key_id, key, requests, failed }) => ({
    ...{ key, requests, failed },
    cost: spent.get(key_id) ?? 0,
  }))
}

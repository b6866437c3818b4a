// The virtual models with their traffic of the last 24 hours.
import { type Got, useGet } from '../../api/query.ts'
import { count, money, ms, percent, UNKNOWN } from '../../app/format.ts'
import { go } from '../../app/location.ts'
import { Part } from '../../ui/charts/part.tsx'
import { TruncatedNotice } from '../../ui/notes/truncated-notice.tsx'
import { Panel } from '../../ui/page.tsx'
import { OwnerCell } from '../../ui/rows/owner-cell.tsx'
import { Status } from '../../ui/status.tsx'
import { Table } from '../../ui/table.tsx'
import { Money } from '../../ui/text.tsx'
import { WindowName } from '../../ui/window.tsx'
import type { VirtualModel } from './draft.ts'

export function ModelList({ of: models }: { of: readonly VirtualModel[] }) {
  const usage = useGet('/api/usage', { query: { window: '24h' } })
  const summary = useGet('/api/logs/summary', { query: { window: '24h' } })
  const listed = useGet('/api/models')
  const used = new Map((usage.data?.by_virtual_model ?? []).map((row) => [row.virtual_model, row]))
  const traffic = trafficOf(usage.data, summary.data)
  const prices = new Map((listed.data?.data ?? []).map(({ id, pricing }) => [id, pricing]))
  return (
    <>
      {usage.data?.truncated && <TruncatedNotice />}
      <Panel title="Virtual models" actions={usage.data && <WindowName of={usage.data.window} />}>
        <Table
          label="Virtual models"
          rows={models}
          rowKey={({ id }) => id}
          onOpen={({ name }) => go(`/routing/${encodeURIComponent(name)}`)}
          columns={[
            {
              id: 'name',
              title: 'Name',
              cell: ({ name, enabled }) => (
                <>
                  <strong>{name}</strong> {!enabled && <Status tone="quiet">disabled</Status>}
                </>
              ),
            },
            { id: 'strategy', title: 'Strategy', cell: ({ strategy }) => strategy.replaceAll('_', ' ') },
            { id: 'targets', title: 'Targets', wide: true, cell: targetNames },
            {
              id: 'share',
              title: 'Share of requests',
              cell: ({ name }) =>
                traffic.all === 0 ? (
                  UNKNOWN
                ) : (
                  <Part label={`Share of ${name}`} of={(traffic.of.get(name)?.requests ?? 0) / traffic.all} />
                ),
            },
            {
              id: 'requests',
              title: 'Requests',
              numeric: true,
              wide: true,
              cell: ({ name }) => (usage.data === undefined ? UNKNOWN : count(traffic.of.get(name)?.requests ?? 0)),
            },
            {
              id: 'failed',
              title: 'Failed',
              numeric: true,
              cell: ({ name }) => {
                const row = traffic.of.get(name)
                return row === undefined || row.requests === 0 ? UNKNOWN : percent(row.failed / row.requests)
              },
            },
            { id: 'p95', title: 'p95', numeric: true, wide: true, cell: ({ name }) => ms(used.get(name)?.p95_ms) },
            {
              id: 'spend',
              title: 'Spend',
              numeric: true,
              wide: true,
              cell: ({ name }) => {
                const row = used.get(name)
                if (row === undefined) return UNKNOWN
                return <Money usd={row.cost_usd === 0 && row.unpriced_requests > 0 ? null : row.cost_usd} />
              },
            },
            {
              id: 'price',
              title: 'Price in, per 1M',
              numeric: true,
              wide: true,
              cell: ({ targets }) => spanOf(targets.map(({ target }) => prices.get(target)?.input)),
            },
            {
              id: 'owner',
              title: 'Owner',
              wide: true,
              cell: ({ managed_by, config_key }) => (
                <OwnerCell managedBy={managed_by} section="virtualModels" name={config_key} />
              ),
            },
          ]}
        />
      </Panel>
    </>
  )
}

interface Traffic {
  readonly all: number
  readonly of: ReadonlyMap<string | null, { readonly requests: number; readonly failed: number }>
}

/** From the log, which has requests that reached no upstream, too; from the usage where there is no log or it is cut. */
function trafficOf(usage: Got<'/api/usage'> | undefined, summary: Got<'/api/logs/summary'> | undefined): Traffic {
  if (summary !== undefined && !summary.truncated && summary.requests > 0)
    return { all: summary.requests, of: new Map(summary.by_virtual_model.map((row) => [row.virtual_model, row])) }
  return {
    all: usage?.totals.requests ?? 0,
    of: new Map(
      (usage?.by_virtual_model ?? []).map(({ virtual_model, requests, errors }) => [virtual_model, { requests, failed: errors }]),
    ),
  }
}

const SHOWN = 3

/** With its weights where the strategy draws by weight. */
function targetNames({ targets, strategy }: VirtualModel): string {
  const names = targets
    .slice(0, SHOWN)
    .map(({ target, weight, enabled }) => `${target}${strategy === 'weighted' ? ` ×${weight}` : ''}${enabled ? '' : ' (off)'}`)
  return targets.length > SHOWN ? `${names.join(', ')} and ${targets.length - SHOWN} more` : names.join(', ')
}

/** The lowest and the highest of the known prices, and whether one is unknown. */
function spanOf(prices: readonly (number | undefined)[]): string {
  const known = prices.filter((price) => price !== undefined)
  if (known.length === 0) return UNKNOWN
  const [low, high] = [Math.min(...known), Math.max(...known)]
  const span = low === high ? money(low) : `${money(low)} – ${money(high)}`
  return known.length < prices.length ? `${span}, ${UNKNOWN}` : span
}

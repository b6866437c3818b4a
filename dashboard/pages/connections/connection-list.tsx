// The connections with their state now and how their requests of the last 24 hours went.
import { type Got, useGet } from '../../api/query.ts'
import { count, percent, UNKNOWN } from '../../app/format.ts'
import { query as address, setQuery } from '../../app/location.ts'
import { Sparkline } from '../../ui/charts/sparkline.tsx'
import { AddressNote } from '../../ui/notes/address-note.tsx'
import { Empty, Loading } from '../../ui/page.tsx'
import { type Connection, ConnectionOutlook, rawState } from '../../ui/rows/connection-status.tsx'
import { OwnerCell } from '../../ui/rows/owner-cell.tsx'
import { Status } from '../../ui/status.tsx'
import { Table } from '../../ui/table.tsx'
import { Ago } from '../../ui/text.tsx'
import { ConnectionPeek } from './connection-peek.tsx'

const LOOK_MS = 10_000
const SERIES_MS = 60_000

type Point = Got<'/api/usage/timeseries'>['data'][number]
type Quota = Got<'/api/quota'>['data'][number]

export function ConnectionList() {
  const connections = useGet('/api/providers', {}, LOOK_MS)
  const series = useGet('/api/usage/timeseries', { query: { window: '24h', bucket: 'hour', group_by: 'connection' } }, SERIES_MS)
  const quota = useGet('/api/quota', {}, SERIES_MS)
  const policy = useGet('/api/policy', {}, SERIES_MS)
  // The cloud profile does not offer `echo`.
  const local = useGet('/healthz').data?.profile === 'local'
  const open = Number(address.value.get('open'))
  const points = new Map<string, Point[]>()
  for (const point of series.data?.data ?? []) {
    const list = points.get(point.group ?? '')
    if (list === undefined) points.set(point.group ?? '', [point])
    else list.push(point)
  }
  const quotas = new Map((quota.data?.data ?? []).map((one) => [one.connection_id, one]))
  const blocked = new Set(
    (policy.data?.data ?? []).filter(({ effective }) => effective === 'blocked').map(({ provider_id }) => provider_id),
  )
  return (
    <Loading of={connections}>
      {({ data }) => {
        const shown = data.find(({ id }) => id === open)
        if (data.length === 0)
          return (
            <section class="panel">
              <Empty title="No connection yet">
                {local ? (
                  <p>
                    A connection is an account at a provider. The provider <code>echo</code> needs none and answers at once: add
                    it to try the gateway.
                  </p>
                ) : (
                  <p>A connection is an account at a provider. Add one with the API key of that account.</p>
                )}
              </Empty>
            </section>
          )
        return (
          <div class={shown === undefined ? 'with-peek' : 'with-peek open'}>
            <section class="panel">
              <AddressNote name="open" shown={shown?.id} />
              <Table
                label="Connections"
                rows={data}
                rowKey={({ id }) => id}
                selected={open}
                onOpen={({ id }) => setQuery({ open: id === open ? null : String(id) })}
                columns={[
                  { id: 'name', title: 'Connection', breaks: true, cell: ({ provider, label }) => `${provider}/${label}` },
                  { id: 'state', title: 'State', cell: (one) => <StateCell of={one} blocked={blocked.has(one.provider)} /> },
                  { id: 'running', title: 'Running', numeric: true, cell: running },
                  {
                    id: 'traffic',
                    title: 'Requests and failures, 24 h',
                    wide: true,
                    cell: ({ id, provider, label }) => (
                      <Traffic name={`${provider}/${label}`} of={points.get(String(id)) ?? []} />
                    ),
                  },
                  { id: 'quota', title: 'Quota left', wide: true, cell: ({ id }) => <QuotaLeft of={quotas.get(id)} /> },
                  { id: 'error', title: 'Last error', wide: true, cell: (one) => <LastError of={one} /> },
                  { id: 'used', title: 'Last used', wide: true, cell: (one) => <Ago at={rawState(one).last_used_at} /> },
                  {
                    id: 'owner',
                    title: 'Owner',
                    wide: true,
                    cell: ({ managed_by, config_key }) => (
                      <OwnerCell managedBy={managed_by} section="connections" name={config_key} />
                    ),
                  },
                ]}
              />
            </section>
            {shown !== undefined && <ConnectionPeek key={shown.id} of={shown} />}
          </div>
        )
      }}
    </Loading>
  )
}

function StateCell({ of: connection, blocked }: { of: Connection; blocked: boolean }) {
  return blocked ? <Status tone="refused">blocked by policy</Status> : <ConnectionOutlook connection={connection} />
}

function running(connection: Connection): string {
  const inflight = count(rawState(connection).inflight ?? 0)
  return connection.max_inflight === null ? inflight : `${inflight} of ${count(connection.max_inflight)}`
}

/** One bar an hour, in the order of the server. */
function Traffic({ of: points, name }: { of: readonly Point[]; name: string }) {
  if (points.length === 0) return <span class="quiet">none</span>
  const worst = points.reduce((most, { errors }) => Math.max(most, errors), 0)
  return (
    <Sparkline
      label={`Requests to ${name} by the hour; at most ${count(worst)} failed in one`}
      values={points.map(({ requests, errors }) => ({ value: requests, failed: errors }))}
    />
  )
}

function QuotaLeft({ of: quota }: { of: Quota | undefined }) {
  const left = (quota?.windows ?? []).flatMap(({ remaining_pct }) => remaining_pct ?? [])
  if (quota?.exhausted === true) return <Status tone="waiting">used up</Status>
  return <span>{left.length === 0 ? UNKNOWN : percent(Math.min(...left) / 100)}</span>
}

function LastError({ of: connection }: { of: Connection }) {
  const { last_error: error } = rawState(connection)
  if (typeof error !== 'object' || error === null) return <span>{UNKNOWN}</span>
  return (
    <span class="quiet" title={error.message}>
      {error.status ?? 'no answer'}
      {error.at !== undefined && (
        <>
          , <Ago at={error.at} />
        </>
      )}
    </span>
  )
}

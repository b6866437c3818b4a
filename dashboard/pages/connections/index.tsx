import { useGet } from '../../api/query.ts'
import { count, UNKNOWN } from '../../app/format.ts'
import { query as address, setQuery } from '../../app/location.ts'
import { may } from '../../app/me.ts'
import { AddressNote } from '../../ui/address-note.tsx'
import { Button } from '../../ui/button.tsx'
import { ConnectionStatus, rawState, stateOf } from '../../ui/connection-status.tsx'
import { Empty, Loading, Page } from '../../ui/page.tsx'
import { Owner } from '../../ui/status.tsx'
import { Table } from '../../ui/table.tsx'
import { Ago } from '../../ui/text.tsx'
import { AddConnection } from './add-connection.tsx'
import { ConnectionPeek } from './connection-peek.tsx'

const LOOK_MS = 10_000

export default function Connections() {
  const connections = useGet('/api/providers', {}, LOOK_MS)
  const open = Number(address.value.get('open'))
  return (
    <Page
      title="Connections"
      actions={
        may('manage') && (
          <Button kind="primary" onClick={() => setQuery({ add: '1' }, { replace: false })}>
            Add a connection
          </Button>
        )
      }
    >
      <Loading of={connections}>
        {({ data }) => {
          const shown = data.find(({ id }) => id === open)
          if (data.length === 0)
            return (
              <Empty title="No connection yet">
                <p>A connection is an account at a provider. `echo` needs none and answers at once.</p>
              </Empty>
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
                    { id: 'name', title: 'Connection', cell: ({ provider, label }) => `${provider}/${label}` },
                    {
                      id: 'state',
                      title: 'State',
                      cell: (connection) => {
                        const { until } = stateOf(connection)
                        return (
                          <>
                            <ConnectionStatus connection={connection} />{' '}
                            {until !== null && (
                              <span class="quiet">
                                <Ago at={until} />
                              </span>
                            )}
                          </>
                        )
                      },
                    },
                    {
                      id: 'inflight',
                      title: 'Running',
                      numeric: true,
                      cell: (connection) =>
                        `${count(rawState(connection).inflight ?? 0)}${connection.max_inflight === null ? '' : ` of ${count(connection.max_inflight)}`}`,
                    },
                    { id: 'priority', title: 'Priority', numeric: true, wide: true, cell: ({ priority }) => priority },
                    {
                      id: 'used',
                      title: 'Last used',
                      wide: true,
                      cell: (connection) => <Ago at={rawState(connection).last_used_at} />,
                    },
                    {
                      id: 'owner',
                      title: 'Owner',
                      wide: true,
                      cell: ({ managed_by, label }) =>
                        managed_by === 'config' ? (
                          <Owner managedBy={managed_by} name={`connections.${label}`} />
                        ) : managed_by === 'api' ? (
                          'API'
                        ) : (
                          UNKNOWN
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
      {address.value.get('add') !== null && <AddConnection />}
    </Page>
  )
}

// The endpoints with their state and how their deliveries went.
import { useState } from 'preact/hooks'
import { answerOf, api } from '../../api/client.ts'
import { invalidate, useGet } from '../../api/query.ts'
import { count } from '../../app/format.ts'
import { query as address, setQuery } from '../../app/location.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { AddressNote } from '../../ui/notes/address-note.tsx'
import { Empty, Loading } from '../../ui/page.tsx'
import { NewSecret } from '../../ui/rows/new-secret.tsx'
import { OwnerCell } from '../../ui/rows/owner-cell.tsx'
import { Table } from '../../ui/table.tsx'
import { EndpointForm } from './endpoint-form.tsx'
import { EndpointPeek } from './endpoint-peek.tsx'
import { EndpointState, Success } from './endpoint-state.tsx'

export function Endpoints() {
  const endpoints = useGet('/api/webhooks/endpoints')
  const [secret, setSecret] = useState<{ label: string; secret: string } | null>(null)
  const open = address.value.get('open')
  return (
    <>
      <Loading of={endpoints}>
        {({ data }) => {
          const shown = data.find(({ id }) => id === open)
          if (data.length === 0)
            return (
              <section class="panel">
                <Empty title="No endpoint yet">
                  <p>
                    An endpoint is an address of yours that receives events, such as a budget at its limit, as signed POST
                    requests. The tab Events shows each of them.
                  </p>
                </Empty>
              </section>
            )
          return (
            <div class={shown === undefined ? 'with-peek' : 'with-peek open'}>
              <section class="panel">
                <AddressNote name="open" shown={shown?.id} />
                <Table
                  label="Endpoints"
                  rows={data}
                  rowKey={({ id }) => id}
                  selected={open}
                  onOpen={({ id }) => setQuery({ open: id === open ? null : id })}
                  columns={[
                    { id: 'url', title: 'Address', breaks: true, cell: ({ url }) => url },
                    { id: 'state', title: 'State', cell: (endpoint) => <EndpointState of={endpoint} /> },
                    {
                      id: 'success',
                      title: 'Delivered, 7 days',
                      wide: true,
                      cell: (endpoint) => <Success of={endpoint} />,
                    },
                    {
                      id: 'waiting',
                      title: 'Waiting',
                      numeric: true,
                      wide: true,
                      cell: ({ recent }) => count(recent.pending),
                    },
                    {
                      id: 'events',
                      title: 'Events',
                      wide: true,
                      cell: ({ event_types }) => (event_types.length === 0 ? 'the usual' : event_types.length),
                    },
                    { id: 'format', title: 'Format', wide: true, cell: ({ format }) => format },
                    {
                      id: 'owner',
                      title: 'Owner',
                      wide: true,
                      cell: ({ managed_by, config_key }) => (
                        <OwnerCell managedBy={managed_by} section="webhooks" name={config_key} />
                      ),
                    },
                  ]}
                />
              </section>
              {shown !== undefined && (
                <EndpointPeek key={shown.id} of={shown} onSecret={(made) => setSecret({ label: shown.url, secret: made })} />
              )}
            </div>
          )
        }}
      </Loading>
      {address.value.get('add') !== null && (
        <Dialog title="Add an endpoint" onClose={() => setQuery({ add: null })}>
          <EndpointForm
            submit="Add"
            onCancel={() => setQuery({ add: null })}
            onSubmit={async (body) => {
              const made = await answerOf(api.POST('/api/webhooks/endpoints', { body }))
              setQuery({ add: null, open: made.id })
              setSecret({ label: made.url, secret: made.secret })
              await invalidate('/api/webhooks')
            }}
          />
        </Dialog>
      )}
      {secret !== null && <NewSecret label={secret.label} secret={secret.secret} onClose={() => setSecret(null)} />}
    </>
  )
}

import { useState } from 'preact/hooks'
import { answerOf, api } from '../../api/client.ts'
import { invalidate, useGet } from '../../api/query.ts'
import { query as address, setQuery } from '../../app/location.ts'
import { may } from '../../app/me.ts'
import { AddressNote } from '../../ui/address-note.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { NewSecret } from '../../ui/new-secret.tsx'
import { Empty, Facts, Loading, Notice, Page, Panel, Peek, Tabs } from '../../ui/page.tsx'
import { Status } from '../../ui/status.tsx'
import { Table } from '../../ui/table.tsx'
import { Ago, Time } from '../../ui/text.tsx'
import { Deliveries } from './deliveries.tsx'
import { type Endpoint, EndpointForm } from './endpoint-form.tsx'
import { EVENTS } from './events.ts'
import { SignatureCheck } from './signature-check.tsx'

const TABS = [
  { id: 'endpoints', title: 'Endpoints' },
  { id: 'deliveries', title: 'Deliveries' },
  { id: 'events', title: 'Events' },
  { id: 'signature', title: 'Check a signature' },
] as const

export default function Webhooks() {
  const given = address.value.get('tab') ?? 'endpoints'
  const tab = TABS.find(({ id }) => id === given)?.id ?? 'endpoints'
  return (
    <Page
      title="Webhooks"
      actions={
        may('manage') && (
          <Button kind="primary" onClick={() => setQuery({ add: '1', tab: null })}>
            Add an endpoint
          </Button>
        )
      }
    >
      <Tabs tabs={TABS} current={tab} />
      <AddressNote name="tab" shown={tab} />
      {tab === 'endpoints' && <Endpoints />}
      {tab === 'deliveries' && <Deliveries />}
      {tab === 'events' && (
        <Panel title="Events">
          <Table
            label="Events"
            rows={EVENTS}
            rowKey={([type]) => type}
            columns={[
              { id: 'type', title: 'Event', cell: ([type]) => <code>{type}</code> },
              { id: 'about', title: 'Sent when', cell: ([, about]) => about },
            ]}
          />
        </Panel>
      )}
      {tab === 'signature' && <SignatureCheck />}
    </Page>
  )
}

function Endpoints() {
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
              <Empty title="No endpoint yet">
                <p>
                  An endpoint is an address of yours that receives events, such as a budget at its limit, as signed POST requests.
                </p>
              </Empty>
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
                    { id: 'url', title: 'Address', cell: ({ url }) => url },
                    { id: 'state', title: 'State', cell: (endpoint) => <EndpointState of={endpoint} /> },
                    {
                      id: 'events',
                      title: 'Events',
                      wide: true,
                      cell: ({ event_types }) => (event_types.length === 0 ? 'the usual' : event_types.length),
                    },
                    { id: 'format', title: 'Format', wide: true, cell: ({ format }) => format },
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

const DISABLED_AFTER_MS = 5 * 86_400_000

function EndpointState({ of: { enabled, failing_since } }: { of: Endpoint }) {
  if (!enabled) return <Status tone="quiet">disabled</Status>
  if (failing_since === null) return <Status tone="ok">ok</Status>
  return (
    <Status tone="failed">
      failing, off <Ago at={Date.parse(failing_since) + DISABLED_AFTER_MS} />
    </Status>
  )
}

function EndpointPeek({ of: endpoint, onSecret }: { of: Endpoint; onSecret: (secret: string) => void }) {
  const [editing, setEditing] = useState(false)
  const [sent, setSent] = useState<string | null>(null)
  const params = { path: { id: endpoint.id } } as never
  const close = (): void => setQuery({ open: null })
  const change = async (body: object): Promise<void> => {
    await answerOf(api.PUT('/api/webhooks/endpoints/{id}', { params, body }))
    await invalidate('/api/webhooks')
  }
  const rotate = async (): Promise<void> => {
    if (!confirm('Make a new secret? The old one signs beside it for 24 hours.')) return
    onSecret((await answerOf(api.POST('/api/webhooks/endpoints/{id}/rotate-secret', { params }))).secret)
    await invalidate('/api/webhooks')
  }
  const remove = async (): Promise<void> => {
    if (!confirm(`Delete the endpoint ${endpoint.url}? Its waiting deliveries are dropped.`)) return
    await answerOf(api.DELETE('/api/webhooks/endpoints/{id}', { params }))
    close()
    await invalidate('/api/webhooks')
  }
  const test = async (): Promise<void> => {
    const { status, last_status, last_error } = await answerOf(api.POST('/api/webhooks/endpoints/{id}/test', { params }))
    setSent(`${status}${last_status === null ? '' : ` (${last_status})`}${last_error === null ? '' : `: ${last_error}`}`)
    await invalidate('/api/webhooks')
  }
  return (
    <Peek title={endpoint.url} onClose={close}>
      {editing ? (
        <EndpointForm
          of={endpoint}
          submit="Save"
          onCancel={() => setEditing(false)}
          onSubmit={async (body) => {
            await change(body)
            setEditing(false)
          }}
        />
      ) : (
        <Facts
          facts={[
            ['State', <EndpointState key="state" of={endpoint} />],
            ['Format', endpoint.format],
            ['Secret', endpoint.secret_hint ?? 'none'],
            ['Events', endpoint.event_types.length === 0 ? 'the usual' : endpoint.event_types.join(', ')],
            ['Created', <Time key="created" at={endpoint.created_at} />],
          ]}
        />
      )}
      {sent !== null && <Notice>The test event: {sent}</Notice>}
      {may('manage') && !editing && (
        <div class="actions">
          <Button onClick={test}>Send a test</Button>
          <Button onClick={() => change({ enabled: !endpoint.enabled })}>{endpoint.enabled ? 'Disable' : 'Enable'}</Button>
          <Button onClick={() => setEditing(true)}>Edit</Button>
          <Button onClick={rotate}>New secret</Button>
          <Button kind="danger" onClick={remove}>
            Delete
          </Button>
        </div>
      )}
    </Peek>
  )
}

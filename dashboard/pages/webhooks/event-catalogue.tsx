// The events that an endpoint can subscribe to, each with a sample of what is sent.
import { useGet } from '../../api/query.ts'
import { span } from '../../app/format.ts'
import { query as address, setQuery } from '../../app/location.ts'
import { Copy } from '../../ui/button.tsx'
import { AddressNote } from '../../ui/notes/address-note.tsx'
import { Loading, Panel, Peek } from '../../ui/page.tsx'
import { Status } from '../../ui/status.tsx'
import { Table } from '../../ui/table.tsx'
import { EVENTS } from './events.ts'

const ABOUT = new Map(EVENTS)

export function EventCatalogue() {
  const types = useGet('/api/webhooks/event-types')
  const open = address.value.get('open')
  return (
    <Loading of={types}>
      {({ data }) => {
        const shown = data.find(({ type }) => type === open)
        return (
          <div class={shown === undefined ? 'with-peek' : 'with-peek open'}>
            <Panel title="Events">
              <AddressNote name="open" shown={shown?.type} />
              <Table
                label="Events"
                rows={data}
                rowKey={({ type }) => type}
                selected={open}
                onOpen={({ type }) => setQuery({ open: type === open ? null : type })}
                columns={[
                  { id: 'type', title: 'Event', breaks: true, cell: ({ type }) => <code>{type}</code> },
                  { id: 'about', title: 'Sent when', wide: true, cell: ({ type }) => ABOUT.get(type) ?? '' },
                  {
                    id: 'default',
                    title: 'Without a choice',
                    cell: ({ default_on }) =>
                      default_on ? <Status tone="ok">sent</Status> : <Status tone="quiet">only if selected</Status>,
                  },
                  {
                    id: 'once',
                    title: 'At most once in',
                    numeric: true,
                    wide: true,
                    cell: ({ at_most_once_secs: secs }) => (secs === null ? 'no limit' : span(secs * 1000)),
                  },
                ]}
              />
            </Panel>
            {shown !== undefined && (
              <Peek
                title={shown.type}
                actions={<Copy text={JSON.stringify(shown.sample, null, 2)} />}
                onClose={() => setQuery({ open: null })}
              >
                <p>{ABOUT.get(shown.type)}</p>
                <p class="quiet">A delivery in the format “signed JSON”. All values are invented.</p>
                <pre class="whole">{JSON.stringify(shown.sample, null, 2)}</pre>
              </Peek>
            )}
          </div>
        )
      }}
    </Loading>
  )
}

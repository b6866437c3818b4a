// Deliveries of all endpoints, the newest first, with their schedule.
import { useState } from 'preact/hooks'
import { answerOf, api } from '../../api/client.ts'
import { invalidate, useGet } from '../../api/query.ts'
import { query as address, setQuery } from '../../app/location.ts'
import { may } from '../../app/session/me.ts'
import { Button } from '../../ui/button.tsx'
import { AddressNote } from '../../ui/notes/address-note.tsx'
import { Empty, Loading, Panel } from '../../ui/page.tsx'
import { Status, type Tone } from '../../ui/status.tsx'
import { Table } from '../../ui/table.tsx'
import { Ago, Time } from '../../ui/text.tsx'
import { DeliveryPeek } from './delivery-peek.tsx'
import { Recover } from './recover.tsx'

const STATES = ['pending', 'delivered', 'failed', 'dead'] as const
const TONES: Record<(typeof STATES)[number], Tone> = { pending: 'waiting', delivered: 'ok', failed: 'failed', dead: 'refused' }

const PAGE = 100
/** The attempts of a whole schedule. */
const TRIES = 7

export function Deliveries() {
  const given = address.value.get('status')
  const open = address.value.get('open')
  const status = STATES.find((one) => one === given)
  const endpoint = address.value.get('endpoint') ?? ''
  const endpoints = useGet('/api/webhooks/endpoints')
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const [said, setSaid] = useState<string | null>(null)
  const cursor = address.value.get('older') ?? ''
  const deliveries = useGet(
    '/api/webhooks/deliveries',
    {
      query: {
        limit: PAGE,
        ...(/^\d{1,15}$/.test(cursor) && { cursor }),
        ...(status && { status }),
        ...(endpoint !== '' && { endpoint_id: endpoint }),
      },
    },
    10_000,
  )
  const urls = new Map((endpoints.data?.data ?? []).map(({ id, url }) => [id, url]))
  const again = async (id: string): Promise<void> => {
    await answerOf(api.POST('/api/webhooks/deliveries/{id}/redeliver', { params: { path: { id } } as never }))
    await invalidate('/api/webhooks')
  }
  /** One after the other: each has its own answer, and the first that is refused ends it. */
  const againSelected = async (): Promise<void> => {
    setSaid(null)
    let sent = 0
    for (const id of selected) {
      await answerOf(api.POST('/api/webhooks/deliveries/{id}/redeliver', { params: { path: { id } } as never }))
      sent++
      setSaid(`${sent} of ${selected.size} queued`)
    }
    setSelected(new Set())
    await invalidate('/api/webhooks')
  }
  const select = (id: string): void => {
    const next = new Set(selected)
    if (!next.delete(id)) next.add(id)
    setSelected(next)
  }
  return (
    <div class={open === null ? 'with-peek' : 'with-peek open'}>
      <Panel
        title="Deliveries"
        actions={
          <>
            {said !== null && (
              <span class="quiet" role="status">
                {said}
              </span>
            )}
            {may('manage') && selected.size > 0 && (
              <Button kind="primary" onClick={againSelected}>
                Send {selected.size} again
              </Button>
            )}
            <select
              aria-label="Endpoint"
              value={endpoint}
              onChange={(event) => setQuery({ endpoint: event.currentTarget.value || null })}
            >
              <option value="">all endpoints</option>
              {[...urls].map(([id, url]) => (
                <option key={id} value={id}>
                  {url}
                </option>
              ))}
            </select>
            <select
              aria-label="Status"
              value={status ?? ''}
              onChange={(event) => setQuery({ status: event.currentTarget.value || null })}
            >
              <option value="">all states</option>
              {STATES.map((one) => (
                <option key={one} value={one}>
                  {one}
                </option>
              ))}
            </select>
          </>
        }
      >
        {may('manage') && urls.size > 0 && <Recover key={[...urls.keys()].join()} endpoints={[...urls]} />}
        <AddressNote name="status" shown={status} />
        <AddressNote name="older" shown={/^\d{1,15}$/.test(cursor) ? cursor : null} />
        {endpoints.data !== undefined && <AddressNote name="endpoint" shown={urls.has(endpoint) ? endpoint : null} />}
        <Loading of={deliveries}>
          {({ data, next_cursor }) =>
            data.length === 0 ? (
              <Empty title="No delivery of this kind" />
            ) : (
              <>
                <Table
                  label="Deliveries"
                  rows={data}
                  rowKey={({ id }) => id}
                  selected={open}
                  onOpen={({ id }) => setQuery({ open: id === open ? null : id })}
                  columns={[
                    { id: 'at', title: 'Time', cell: ({ created_at }) => <Time at={created_at} /> },
                    { id: 'event', title: 'Event', breaks: true, cell: ({ event_type }) => event_type },
                    {
                      id: 'endpoint',
                      title: 'Endpoint',
                      wide: true,
                      cell: ({ endpoint_id }) => urls.get(endpoint_id) ?? endpoint_id,
                    },
                    { id: 'status', title: 'State', cell: (row) => <Status tone={TONES[row.status]}>{row.status}</Status> },
                    {
                      id: 'attempts',
                      title: 'Tries',
                      numeric: true,
                      wide: true,
                      cell: ({ attempts }) => `${attempts} of ${TRIES}`,
                    },
                    {
                      id: 'answer',
                      title: 'Last answer',
                      wide: true,
                      cell: ({ last_status, last_error }) => last_error ?? last_status ?? '—',
                    },
                    {
                      id: 'next',
                      title: 'Next try',
                      wide: true,
                      cell: ({ next_attempt_at }) => (next_attempt_at === null ? '—' : <Ago at={next_attempt_at} />),
                    },
                    {
                      id: 'again',
                      title: '',
                      // Waiting and delivered ones are not sent again.
                      cell: ({ id, event_type, status }) =>
                        may('manage') &&
                        (status === 'failed' || status === 'dead') && (
                          <span class="again" onClick={(event) => event.stopPropagation()}>
                            <input
                              type="checkbox"
                              aria-label={`Select ${event_type} ${id}`}
                              checked={selected.has(id)}
                              onChange={() => select(id)}
                            />
                            <Button onClick={() => again(id)}>Send again</Button>
                          </span>
                        ),
                    },
                  ]}
                />
                {(next_cursor !== null || cursor !== '') && (
                  <div class="pages">
                    {cursor !== '' && <Button onClick={() => setQuery({ older: null })}>Newest</Button>}
                    {next_cursor !== null && (
                      <Button onClick={() => setQuery({ older: next_cursor }, { replace: false })}>Older</Button>
                    )}
                  </div>
                )}
              </>
            )
          }
        </Loading>
      </Panel>
      {open !== null && <DeliveryPeek key={open} id={open} />}
    </div>
  )
}

// One delivery: every attempt, and the event as it is sent.
import { useGet } from '../../api/query.ts'
import { ms } from '../../app/format.ts'
import { setQuery } from '../../app/location.ts'
import { Facts, Loading, Peek } from '../../ui/page.tsx'
import { HttpStatus } from '../../ui/status.tsx'
import { Table } from '../../ui/table.tsx'
import { Ago, Time } from '../../ui/text.tsx'

export function DeliveryPeek({ id }: { id: string }) {
  const delivery = useGet('/api/webhooks/deliveries/{id}', { params: { id } })
  return (
    <Peek title={delivery.data?.event_type ?? id} onClose={() => setQuery({ open: null })}>
      <Loading of={delivery}>
        {({ status, created_at, delivered_at, next_attempt_at, attempt_log, upcoming, envelope }) => (
          <>
            <Facts
              facts={[
                ['State', status],
                ['Created', <Time key="created" at={created_at} />],
                ['Delivered', <Time key="delivered" at={delivered_at} />],
                ['Next try', <Ago key="next" at={next_attempt_at} />],
              ]}
            />
            {attempt_log.length > 0 && (
              <Table
                label="Attempts"
                rows={attempt_log}
                rowKey={({ at }) => at}
                columns={[
                  { id: 'at', title: 'Time', cell: ({ at }) => <Time at={at} /> },
                  {
                    id: 'status',
                    title: 'Answer',
                    cell: ({ status }) => (status === null ? 'none' : <HttpStatus status={status} />),
                  },
                  {
                    id: 'took',
                    title: 'Took',
                    numeric: true,
                    cell: ({ duration_ms }) => ms(duration_ms),
                  },
                  { id: 'error', title: 'Error', cell: ({ error }) => error ?? '—' },
                ]}
              />
            )}
            {upcoming.length > 0 && (
              <section>
                <h3>Tries to come</h3>
                <ol class="stack-tight">
                  {upcoming.map((at) => (
                    <li key={at}>
                      <Time at={at} />{' '}
                      <span class="quiet">
                        <Ago at={at} />
                      </span>
                    </li>
                  ))}
                </ol>
                <p class="hint">The first that is answered with 2xx ends the schedule.</p>
              </section>
            )}
            {envelope === null ? (
              <p class="quiet">The event is no longer stored.</p>
            ) : (
              <pre>{JSON.stringify(envelope, null, 2)}</pre>
            )}
          </>
        )}
      </Loading>
    </Peek>
  )
}

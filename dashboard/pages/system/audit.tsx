import { useState } from 'preact/hooks'
import { answerOf, api } from '../../api/client.ts'
import { download } from '../../api/download.ts'
import { useGet } from '../../api/query.ts'
import { query as address, setQuery } from '../../app/location.ts'
import { may } from '../../app/session/me.ts'
import { Button } from '../../ui/button.tsx'
import { AddressNote } from '../../ui/notes/address-note.tsx'
import { Empty, Facts, Loading, Panel, Peek } from '../../ui/page.tsx'
import { Status } from '../../ui/status.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/text.tsx'

interface Verdict {
  ok: boolean
  from_seq: number | null
  to_seq: number | null
  first_bad_seq: number | null
}

const DAY_MS = 86_400_000

export function Audit() {
  const action = address.value.get('action') ?? ''
  const actor = address.value.get('actor') ?? ''
  const since = dayOf('since')
  const until = dayOf('until')
  const cursor = address.value.get('cursor')
  const open = Number(address.value.get('open'))
  const audit = useGet('/api/audit', {
    query: {
      limit: 50,
      ...(action !== '' && { action }),
      ...(actor !== '' && { actor }),
      ...(since !== '' && { since: `${since}T00:00:00Z` }),
      // The day itself is included.
      ...(until !== '' && { until: new Date(Date.parse(`${until}T00:00:00Z`) + DAY_MS).toISOString() }),
      ...(cursor !== null && { cursor }),
    },
  })
  const attention = useGet('/api/attention')
  const broken = attention.data?.data.find(({ kind }) => kind === 'audit_broken')
  const [verdict, setVerdict] = useState<Verdict | null>(null)
  return (
    <Loading of={audit}>
      {({ data, next_cursor }) => {
        const shown = data.find(({ seq }) => seq === open)
        return (
          <div class={shown === undefined ? 'with-peek' : 'with-peek open'}>
            <AddressNote name="open" shown={shown?.seq} />
            <AddressNote name="since" shown={since} />
            <AddressNote name="until" shown={until} />
            <Panel
              title="Audit log"
              actions={
                <>
                  {verdict === null && broken !== undefined && <Status tone="failed">{broken.title}</Status>}
                  {verdict !== null &&
                    (verdict.ok ? (
                      <Status tone="ok">{`the chain is whole up to entry ${verdict.to_seq ?? 0}`}</Status>
                    ) : (
                      <Status tone="failed">{`entry ${verdict.first_bad_seq} was changed`}</Status>
                    ))}
                  {may('system') && (
                    <>
                      <Button onClick={async () => setVerdict(await answerOf(api.GET('/api/audit/verify')))}>Verify</Button>
                      <Button
                        title="The first 5,000 entries as JSON lines, oldest first"
                        onClick={() => download('/api/audit/export?after_seq=0&limit=5000', 'audit.jsonl')}
                      >
                        Export
                      </Button>
                    </>
                  )}
                </>
              }
            >
              <div class="filter audit-filter">
                <input
                  class="filter-input"
                  type="search"
                  data-filter
                  aria-label="Action"
                  placeholder="action, such as key.create"
                  value={action}
                  onInput={(event) => setQuery({ action: event.currentTarget.value, cursor: null })}
                />
                <Day label="From this day, UTC" value={since} onDay={(day) => setQuery({ since: day, cursor: null })} />
                <Day label="To this day, UTC" value={until} onDay={(day) => setQuery({ until: day, cursor: null })} />
                <input
                  class="filter-input"
                  type="search"
                  aria-label="Actor"
                  placeholder="actor"
                  value={actor}
                  onInput={(event) => setQuery({ actor: event.currentTarget.value, cursor: null })}
                />
              </div>
              {data.length === 0 ? (
                <Empty title="No entry fits" />
              ) : (
                <Table
                  label="Audit log"
                  rows={data}
                  rowKey={({ seq }) => seq}
                  selected={open}
                  onOpen={({ seq }) => setQuery({ open: seq === open ? null : String(seq) })}
                  columns={[
                    { id: 'seq', title: '#', wide: true, cell: ({ seq }) => seq },
                    { id: 'at', title: 'Time', cell: ({ at }) => <Time at={at} /> },
                    { id: 'actor', title: 'Who', breaks: true, cell: ({ actor }) => actor },
                    { id: 'action', title: 'Did', breaks: true, cell: ({ action }) => action },
                    { id: 'target', title: 'To', breaks: true, cell: ({ target }) => target ?? '—' },
                    { id: 'ip', title: 'From', wide: true, cell: ({ ip }) => ip ?? '—' },
                  ]}
                />
              )}
              <div class="actions">
                {cursor !== null && <Button onClick={() => setQuery({ cursor: null })}>Newest</Button>}
                {next_cursor !== null && <Button onClick={() => setQuery({ cursor: next_cursor })}>Older</Button>}
              </div>
            </Panel>
            {shown !== undefined && (
              <Peek title={`Entry ${shown.seq}`} onClose={() => setQuery({ open: null })}>
                <Facts
                  facts={[
                    ['Time', <Time key="at" at={shown.at} />],
                    ['Who', shown.actor],
                    ['Did', shown.action],
                    ['To', shown.target ?? '—'],
                    ['From', shown.ip ?? '—'],
                    ['Hash', <code key="hash">{shown.hash}</code>],
                  ]}
                />
                <pre>{JSON.stringify(shown.details, null, 2)}</pre>
              </Peek>
            )}
          </div>
        )
      }}
    </Loading>
  )
}

/** A day of the address, as a date field writes it; '' for anything else. */
function dayOf(name: string): string {
  const text = address.value.get(name) ?? ''
  return /^\d{4}-\d\d-\d\d$/.test(text) && Number.isFinite(Date.parse(`${text}T00:00:00Z`)) ? text : ''
}

function Day({ label, value, onDay }: { label: string; value: string; onDay(day: string): void }) {
  return (
    <label class="filter-day">
      {label}
      <input class="filter-input" type="date" value={value} onChange={(event) => onDay(event.currentTarget.value)} />
    </label>
  )
}

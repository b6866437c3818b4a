import { useMemo, useRef, useState } from 'preact/hooks'
import { FILTER_WORDS, mayBeShared, parseFilter } from '../../../core/text/log-filter.ts'
import { liveState } from '../../api/live.ts'
import { useGet } from '../../api/query.ts'
import { compact, ms, UNKNOWN } from '../../app/format.ts'
import { useKeys } from '../../app/keys.tsx'
import { query as address, go, setQuery } from '../../app/location.ts'
import type { PageProps } from '../../app/pages.ts'
import { AddressNote } from '../../ui/address-note.tsx'
import { Button } from '../../ui/button.tsx'
import { FirstRequest } from '../../ui/first-request.tsx'
import { Empty, Notice, Page, Peek } from '../../ui/page.tsx'
import { HttpStatus } from '../../ui/status.tsx'
import type { Column } from '../../ui/table.tsx'
import { Money, Time } from '../../ui/text.tsx'
import { VirtualTable } from '../../ui/virtual-table.tsx'
import { Errors } from './errors.tsx'
import { RequestDetails } from './request-details.tsx'
import { type Row, useRows } from './rows.ts'
import { Running } from './running.tsx'

const RANGES = { '1h': 3_600_000, '24h': 86_400_000, '7d': 604_800_000 } as const
type Range = keyof typeof RANGES | 'all'

export default function Requests({ rest }: PageProps) {
  if (rest !== '')
    return (
      <Page
        title="Request"
        actions={
          <a href="/requests" onClick={(event) => (event.preventDefault(), go('/requests'))}>
            All requests
          </a>
        }
      >
        <section class="panel request-page">
          <RequestDetails id={rest} />
        </section>
      </Page>
    )
  return <RequestList />
}

function RequestList() {
  const keys = useGet('/api/keys')
  const keyIds = useMemo(() => new Map((keys.data?.data ?? []).map(({ id, label }) => [label, id])), [keys.data])
  // A secret that was pasted stays here and never reaches the address.
  const [unshared, setUnshared] = useState<string | null>(null)
  const text = unshared ?? address.value.get('filter') ?? ''
  const live = address.value.get('mode') !== 'paused'
  const given = address.value.get('range') ?? 'all'
  const range: Range = Object.hasOwn(RANGES, given) ? (given as Range) : 'all'
  const { query, problems } = useMemo(() => parseFilter(text, keyIds), [text, keyIds])
  const since = useMemo(() => (range === 'all' ? null : new Date(Date.now() - RANGES[range]).toISOString()), [range])
  const list = useRef<HTMLDivElement>(null)
  const atTop = (): boolean => (list.current?.querySelector('.list-body')?.scrollTop ?? 0) < 8
  const found = useRows(since === null ? query : { ...query, since }, live, atTop)
  const open = address.value.get('open')
  const place = found.rows.findIndex(({ request_id }) => request_id === open)
  const step = (by: number): void => {
    const row = found.rows[Math.max(0, Math.min(found.rows.length - 1, place + by))]
    if (row !== undefined) setQuery({ open: row.request_id })
  }
  useKeys([
    { keys: 'j', what: 'Next request', run: () => step(1) },
    { keys: 'k', what: 'Request before', run: () => step(place === -1 ? 1 : -1) },
    { keys: 'o', what: 'Open the request on its own page', run: () => open !== null && go(`/requests/${open}`) },
    { keys: ' ', what: 'Pause or go on', run: () => setQuery({ mode: live ? 'paused' : null }) },
    { keys: 'Escape', what: 'Close the request', run: () => setQuery({ open: null }) },
  ])
  const filter = (value: string): void => {
    const shared = mayBeShared(value)
    setUnshared(shared ? null : value)
    setQuery({ filter: shared ? value : null })
  }
  return (
    <Page
      title="Requests"
      actions={
        <>
          <LiveMark live={live} />
          <Button pressed={!live} onClick={() => setQuery({ mode: live ? 'paused' : null })} title="Space">
            {live ? 'Pause' : 'Go live'}
          </Button>
        </>
      }
    >
      <div class="filter">
        <input
          type="search"
          class="filter-input"
          data-filter
          aria-label="Filter"
          aria-invalid={problems.length > 0}
          placeholder={`status:5xx model:gpt-4o   or ${FILTER_WORDS.slice(2, 6).join(', ')} …`}
          title={`Filters: ${FILTER_WORDS.join(', ')}; other words search ids and error messages`}
          spellcheck={false}
          value={text}
          onInput={(event) => filter(event.currentTarget.value)}
        />
        <select
          aria-label="Range"
          value={range}
          onChange={(event) => setQuery({ range: event.currentTarget.value === 'all' ? null : event.currentTarget.value })}
        >
          <option value="1h">last hour</option>
          <option value="24h">last 24 hours</option>
          <option value="7d">last 7 days</option>
          <option value="all">all</option>
        </select>
      </div>
      <AddressNote name="range" shown={range} />
      {problems.map((problem) => (
        <Notice key={problem} tone="warning">
          {problem}
        </Notice>
      ))}
      {found.error !== null && <Notice tone="error">{found.error.message}</Notice>}
      {live && <Running />}
      <Errors rows={found.rows} />
      <div class={open === null ? 'with-peek' : 'with-peek open'} ref={list}>
        <div>
          {found.waiting > 0 && (
            <button type="button" class="button waiting-rows" onClick={found.showWaiting}>
              {found.waiting} new above
            </button>
          )}
          {found.missed > 0 && (
            <Notice tone="warning">
              {found.missed} not shown live, because the server’s buffer was full. Reload to read them from the log.
            </Notice>
          )}
          {found.rows.length === 0 && !found.loading ? (
            text === '' && range === 'all' ? (
              <Empty title="No request yet">
                <FirstRequest />
              </Empty>
            ) : (
              <Empty title="No request fits this filter">
                <Button onClick={() => (setUnshared(null), setQuery({ filter: null, range: null }))}>Clear the filter</Button>
              </Empty>
            )
          ) : (
            <VirtualTable
              label="Requests"
              columns={COLUMNS}
              rows={found.rows}
              rowKey={({ request_id }) => request_id}
              selected={open}
              onOpen={({ request_id }) => setQuery({ open: request_id === open ? null : request_id })}
              onEnd={found.older}
              foot={
                <p class="list-foot quiet">{found.loading ? 'Loading …' : found.more ? '' : `${found.rows.length} requests`}</p>
              }
            />
          )}
          <Announcer rows={found.rows.length} />
        </div>
        {open !== null && (
          <Peek
            title={open}
            actions={
              <a
                class="button plain"
                href={`/requests/${open}`}
                aria-label="Open on its own page"
                title="Open on its own page (o)"
              >
                ⤢
              </a>
            }
            onClose={() => setQuery({ open: null })}
          >
            <RequestDetails id={open} known={found.rows[place]} />
          </Peek>
        )}
      </div>
    </Page>
  )
}

function LiveMark({ live }: { live: boolean }) {
  if (!live) return <span class="quiet">❚❚ paused</span>
  const words = {
    live: 'live',
    connecting: 'connecting',
    lost: 'stream lost, trying again',
    off: 'off',
    absent: 'no live stream here',
  } as const
  return <span class={`live-mark ${liveState.value}`}>● {words[liveState.value]}</span>
}

/** Readers of screens hear at most one line in ten seconds. */
function Announcer({ rows }: { rows: number }) {
  const told = useRef({ at: 0, rows: 0, text: '' })
  if (Date.now() - told.current.at > 10_000 && rows !== told.current.rows) {
    told.current = { at: Date.now(), rows, text: `${rows} requests in the list` }
  }
  return (
    <p class="visually-hidden" aria-live="polite">
      {told.current.text}
    </p>
  )
}

const COLUMNS: readonly (Column<Row> & { width: string })[] = [
  { id: 'time', title: 'Time', width: '104px', cell: ({ created_at }) => <Time at={created_at} /> },
  {
    id: 'status',
    title: 'Status',
    width: '68px',
    cell: ({ status, attempts }) => <HttpStatus status={status} attempts={attempts ?? 1} />,
  },
  { id: 'model', title: 'Asked → served', width: 'minmax(140px, 1fr)', cell: (row) => <Route row={row} /> },
  {
    id: 'key',
    title: 'Key',
    width: '96px',
    wide: true,
    cell: ({ api_key_label, source }) => api_key_label ?? (source === 'api' ? UNKNOWN : source),
  },
  {
    id: 'tries',
    title: 'Tries',
    width: '46px',
    numeric: true,
    wide: true,
    cell: ({ attempts }) => (attempts === null ? '' : attempts),
  },
  {
    id: 'tokens',
    title: 'Tokens',
    width: '92px',
    numeric: true,
    wide: true,
    cell: ({ tokens }) => `${compact(tokens.prompt)} + ${compact(tokens.completion)}`,
  },
  { id: 'ttft', title: 'First token', width: '80px', numeric: true, wide: true, cell: ({ ttft_ms }) => ms(ttft_ms) },
  { id: 'latency', title: 'Took', width: '72px', numeric: true, cell: ({ latency_ms }) => ms(latency_ms) },
  {
    id: 'cost',
    title: 'Cost',
    width: '84px',
    numeric: true,
    cell: ({ cost_usd, cached }) => (cached ? <span title="From the cache">cached</span> : <Money usd={cost_usd} />),
  },
]

function Route({ row }: { row: Row }) {
  const served = row.provider === null ? null : `${row.provider}/${row.model}`
  const asked = row.requested_model ?? row.virtual_model
  return (
    <span class="clip" title={`${asked ?? ''} → ${served ?? 'no upstream'}`}>
      {asked !== null && asked !== served && asked !== row.model && <>{asked} → </>}
      {served ?? <span class="quiet">no upstream</span>}
    </span>
  )
}

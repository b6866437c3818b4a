// The list of requests: history from the log, and on top of it what ends while the page is open.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { mayBeShared, parseFilter } from '../../../core/text/log-filter.ts'
import { liveState } from '../../api/live.ts'
import { useGet } from '../../api/query.ts'
import { count } from '../../app/format.ts'
import { query as address, go, href, setQuery } from '../../app/location.ts'
import { useKeys } from '../../app/palette/keys.tsx'
import { Button } from '../../ui/button.tsx'
import { copyText } from '../../ui/copy-text.ts'
import { AddressNote } from '../../ui/notes/address-note.tsx'
import { ThisReplica } from '../../ui/notes/this-replica.tsx'
import { Empty, Notice, Page, Peek } from '../../ui/page.tsx'
import { FirstRequest } from '../../ui/rows/first-request.tsx'
import { VirtualTable } from '../../ui/virtual-table.tsx'
import { chosenColumns, idsOf } from './columns.tsx'
import { Errors } from './errors.tsx'
import { Histogram } from './histogram.tsx'
import { remember } from './neighbours.ts'
import { fix, useRange } from './range.ts'
import { RequestDetails } from './request-details.tsx'
import { type Rows, useRows } from './rows.ts'
import { Running } from './running.tsx'
import { Toolbar } from './toolbar.tsx'

export function RequestList() {
  const keys = useGet('/api/keys')
  // A secret that was pasted stays here and never reaches the address.
  const [unshared, setUnshared] = useState<string | null>(null)
  const text = unshared ?? address.value.get('filter') ?? ''
  // Of more keys than one page has, the one that the filter names is looked up.
  const label = /(?:^|\s)key:(?:"([^"]+)"|([^\s,]+))/.exec(text)?.slice(1).find(Boolean)
  const named = useGet(label !== undefined && keys.data?.next_cursor != null ? '/api/keys' : null, { query: { q: label } })
  const keyIds = useMemo(
    () => new Map([...(keys.data?.data ?? []), ...(named.data?.data ?? [])].map((key) => [key.label, key.id])),
    [keys.data, named.data],
  )
  const range = useRange()
  // What ends now lies behind a range that has ended.
  const ended = range.until !== null
  const live = address.value.get('mode') !== 'paused' && !ended
  const { query, problems } = useMemo(() => parseFilter(text, keyIds), [text, keyIds])
  const asked = {
    ...query,
    ...(range.since !== null && { since: range.since }),
    ...(range.until !== null && { until: range.until }),
  }
  const list = useRef<HTMLDivElement>(null)
  const atTop = (): boolean => (list.current?.querySelector('.list-body')?.scrollTop ?? 0) < 8
  const found = useRows(asked, live, atTop)
  const open = address.value.get('open')
  const place = found.rows.findIndex(({ request_id }) => request_id === open)
  const columns = chosenColumns()
  useEffect(() => remember(found.rows.map(({ request_id }) => request_id)), [found.rows])
  const step = (by: number): void => {
    const row = found.rows[Math.max(0, Math.min(found.rows.length - 1, place + by))]
    if (row !== undefined) setQuery({ open: row.request_id })
  }
  const before = (): void => step(place === -1 ? 1 : -1)
  const pause = (): void => setQuery({ mode: live ? 'paused' : null })
  useKeys([
    { keys: 'j', what: 'Next request', run: () => step(1) },
    { keys: 'k', what: 'Request before', run: before },
    { keys: ']', what: 'Next request', run: () => step(1) },
    { keys: '[', what: 'Request before', run: before },
    { keys: 'o', what: 'Open the request on its own page', run: () => open !== null && go(`/requests/${open}`) },
    { keys: ' ', what: 'Pause or go on', run: pause },
    {
      keys: 'Y',
      what: 'Copy a link with absolute times',
      run: () => {
        if (!ended) fix(range)
        void copyText(location.href)
      },
    },
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
        ended ? (
          <span class="quiet">history</span>
        ) : (
          <>
            {live && <ThisReplica />}
            <LiveMark live={live} />
            <Button pressed={!live} onClick={pause} title="Space">
              {live ? 'Pause' : 'Go live'}
            </Button>
          </>
        )
      }
    >
      <Toolbar text={text} wrong={problems.length > 0} onText={filter} range={range} query={asked} />
      <AddressNote name="range" shown={range.name} />
      <AddressNote name="since" shown={range.since} />
      <AddressNote name="until" shown={range.until} />
      <AddressNote name="columns" shown={idsOf(columns)} />
      {problems.map((problem) => (
        <Notice key={problem} tone="warning">
          {problem}
        </Notice>
      ))}
      {found.error !== null && <Notice tone="error">{found.error.message}</Notice>}
      <Histogram range={range} />
      {live && <Running />}
      <Errors rows={found.rows} />
      <div class={open === null ? 'with-peek' : 'with-peek open'} ref={list}>
        <div>
          <NotShown found={found} />
          {found.rows.length === 0 && !found.loading ? (
            text === '' && range.name === 'all' ? (
              <Empty title="No request yet">
                <FirstRequest />
              </Empty>
            ) : (
              <Empty title="No request fits this filter">
                <Button onClick={() => (setUnshared(null), setQuery({ filter: null, range: null, since: null, until: null }))}>
                  Clear the filter
                </Button>
              </Empty>
            )
          ) : (
            <VirtualTable
              label="Requests"
              columns={columns}
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
          <Announcer rows={found.rows.length} failed={found.rows.filter(({ status }) => status >= 400).length} />
        </div>
        {open !== null && (
          <Peek
            title={open}
            actions={
              <a
                class="button plain"
                href={href(`/requests/${open}`)}
                aria-label="Open on its own page"
                title="Open on its own page (o)"
              >
                ⤢
              </a>
            }
            onClose={() => setQuery({ open: null })}
          >
            <RequestDetails key={open} id={open} known={found.rows[place]} />
          </Peek>
        )}
      </div>
    </Page>
  )
}

/** Rows that came and are not in the list, and why. */
function NotShown({ found }: { found: Rows }) {
  return (
    <>
      {found.waiting > 0 && (
        <button type="button" class="button waiting-rows" onClick={found.showWaiting}>
          {found.waiting} new above
        </button>
      )}
      {(found.oneOf !== null || found.passed > 0) && (
        <Notice tone="warning">
          {found.oneOf === null ? 'Requests came' : `The list shows 1 of ${found.oneOf} requests: they come`} faster than a list
          can be read. {count(found.passed)} are not in it. <Button onClick={found.reload}>Read them from the log</Button>
        </Notice>
      )}
      {found.missed > 0 && (
        <Notice tone="warning">
          {count(found.missed)} not shown live, because the server’s buffer was full.{' '}
          <Button onClick={found.reload}>Read them from the log</Button>
        </Notice>
      )}
    </>
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
function Announcer({ rows, failed }: { rows: number; failed: number }) {
  const told = useRef({ at: 0, rows: 0, text: '' })
  if (Date.now() - told.current.at > 10_000 && rows !== told.current.rows) {
    const fresh = told.current.at === 0 ? 0 : rows - told.current.rows
    told.current = {
      at: Date.now(),
      rows,
      text: fresh > 0 ? `${fresh} new requests, ${failed} failed in the list` : `${rows} requests in the list, ${failed} failed`,
    }
  }
  return (
    <p class="visually-hidden" aria-live="polite">
      {told.current.text}
    </p>
  )
}

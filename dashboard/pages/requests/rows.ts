// The rows of the list: history from the log, and live events on top of it.
import { useEffect, useRef, useState } from 'preact/hooks'
import { answerOf, api } from '../../api/client.ts'
import { ApiError } from '../../api/error.ts'
import { type LiveEvent, listen } from '../../api/live.ts'
import type { Got } from '../../api/query.ts'
import { matches } from './filter.ts'
import { thinner } from './thin.ts'

export type LogRow = Got<'/api/logs'>['data'][number]
/** A log row, or a live event whose log row is not read yet. */
export type Row = Pick<
  LogRow,
  | 'request_id'
  | 'created_at'
  | 'source'
  | 'provider'
  | 'model'
  | 'virtual_model'
  | 'api_key_label'
  | 'status'
  | 'latency_ms'
  | 'cost_usd'
  | 'cached'
  | 'stream'
> & {
  requested_model: string | null
  ttft_ms: number | null
  tokens: { prompt: number; completion: number }
  attempts: number
  error_code: string | null
}

const KEPT = 10_000
const PAGE = 100
/** Between reads of the log for events that only the log can judge. The log has a row some hundred milliseconds after its event. */
const LOOK_MS = 2000
/** Between changes of the list: each draws the page anew, and nobody reads sixty lists a second. */
const PLACE_MS = 100
/** More rows a second cannot be read. */
const ROWS_PER_SECOND = 200

export interface Rows {
  readonly rows: readonly Row[]
  /** New rows that wait above the list while the reader has scrolled down. */
  readonly waiting: number
  /** Events that the server could not deliver. */
  readonly missed: number
  /** The list shows one of so many events; null: all. */
  readonly oneOf: number | null
  /** Events that came and are not in the list for this reason. */
  readonly passed: number
  readonly loading: boolean
  readonly error: ApiError | null
  readonly more: boolean
  older(): void
  showWaiting(): void
  /** Reads the list anew from the log. */
  reload(): void
}

export function useRows(query: Readonly<Record<string, string>>, live: boolean, atTop: () => boolean): Rows {
  const [rows, setRows] = useState<readonly Row[]>([])
  const [cursor, setCursor] = useState<string | null>(null)
  const [loading, setLoading] = useState(true)
  const [error, setError] = useState<ApiError | null>(null)
  const [waiting, setWaiting] = useState<readonly Row[]>([])
  const [missed, setMissed] = useState(0)
  const [thinned, setThinned] = useState({ oneOf: 1, passed: 0 })
  const key = JSON.stringify(query)
  const asked = useRef('')
  const shown = useRef(rows)
  shown.current = rows
  /** Live rows that came while the first page is read; null: it is not read now. */
  const arrived = useRef<readonly Row[] | null>(null)

  const place = (fresh: readonly Row[]): void => {
    if (arrived.current !== null) arrived.current = [...fresh, ...arrived.current]
    if (atTop()) setRows((before) => merged(fresh, before).slice(0, KEPT))
    else setWaiting((before) => merged(fresh, before).slice(0, KEPT))
  }

  const pageAfter = (after: string | null) =>
    answerOf(
      api.GET('/api/logs', {
        params: { query: { ...query, limit: String(PAGE), ...(after !== null && { cursor: after }) } as never },
      }),
    )

  const load = async (after: string | null): Promise<void> => {
    asked.current = key
    if (after === null) arrived.current = []
    setLoading(true)
    try {
      const page = await pageAfter(after)
      if (asked.current !== key) return
      const live = arrived.current ?? []
      setRows((before) => (after === null ? withLive(live, page.data) : merged(before, page.data)))
      setCursor(page.next_cursor)
      setError(null)
    } catch (thrown) {
      if (asked.current === key) setError(ApiError.unreachable(thrown))
    } finally {
      if (asked.current === key) {
        setLoading(false)
        arrived.current = null
      }
    }
  }

  /** Adds what came while the stream was away, for the server keeps only the last events. More than a page: starts anew. */
  const catchUp = async (): Promise<void> => {
    const page = await pageAfter(null).catch(() => null)
    if (page === null || asked.current !== key) return
    const known = new Set(shown.current.map(({ request_id }) => request_id))
    const fresh = page.data.filter(({ request_id }) => !known.has(request_id))
    if (fresh.length < page.data.length) place(fresh)
    else void load(null)
  }

  const reload = (): void => {
    setMissed(0)
    setThinned({ oneOf: 1, passed: 0 })
    void load(null)
  }

  useEffect(() => {
    setWaiting([])
    reload()
  }, [key])

  useEffect(() => {
    if (!live) return
    let batch: Row[] = []
    let frame = 0
    let pace: ReturnType<typeof setTimeout> | undefined
    let passed = 0
    const thin = thinner(ROWS_PER_SECOND)
    let lost = false
    let look: ReturnType<typeof setTimeout> | undefined
    const lookSoon = (): void => {
      look ??= setTimeout(() => {
        look = undefined
        void catchUp()
      }, LOOK_MS)
    }
    const flush = (): void => {
      frame = 0
      pace = setTimeout(() => {
        pace = undefined
        if (batch.length + passed > 0) frame = requestAnimationFrame(flush)
      }, PLACE_MS)
      const fresh = batch.reverse()
      batch = []
      place(fresh)
      setThinned((before) =>
        passed === 0 && before.oneOf === thin.every ? before : { oneOf: thin.every, passed: before.passed + passed },
      )
      passed = 0
    }
    const stop = listen((message) => {
      if (message.kind === 'missed') setMissed((before) => before + message.missed)
      if (message.kind === 'down') lost = true
      if (message.kind === 'up' && lost) {
        lost = false
        void catchUp()
      }
      if (message.kind !== 'request') return
      const fits = matches(message.event, query)
      if (fits === 'unknown') lookSoon()
      if (fits !== true) return
      if (thin.shows(Date.now())) batch.push(rowOf(message.event))
      else passed++
      // The first event is drawn in the next frame; those that follow soon are drawn together.
      if (pace === undefined) frame ||= requestAnimationFrame(flush)
    })
    return () => {
      stop()
      clearTimeout(look)
      cancelAnimationFrame(frame)
      if (batch.length > 0) flush()
      clearTimeout(pace)
    }
  }, [key, live])

  return {
    rows,
    waiting: waiting.length,
    missed,
    oneOf: thinned.oneOf > 1 ? thinned.oneOf : null,
    passed: thinned.passed,
    loading,
    error,
    more: cursor !== null,
    older() {
      if (!loading && cursor !== null && rows.length < KEPT) void load(cursor)
    },
    showWaiting() {
      setRows((before) => merged(waiting, before).slice(0, KEPT))
      setWaiting([])
    },
    reload,
  }
}

/** Puts live rows that the page of the log does not have before it. */
function withLive(live: readonly Row[], page: readonly Row[]): readonly Row[] {
  const known = new Set(page.map(({ request_id }) => request_id))
  return [...live.filter(({ request_id }) => !known.has(request_id)), ...page]
}

/** Puts rows before others and leaves out those that are there already; the first one wins. */
function merged(first: readonly Row[], second: readonly Row[]): readonly Row[] {
  const known = new Set(first.map(({ request_id }) => request_id))
  return [...first, ...second.filter(({ request_id }) => !known.has(request_id))]
}

function rowOf(event: LiveEvent): Row {
  return {
    request_id: event.request_id,
    // The log has the arrival.
    created_at: new Date(Date.parse(event.occurred_at) - event.latency_ms).toISOString(),
    source: event.source,
    provider: event.provider,
    model: event.model,
    virtual_model: event.virtual_model,
    api_key_label: event.api_key_label,
    status: event.status,
    latency_ms: event.latency_ms,
    cost_usd: event.cost.cost_usd,
    cached: event.cached,
    stream: event.stream,
    requested_model: event.requested_model,
    ttft_ms: event.ttft_ms,
    tokens: event.tokens,
    attempts: event.attempts,
    error_code: null,
  }
}

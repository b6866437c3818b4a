// Follows new rows: reads the log once per second. This shows rows of every process with the API's filters, and needs no server token. A
// row is sorted by the start of its request but is written at its end, so each poll also reads older rows.
import { setTimeout as sleep } from 'node:timers/promises'
import type { LogRow, Page } from './row.ts'

const LOOK_MS = 1000
/** Number of newest rows per poll. A request that ends after this many newer ones is not shown. */
const PAGE = '200'
/** When a page contains only new rows, the next page is read too, up to this number. */
const MOST_PAGES = 10
/** Number of ids that are remembered. */
const REMEMBERED = 10_000

export interface Following {
  read(query: Record<string, string>): Promise<Page>
  /** Number of existing rows to show first. */
  readonly first: number
  show(row: LogRow): Promise<void>
  /** Called when more rows came at once than are read. @param since time of the oldest row that is shown */
  missed(since: string): void
}

/** Resolves on an interrupt, or when the output is closed. */
export async function follow({ read, first, show, missed }: Following): Promise<void> {
  const known = new Set<string>()
  const stopped = new AbortController()
  const stop = () => stopped.abort()
  process.once('SIGINT', stop).once('SIGTERM', stop)
  // The reader of a pipe such as `| head` has closed it.
  process.stdout.once('error', stop)
  try {
    const { data } = await read({ limit: PAGE })
    for (const { request_id } of data) known.add(request_id)
    for (const row of data.slice(0, first).reverse()) await show(row)
    while (!stopped.signal.aborted) {
      await sleep(LOOK_MS, undefined, { signal: stopped.signal }).catch(() => {})
      if (!stopped.signal.aborted) for (const row of await fresh()) await show(row)
    }
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop)
    process.stdout.off('error', stop)
  }

  /** Returns new rows in the order of their start. */
  async function fresh(): Promise<LogRow[]> {
    const rows: LogRow[] = []
    let cursor: string | null = null
    for (let pages = 0; pages < MOST_PAGES; pages++) {
      const page: Page = await read({ limit: PAGE, ...(cursor === null ? {} : { cursor }) })
      const news = page.data.filter(({ request_id }) => !known.has(request_id))
      for (const { request_id } of news) known.add(request_id)
      rows.push(...news)
      cursor = page.next_cursor
      if (news.length < page.data.length) cursor = null
      if (cursor === null) break
    }
    const oldest = rows.at(-1)
    if (cursor !== null && oldest !== undefined) missed(oldest.created_at)
    for (const id of known) {
      if (known.size <= REMEMBERED) break
      known.delete(id)
    }
    return rows.reverse()
  }
}

// Rows that come, read from the log once a second: so they show whichever process wrote them, filtered as the API filters, and
// no token of a server is needed. A row stands at the time its request began and comes when that ends, so each look goes back.
import { setTimeout as sleep } from 'node:timers/promises'
import type { LogRow, Page } from './row.ts'

const LOOK_MS = 1000
/** Number of newest rows per poll. A request that ends after this many newer ones is not shown. */
const PAGE = '200'
/** With a page full of new ones, the one behind it is looked at too. */
const MOST_PAGES = 10
/** Ids that are remembered. */
const REMEMBERED = 10_000

export interface Following {
  read(query: Record<string, string>): Promise<Page>
  /** How many of those that are there are shown. */
  readonly first: number
  show(row: LogRow): void
}

/** Resolves on an interrupt, or when the output is closed. */
export async function follow({ read, first, show }: Following): Promise<void> {
  const known = new Set<string>()
  const stopped = new AbortController()
  const stop = () => stopped.abort()
  process.once('SIGINT', stop).once('SIGTERM', stop)
  // `| head` has had enough.
  process.stdout.once('error', stop)
  try {
    const { data } = await read({ limit: PAGE })
    for (const { request_id } of data) known.add(request_id)
    for (const row of data.slice(0, first).reverse()) show(row)
    while (!stopped.signal.aborted) {
      await sleep(LOOK_MS, undefined, { signal: stopped.signal }).catch(() => {})
      if (!stopped.signal.aborted) for (const row of await fresh()) show(row)
    }
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop)
    process.stdout.off('error', stop)
  }

  /** In the order in which they began. */
  async function fresh(): Promise<LogRow[]> {
    const rows: LogRow[] = []
    let cursor: string | null = null
    for (let pages = 0; pages < MOST_PAGES; pages++) {
      const page: Page = await read({ limit: PAGE, ...(cursor === null ? {} : { cursor }) })
      const news = page.data.filter(({ request_id }) => !known.has(request_id))
      for (const { request_id } of news) known.add(request_id)
      rows.push(...news)
      cursor = page.next_cursor
      if (cursor === null || news.length < page.data.length) break
    }
    for (const id of known) {
      if (known.size <= REMEMBERED) break
      known.delete(id)
    }
    return rows.reverse()
  }
}

// The tables' content in memory. The book is read again only after a run has stored another one.
import type { Db, View } from '../../core/types/db.ts'
import type { PluginGateway } from '../../core/types/plugin.ts'
import type { Book, CardSource } from './book.ts'
import {
  allSources,
  cardRun,
  type DriftRow,
  drifts,
  lastRun,
  openDrifts,
  type RunRow,
  type SourceState,
  storedBook,
} from './store.ts'

export interface Stored {
  readonly book: Book
  /** The run that stored the book; 0: none has. */
  readonly bookRun: number
  readonly sources: ReadonlyMap<CardSource, SourceState>
  readonly lastRun: RunRow | undefined
  /** The newest unreviewed changes, by `provider/model` in lower case. */
  readonly drift: ReadonlyMap<string, readonly DriftRow[]>
  readonly driftOpen: number
}

/** More than these say the same: something is wrong with the source. */
const MAX_DRIFT = 5000

export function storedView(gateway: PluginGateway): Promise<View<Stored>> {
  let book: Book = new Map()
  let bookRun = -1
  return gateway.view('card', async (db: Db): Promise<Stored> => {
    const run = await cardRun(db)
    if (run !== bookRun) {
      book = await storedBook(db)
      bookRun = run
    }
    const sources = await allSources(db)
    const drift = new Map<string, DriftRow[]>()
    for (const row of await drifts(db, { reviewed: false, before: null, limit: MAX_DRIFT })) {
      const key = `${row.provider}/${row.model}`.toLowerCase()
      const rows = drift.get(key)
      if (rows === undefined) drift.set(key, [row])
      else rows.push(row)
    }
    return {
      book,
      bookRun: run,
      sources: new Map(sources.map((state) => [state.source, state])),
      lastRun: await lastRun(db),
      drift,
      driftOpen: await openDrifts(db),
    }
  })
}

// Writes entries to the chain: entries that arrive during a transaction share the next one.
import type { Db, TenantWall } from '../../core/types/ports/db.ts'
import type { Entry, Link } from './chain.ts'
import { appendEntries } from './store.ts'

interface Waiting {
  readonly entry: Entry
  resolve(link: Link): void
  reject(error: unknown): void
}

const MAX_BATCH = 50

/** Resolves when the entry is in the chain; rejects when the database does. Entries of one process keep their order. */
export function chainWriter(db: Db, detached: TenantWall['detached'] = (fn) => fn): (entry: Entry) => Promise<Link> {
  const waiting: Waiting[] = []
  let running = false

  const run = async (): Promise<void> => {
    running = true
    while (waiting.length > 0) {
      const batch = waiting.splice(0, MAX_BATCH)
      try {
        const links = await appendEntries(
          db,
          batch.map(({ entry }) => entry),
        )
        for (const [i, { resolve }] of batch.entries()) resolve(links[i] as Link)
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    running = false
  }

  return (entry) =>
    new Promise((resolve, reject) => {
      waiting.push({ entry, resolve, reject })
      // The entries of one transaction may belong to several organizations.
      if (!running) void detached(run)()
    })
}

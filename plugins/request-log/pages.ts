// A page of the log. Matches of a filter may be rare, and SQLite searches on the thread that serves requests. So the log is searched in
// pieces, with requests served in between.
import type { Db } from '../../core/types/db.ts'
import { type LogFilter, ledByIndex, type Place } from './filters.ts'
import { type LogRow, placeBelow, rowsBetween } from './store.ts'

/** A few ms, also where rows have to be fetched for what no index knows. */
const PIECE = 10_000

/** Newest first. */
export async function newestRows(db: Db, orgId: number | null, filter: LogFilter, limit: number): Promise<LogRow[]> {
  if (db.dialect !== 'sqlite' || !looksFarAndWide(filter)) return rowsBetween(db, orgId, filter, limit)
  const found: LogRow[] = []
  let below = startOf(filter)
  for (;;) {
    const end = await placeBelow(db, orgId, { ...whoseOf(filter), cursor: below }, PIECE)
    found.push(...(await rowsBetween(db, orgId, { ...filter, cursor: below }, limit - found.length, end)))
    if (found.length >= limit || end === undefined || end[0] < (filter.since ?? 0)) return found
    below = end
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
}

/** Neither a plain page, nor one that an index leads to. */
function looksFarAndWide({ cursor: _cursor, since: _since, until: _until, ...asked }: LogFilter): boolean {
  return Object.values(asked).some((value) => value !== undefined) && !ledByIndex(asked)
}

/** Their own rows are all that is looked at: pieces of theirs, not of the log. A session has fewer than a user. */
function whoseOf({ session_id, user_id }: LogFilter): Pick<LogFilter, 'session_id' | 'user_id'> {
  if (session_id?.length === 1) return { session_id }
  return user_id?.length === 1 ? { user_id } : {}
}

/** Rows above this place cannot match. */
function startOf({ cursor, until }: LogFilter): Place | undefined {
  if (until === undefined || (cursor && cursor[0] < until)) return cursor ?? undefined
  return [until, 0]
}

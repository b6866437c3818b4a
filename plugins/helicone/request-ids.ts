// Claims the ids that callers give their requests: each is accepted once across processes, for as long as a record may contain it.
import { sql } from '../../core/db/sql.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { Migration } from '../../core/types/ports/db.ts'
import type { HeaderBag } from '../../core/types/ports/ports.ts'

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000
const BATCH = 1000
/** Records are removed at intervals, so they may live some days longer. */
const SLACK_DAYS = 7

export const migrations: Migration[] = [
  {
    id: '001-request-ids',
    up: `
      CREATE TABLE helicone_request_ids (
        request_id TEXT NOT NULL PRIMARY KEY,
        at {{int}} NOT NULL
      );
      CREATE INDEX helicone_request_ids_at ON helicone_request_ids (at);
    `,
  },
]

/** Returns the id in lower case. null: there is none, or it is not a UUID. */
export function requestIdIn(headers: HeaderBag): string | null {
  const id = headers.get('helicone-request-id')?.trim()
  return id !== undefined && UUID.test(id) ? id.toLowerCase() : null
}

/** Returns false for a used id, and while the database is unavailable: then the request keeps the gateway's own id. */
export function claimRequestId({ db, clock, log }: Pick<PluginGateway, 'db' | 'clock' | 'log'>, id: string): Promise<boolean> {
  const claim = sql`INSERT INTO helicone_request_ids (request_id, at) VALUES (${id}, ${clock.now()}) ON CONFLICT DO NOTHING`
  return db.run(claim).then(
    ({ changes }) => changes === 1,
    (error: unknown) => {
      log.warn('helicone.request_id_unclaimed', { error: String(error) })
      return false
    },
  )
}

/** @param days retention of each kind of record; 0 and below: unlimited, for the ids too. */
export function forgetRequestIds({ db, clock, every }: PluginGateway, days: readonly number[]): void {
  if (days.some((each) => each <= 0)) return
  const kept = (Math.max(...days) + SLACK_DAYS) * DAY_MS
  every('request-ids', HOUR_MS, async (signal) => {
    const before = clock.now() - kept
    let changes = BATCH
    while (changes === BATCH && !signal.aborted)
      ({ changes } = await db.run(
        sql`DELETE FROM helicone_request_ids WHERE request_id IN
              (SELECT request_id FROM helicone_request_ids WHERE at < ${before} ORDER BY at LIMIT ${BATCH})`,
      ))
  })
}

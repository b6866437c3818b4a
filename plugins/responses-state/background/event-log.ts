// Events of background runs as rows, so that every process can follow a run and go on after a broken connection. A row holds the events of a
// short time, sealed.
import { z } from 'zod'
import { sql } from '../../../core/db/sql.ts'
import type { PluginGateway } from '../../../core/types/plugin/plugin.ts'

export interface LoggedEvent {
  readonly type: string
  /** JSON without line breaks. */
  readonly data: string
}

/** Consecutive events. */
export interface EventBatch {
  /** Number of the first one. */
  readonly first: number
  readonly events: readonly LoggedEvent[]
}

export interface EventLog {
  /** Does nothing when the run is no longer in progress. */
  append(orgId: number | null, token: string, batch: EventBatch): Promise<void>
  /** Returns the next batches that have events after this number, in their order; the first one may begin before it. */
  after(orgId: number | null, token: string, after: number): Promise<EventBatch[]>
  /** Returns the number of the last event; null: there is none. */
  last(token: string): Promise<number | null>
  remove(token: string): Promise<void>
  /** Deletes the events of runs that are gone. */
  prune(): Promise<void>
}

const BATCHES_AT_ONCE = 50
const row = z.object({ first: z.number(), events_sealed: z.string() })
const shape = z.array(z.tuple([z.string(), z.string()]))

export function eventLog({ db, vault }: Pick<PluginGateway, 'db' | 'vault'>): EventLog {
  const place = (orgId: number | null, token: string, first: number) => ({
    table: 'responses_state_events',
    id: `${token}.${first}`,
    column: 'events',
    orgId,
  })
  return {
    async append(orgId, token, { first, events }) {
      const text = JSON.stringify(events.map(({ type, data }) => [type, data]))
      const sealed = await vault.seal(text, place(orgId, token, first))
      await db.run(sql`INSERT INTO responses_state_events (token, org_id, first, last, events_sealed)
        SELECT ${token}, ${orgId ?? 0}, ${first}, ${first + events.length - 1}, ${sealed}
        WHERE EXISTS (SELECT 1 FROM responses_state_runs WHERE token = ${token} AND status = 'in_progress')`)
    },
    async after(orgId, token, after) {
      const rows = await db.all(
        sql`SELECT first, events_sealed FROM responses_state_events WHERE token = ${token} AND last > ${after}
          ORDER BY first LIMIT ${BATCHES_AT_ONCE}`,
        row,
      )
      return Promise.all(
        rows.map(async ({ first, events_sealed }) => {
          const pairs = shape.parse(JSON.parse(await vault.open(events_sealed, place(orgId, token, first))))
          return { first, events: pairs.map(([type, data]) => ({ type, data })) }
        }),
      )
    },
    async last(token) {
      const found = await db.get<{ last: number | null }>(
        sql`SELECT MAX(last) AS last FROM responses_state_events WHERE token = ${token}`,
      )
      return found?.last ?? null
    },
    async remove(token) {
      await db.run(sql`DELETE FROM responses_state_events WHERE token = ${token}`)
    },
    async prune() {
      await db.run(sql`DELETE FROM responses_state_events WHERE token NOT IN (SELECT token FROM responses_state_runs)`)
    },
  }
}

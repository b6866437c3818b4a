// A long queue is not read through: what is asked for each delivery goes by an index, however many others wait.
import { describe, expect, it } from 'vitest'
import type { Database, Db, Sql } from '../../../core/types/ports/db.ts'
import { claim, dueDeliveries, dueEndpoints, nextDue } from '../../../plugins/webhooks/delivery/store.ts'
import { migrations } from '../../../plugins/webhooks/migrations.ts'
import { ENGINES } from '../../support/engines.ts'
import { watchedDatabase } from '../../support/watched-database.ts'

const [SQLITE] = ENGINES
const NOW = 1_000_000

/** How the engine finds the rows of what `ask` asks. */
async function plansOf(db: Database, ask: (db: Db) => Promise<unknown>): Promise<string[]> {
  const asked: Sql[] = []
  const noted: Db = {
    ...watchedDatabase(db),
    all(query, row) {
      asked.push(query)
      return db.all(query, row)
    },
    get(query, row) {
      asked.push(query)
      return db.get(query, row)
    },
    atomic(statements) {
      asked.push(...statements.map(({ sql }) => sql))
      return db.atomic(statements)
    },
  }
  await ask(noted)
  const plans = await Promise.all(
    asked.map(({ text, params }) => db.all<{ detail: string }>({ text: `EXPLAIN QUERY PLAN ${text}`, params })),
  )
  return plans.flat().map(({ detail }) => detail)
}

const CASES: Record<string, [(db: Db) => Promise<unknown>, RegExp]> = {
  'whose turn it is': [(db) => dueEndpoints(db, NOW), /SEARCH d .*\(endpoint_id=\? AND /],
  'what is due': [(db) => dueDeliveries(db, 'ep_a', NOW), /\(endpoint_id=\? AND next_attempt_at<\?\)/],
  'what will be due': [(db) => nextDue(db, NOW), /\(next_attempt_at>\?\)/],
  'how many are on their way': [
    (db) => claim(db, { id: 'd', endpointId: 'ep_a' }, { owner: 'o', until: NOW + 1 }, NOW),
    /SEARCH flying .*\(endpoint_id=\? AND lease_until>\?\)/,
  ],
}

describe('of deliveries', () => {
  it.each(Object.entries(CASES))('%s', (_name, [ask, found]) =>
    SQLITE?.with('webhooks', migrations, async (db) => {
      const plans = await plansOf(db, ask)
      expect(plans.join('\n')).toMatch(found)
      expect(plans.join('\n')).not.toMatch(/SCAN (?:webhooks_deliveries|d|flying)\b|USE TEMP B-TREE/)
    }))
})

// Data of guardrails in tables, on each engine: the exemption of a key, and notes in the log.
import { describe, expect, it } from 'vitest'
import { NO_FIELDS } from '../../../plugins/keys/fields.ts'
import { migrations as keyMigrations } from '../../../plugins/keys/migrations.ts'
import { insertKey, loadKeys, updateKey } from '../../../plugins/keys/store.ts'
import { detailOf } from '../../../plugins/request-log/fields.ts'
import { migrations as logMigrations } from '../../../plugins/request-log/migrations.ts'
import { logWriter } from '../../../plugins/request-log/queue.ts'
import { rowOf } from '../../../plugins/request-log/store.ts'
import { ENGINES } from '../../support/engines.ts'
import { entry, idOf } from '../request-log/rows.ts'

const NO_BODIES = { request: null, response: null, requestTruncated: false, responseTruncated: false }

describe.each(ENGINES)('on $name', (engine) => {
  it.skipIf(engine.missing !== null)('a key is exempt when it is said, and not otherwise', () =>
    engine.with('keys', keyMigrations, async (db) => {
      const key = (mac: string, more = {}) => ({ ...NO_FIELDS, label: mac, mac, last4: 'abcd', ...more })
      const plain = await insertKey(db, null, key('a'), 1)
      await insertKey(db, null, key('b', { guardrails_exempt: true }), 1)
      const exempt = async () => [...(await loadKeys(db)).values()].map((row) => row.guardrails_exempt)
      expect(await exempt()).toEqual([false, true])
      await updateKey(db, null, plain.id, key('a', { guardrails_exempt: true }), 2)
      expect(await exempt()).toEqual([true, true])
    }),
  )

  it.skipIf(engine.missing !== null)('notes come back where the log shows them', () =>
    engine.with('request-log', logMigrations, async (db) => {
      const found = [{ detector: 'pii', entity: 'email', action: 'redact', direction: 'input', count: 2 }]
      await logWriter(db)([
        entry(1, { notes: { guardrails: found, payload_rules: ['cap'], other: { n: 1 } } }),
        entry(2),
        entry(3, { notes: { other: 'x'.repeat(20_000) } }),
      ])
      const shown = async (n: number) => {
        const row = await rowOf(db, null, idOf(n))
        if (row === undefined) throw new Error(`There is no row ${n}.`)
        const { guardrails, payload_rules, notes } = detailOf(row, NO_BODIES)
        return { guardrails, payload_rules, notes }
      }
      expect(await shown(1)).toEqual({ guardrails: found, payload_rules: ['cap'], notes: { other: { n: 1 } } })
      const nothing = { guardrails: null, payload_rules: null, notes: null }
      expect(await shown(2)).toEqual(nothing)
      expect(await shown(3)).toEqual(nothing)
    }),
  )
})

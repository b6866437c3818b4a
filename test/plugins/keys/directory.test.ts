// Client keys in memory: after changes of single rows they equal a directory that was made of all rows.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { KeyDirectory } from '../../../plugins/keys/directory.ts'
import { NO_FIELDS } from '../../../plugins/keys/fields.ts'
import type { KeyRow } from '../../../plugins/keys/store.ts'

const row = (id: number, fields: { org: number; label: string; secret: string }): KeyRow => ({
  ...NO_FIELDS,
  allowed_models: [],
  id,
  org_id: fields.org,
  label: fields.label,
  mac: fields.secret,
  last4: fields.secret,
  created_at: 1,
  updated_at: 1,
  revoked_at: null,
  managed_by: 'api',
  config_key: null,
  declared: null,
  archived_at: null,
  created_by: null,
})

const LABELS = ['a', 'b']
const ORGS = [0, 1, 2]

describe('the directory of keys', () => {
  it('equals one of all rows, whatever changed, was revoked, rotated or moved, in steps of any size', () => {
    const fields = fc.record({ org: fc.constantFrom(...ORGS), label: fc.constantFrom(...LABELS), rotation: fc.nat(3) })
    const change = fc.record({ id: fc.integer({ min: 1, max: 5 }), fields: fc.option(fields) })
    const steps = fc.array(fc.array(change, { minLength: 1, maxLength: 4 }), { maxLength: 20 })
    fc.assert(
      fc.property(steps, (all) => {
        const rows = new Map<number, KeyRow>()
        const directory = new KeyDirectory(rows)
        for (const changes of all) {
          for (const { id, fields: now } of changes) {
            if (now === null) rows.delete(id)
            else rows.set(id, row(id, { ...now, secret: `s${id}.${now.rotation}` }))
          }
          directory.take(rows, new Set(changes.map(({ id }) => id)))
          const whole = new KeyDirectory(new Map([...rows].sort(([a], [b]) => a - b)))
          expect(shown(directory)).toEqual(shown(whole))
        }
      }),
    )
  })

  it('finds a secret that moved from one row to another in the same change', () => {
    const rows = new Map([[1, row(1, { org: 0, label: 'a', secret: 's' })]])
    const directory = new KeyDirectory(rows)
    rows.delete(1)
    rows.set(2, row(2, { org: 0, label: 'a', secret: 's' }))
    for (const order of [
      [1, 2],
      [2, 1],
    ]) {
      directory.take(rows, new Set(order))
      expect(directory.withMac('s')?.id).toBe(2)
    }
  })
})

function shown(directory: KeyDirectory) {
  const secrets = [1, 2, 3, 4, 5].flatMap((id) => [0, 1, 2, 3].map((rotation) => `s${id}.${rotation}`))
  const orgs = ORGS.map((org) => (org === 0 ? null : org))
  return {
    secrets: secrets.map((secret) => directory.withMac(secret)),
    lists: orgs.map((org) => directory.list(org).sort((a, b) => a.id - b.id)),
    got: orgs.map((org) => [1, 2, 3, 4, 5].map((id) => directory.get(org, id))),
    labels: orgs.map((org) => LABELS.map((label) => directory.labelled(org, label))),
  }
}

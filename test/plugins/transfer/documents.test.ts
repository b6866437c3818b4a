// Documents of an export that were changed: refused with a place in them, and never half imported.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bare, type Document, exported, filled, gateway, imported, PASSPHRASE } from './support.ts'

describe('import', () => {
  it.each([
    ['a newer format', (d: Document) => ({ ...d, hookgate_export: 2 }), {}, 'document.hookgate_export', /Update this gateway/],
    [
      'an unknown kind',
      (d: Document) => ({ ...d, rows: { ...d.rows, horses: [] } }),
      {},
      'document.rows.horses',
      /Add the plugin/,
    ],
    ['a passphrase for a document without secrets', (d: Document) => d, { passphrase: PASSPHRASE }, 'passphrase', /no secrets/],
    ['a short passphrase', (d: Document) => d, { passphrase: 'short' }, 'passphrase', /12/],
    [
      'a row twice',
      (d: Document) => ({ ...d, rows: { budgets: [d.rows.budgets![0], d.rows.budgets![0]] } }),
      {},
      'document.rows.budgets.1.name',
      /there twice/,
    ],
    [
      'a wrong member',
      (d: Document) => ({ ...d, rows: { budgets: [{ name: 'x', data: { ...d.rows.budgets![0]!.data, hard_limit_usd: -1 } }] } }),
      {},
      'document.rows.budgets.0.data.hard_limit_usd',
      /must not be negative/,
    ],
  ])('refuses %s', async (_what, change, more, param, message) => {
    const document = change(await exported(await filled()))
    const { status, body } = await imported(await gateway(), document, more)
    expect([status, body.error.param]).toEqual([400, param])
    expect(body.error.message).toMatch(message)
  })

  it('refuses another passphrase and secrets that were changed', async () => {
    const document = await exported(await filled(), PASSPHRASE)
    const there = await gateway()
    for (const [given, passphrase] of [
      [document, 'another passphrase'],
      [{ ...document, secrets: { ...document.secrets, data: `AAAA${String(document.secrets?.data).slice(4)}` } }, PASSPHRASE],
    ] as const) {
      const { status, body } = await imported(there, given, { passphrase })
      expect([status, body.error.param]).toEqual([400, 'passphrase'])
      expect(body.error.message).toMatch(/does not open/)
    }
    expect(Object.values((await exported(there)).rows).flat()).toEqual([])
  })

  it('any changed document is taken whole or refused with a place in it, and never half', { timeout: 120_000 }, async () => {
    const document = await exported(await filled())
    const there = await gateway()
    const value = fc.oneof(
      fc.jsonValue({ maxDepth: 2 }),
      fc.constantFrom<unknown>('echo/try', -1, 1e9, '', null, [], {}, 'x'.repeat(5000)),
    )
    const rows = Object.entries(document.rows).flatMap(([kind, list]) => list.map((_row, index) => [kind, index] as const))
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...rows),
        fc.nat(),
        fc.oneof(value, fc.constant(undefined)),
        async ([kind, index], pick, next) => {
          const changed = structuredClone(document)
          const { data } = changed.rows[kind]![index]!
          const members = [...Object.keys(data), 'unknown']
          const member = members[pick % members.length] as string
          if (next === undefined) delete data[member]
          else data[member] = next
          const before = bare(await exported(there))
          const { status, body } = await imported(there, changed)
          if (status === 200) return
          expect([400, 404, 409], JSON.stringify(body)).toContain(status)
          expect(body.error.param).toMatch(/^document\b/)
          expect(bare(await exported(there))).toEqual(before)
        },
      ),
      { numRuns: 150, seed: 7 },
    )
  })
})

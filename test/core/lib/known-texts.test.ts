// Texts that are remembered are those of the bytes, also when other texts have the same hash or the same place.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { wireBody } from '../../../core/json/wire-body.ts'

/** `Aa` and `BB` have one hash, and so have all texts of as many of them. */
const alike = fc.array(fc.constantFrom('Aa', 'BB', 'C#'), { maxLength: 22 }).map((list) => list.join(''))
const text = fc.oneof(
  alike,
  fc.string({ unit: 'grapheme', maxLength: 45 }),
  fc.constantFrom('', '\u007f', '\\', '"', 'é'.repeat(20)),
)

it('a member has the value and the name that JSON.parse gives it', () => {
  fc.assert(
    fc.property(fc.dictionary(text, text, { maxKeys: 12 }), (object) => {
      const body = wireBody(JSON.stringify(object))
      for (const [name, value] of Object.entries(object)) {
        if (name.includes('.') || name.includes('\\')) continue
        expect(body.get(name), name).toBe(value)
        expect(body.get(name), name).toBe(value)
      }
    }),
    { numRuns: 2000 },
  )
})

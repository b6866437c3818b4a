// Tool names under a target's alphabet: one to one, the same at every use, and restored on the way back.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { chatDialect } from '../../../../adapters/dialects/chat/index.ts'
import { callerName, upstreamName } from '../../../../adapters/dialects/shared/names.ts'
import { contractContext } from '../../../../adapters/testing/index.ts'

const RULE = { forbidden: /[^A-Za-z0-9_-]/g, maxLength: 20, start: /^[A-Za-z_]/ }

describe('names', () => {
  it('fit, stay apart, repeat themselves and come back', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: fc.constantFrom('a', '.', ' ', '_', '1'), maxLength: 24 }), { maxLength: 40 }),
        (names) => {
          const codec = contractContext(chatDialect)
          const safe = names.map((name) => upstreamName(name, RULE, codec))
          expect(names.map((name) => upstreamName(name, RULE, codec))).toEqual(safe)
          expect(new Set(safe).size).toBe(new Set(names).size)
          expect(safe.every((name) => /^[A-Za-z_][A-Za-z0-9_-]{0,19}$/.test(name))).toBe(true)
          expect(safe.map((name) => callerName(name, codec))).toEqual(names)
        },
      ),
      { seed: 7, numRuns: 300 },
    )
  })

  it('of another request are another matter', () => {
    const [one, two] = [contractContext(chatDialect), contractContext(chatDialect)]
    upstreamName('a.b', RULE, one)
    expect(upstreamName('a b', RULE, two)).toBe('a_b')
    expect(callerName('a_b', one)).toBe('a.b')
  })
})

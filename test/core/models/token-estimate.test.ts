// The estimate of a text: 1.1 wide characters a token, 3.6 others, in texts of any length and mixture.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { estimateText } from '../../../core/models/token-estimate.ts'

const run = fc.record({
  text: fc.oneof(fc.constantFrom('a', '"\\', 'é', '☃', '漢', '字'), fc.string({ unit: 'binary', maxLength: 4 })),
  times: fc.oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 60_000, max: 70_000 })),
})

it('counts every wide character, wherever it stands in a short or a long text', () => {
  fc.assert(
    fc.property(fc.array(run, { maxLength: 6 }), (runs) => {
      const text = runs.map((one) => one.text.repeat(one.times)).join('')
      let wide = 0
      for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) >= 0x2e80) wide++
      expect(estimateText(text)).toBe(wide / 1.1 + (text.length - wide) / 3.6)
    }),
  )
})

// Text without secrets, wherever the bytes are cut.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { encodeUtf8 } from '../../../core/text/bytes.ts'
import { MaskedText } from '../../../core/text/masked-text.ts'

const SECRETS = ['sk-canary-0123456789', 'sk-canary']

it('hides secrets at every cut, and keeps everything else', () => {
  const piece = fc.constantFrom('sk-', 'sk-canary', SECRETS[0] as string, 'é', '🙂', 'a', ' ', '\n')
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), fc.array(fc.nat(60), { maxLength: 6 }), (pieces, cuts) => {
      const bytes = encodeUtf8(pieces.join(''))
      const text = new MaskedText(SECRETS)
      let shown = ''
      let from = 0
      for (const cut of [...new Set(cuts)].sort((a, b) => a - b)) {
        shown += text.push(bytes.subarray(from, cut))
        from = Math.min(cut, bytes.length)
      }
      shown += text.push(bytes.subarray(from)) + text.end()
      for (const secret of SECRETS) expect(shown).not.toContain(secret)
      // Numbers of other characters stay.
      for (const kept of ['é', '🙂', '\n']) expect(shown.split(kept).length).toBe(pieces.join('').split(kept).length)
    }),
    { numRuns: 300, seed: 1 },
  )
})

it('waits only for what may become a secret', () => {
  const text = new MaskedText(SECRETS)
  expect(text.push(encodeUtf8('plain s'))).toBe('plain ')
  expect(text.push(encodeUtf8('o'))).toBe('so')
  expect(text.end()).toBe('')
})

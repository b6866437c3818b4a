// Secrets are masked in every spelling, and the first error of a connection does not take longer than a request.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { secretMask } from '../../../core/text/secret-mask.ts'
import { expectWithin, timed } from '../../support/in-time.ts'

const hex = (bytes: Iterable<number>) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0'))
const utf8 = (text: string) => new TextEncoder().encode(text)
const units = (text: string) => Array.from({ length: text.length }, (_, i) => text.charCodeAt(i))

/** Ways to write one character. */
const WAYS: ((character: string) => string)[] = [
  (character) => character,
  (character) => (character.toUpperCase().length === character.length ? character.toUpperCase() : character),
  (character) => `\\${character}`,
  (character) =>
    hex(utf8(character))
      .map((byte) => `%${byte}`)
      .join(''),
  (character) =>
    hex(utf8(character))
      .map((byte) => `%25${byte.toUpperCase()}`)
      .join(''),
  (character) =>
    units(character)
      .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
      .join(''),
  (character) => (character === ' ' ? '+' : character),
]
/** Ways to write a whole secret. */
const CODES: ((secret: string) => string)[] = [
  (secret) => Buffer.from(secret).toString('hex').toUpperCase(),
  (secret) => Buffer.from(secret).toString('base64url'),
  (secret) => Buffer.from(`a${secret}`).toString('base64'),
  (secret) => Buffer.from(`ab${secret}cd`).toString('base64'),
]
const KEYS = 'abcdefgxyzABCDEFGXYZ0123456789_-+/=.%\\ "é漢🔑'
const key = fc.array(fc.constantFrom(...Array.from(KEYS)), { minLength: 12, maxLength: 170 }).map((list) => list.join(''))
const around = fc.string({ maxLength: 20 })

it('masks a secret in which each character is written in a way of its own', () => {
  fc.assert(
    fc.property(key, fc.array(fc.nat(WAYS.length - 1), { minLength: 1, maxLength: 40 }), around, around, (secret, ways, a, b) => {
      const written = Array.from(secret, (character, i) =>
        (WAYS[ways[i % ways.length] as number] as (c: string) => string)(character),
      )
      const masked = secretMask([secret])(`${a}${written.join('')}${b}`)
      expect(masked).toContain('***')
      expect(masked).not.toContain(written.join(''))
    }),
    { numRuns: 500 },
  )
})

it.each(CODES.map((code, i) => [i, code] as const))('masks an encoded secret (%i)', (_, code) => {
  fc.assert(
    fc.property(key, around, around, (secret, a, b) => {
      const masked = secretMask([secret])(`${a} ${code(secret)} ${b}`)
      expect(masked).toContain('***')
      expect(masked).not.toContain(code(secret))
    }),
  )
})

it('leaves a text without the secret as it is', () => {
  const other = fc.string({ maxLength: 200, unit: fc.constantFrom(...Array.from('ab %25\\u0061+é漢"')) })
  fc.assert(
    fc.property(other, (text) => {
      expect(secretMask(['sk-live-0123456789abcdef'])(text)).toBe(text)
    }),
  )
})

it('masks the right secrets when hundreds of connections fail in turns', () => {
  const secrets = Array.from({ length: 300 }, (_, i) => `sk-live-${String(i).padStart(4, '0')}-abcdefghijkl`)
  for (let round = 0; round < 2; round++)
    for (const [i, secret] of secrets.entries()) {
      const other = secrets[(i + 1) % secrets.length] as string
      expect(secretMask([secret])(`a ${secret} b ${other}`)).toBe(`a *** b ${other}`)
    }
})

it('takes no time for the first error of a key of 170 characters, and none for a hostile text', async () => {
  const secret = Array.from({ length: 170 }, (_, i) => KEYS[(i * 7 + i * i) % 40]).join('')
  await expectWithin(5, () => timed(() => secretMask([secret, `Bearer ${secret}`])('The server had an error. Try again.')))
  const signs = '\\%25'.repeat(50)
  await expectWithin(200, () => timed(() => secretMask([`${signs}x`])(signs.repeat(20))))
})

// The findings in a text do not depend on its split, and the time is linear in its length.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bare, PII_AND_SECRETS } from './bare.ts'
import { PERSONAL, SECRETS } from './support.ts'

const ALL = {
  ...PII_AND_SECRETS,
  'keywords.mode': 'redact',
  'keywords.deny': ['project falcon', 'naïve'],
  'keywords.regex': ['proj-[0-9]{4,}', 'secret:.*', 'a{3,}b?'],
}
const entity = fc.constantFrom(...Object.values(SECRETS), ...Object.values(PERSONAL))

describe('however a text is cut', () => {
  it('at every offset, the same is found', () => {
    const text = `a ${Object.values(SECRETS).join(' , ')} b ${Object.values(PERSONAL).join(' ; ')} project  falcon proj-12345 aaaab secret: x`
    const whole = bare(ALL).text(text)
    for (let at = 0; at <= text.length; at++)
      expect(bare(ALL).pieces([text.slice(0, at), text.slice(at)]), `cut at ${at}`).toBe(whole)
    expect(bare(ALL).pieces([...text])).toBe(whole)
  })

  it('into any number of pieces, of any text', () => {
    const crumb = fc.constantFrom(
      'sk-',
      'a',
      '4111',
      '1',
      ' ',
      '-',
      '.',
      '@',
      'x.com',
      'eyJ',
      'proj-',
      '99',
      '\n',
      'password=',
      'Zx9',
      'é👋',
      '+49',
      '(',
      'DE',
      ':',
      '[',
    )
    const text = fc.array(fc.oneof({ weight: 3, arbitrary: crumb }, { weight: 1, arbitrary: entity }), { maxLength: 60 })
    fc.assert(
      fc.property(text, fc.array(fc.nat(900), { maxLength: 12 }), (crumbs, cuts) => {
        const joined = crumbs.join('')
        const at = [0, ...cuts.filter((cut) => cut < joined.length).sort((a, b) => a - b), joined.length]
        const pieces = at.slice(1).map((end, index) => joined.slice(at[index], end))
        expect(bare(ALL).pieces(pieces)).toBe(bare(ALL).text(joined))
      }),
      { numRuns: 400, seed: 7 },
    )
  })

  it('no more is held back than 256 characters of ordinary text', () => {
    const text = 'The quick brown fox jumps over 13 lazy dogs, and then some more. '.repeat(20)
    for (let size = 1; size < 40; size += 6) {
      let [taken, out] = [0, 0]
      bare(ALL).pieces(
        Array.from({ length: Math.ceil(text.length / size) }, (_, i) => text.slice(i * size, (i + 1) * size)),
        (piece, given) => {
          taken += piece.length
          out += given.length
          // Operators' expressions run every 64 characters.
          expect(taken - out).toBeLessThanOrEqual(256 + 64)
          expect(text.startsWith(given, out - given.length)).toBe(true)
        },
      )
      expect(taken).toBe(text.length)
    }
  })
})

describe('redaction of random text with planted entities', () => {
  it('leaves none of them, and every other byte', () => {
    // Fillers that cannot become part of the planted text.
    const filler = fc
      .array(fc.constantFrom('lorem', 'ipsum', 'dolor', 'Größe', '日本', '👋', '\n', '“quoted”', 'x = y;', '{}', '<b>'), {
        maxLength: 8,
      })
      .map((words) => ` ${words.join(' ')} | `)
    fc.assert(
      fc.property(filler, fc.array(fc.tuple(entity, filler), { maxLength: 8 }), (first, planted) => {
        const text = first + planted.map(([value, rest]) => value + rest).join('')
        const clean = bare(PII_AND_SECRETS).text(text)
        for (const [value] of planted) expect(clean).not.toContain(value)
        const kept = clean.split(/\[[A-Z_]+_REDACTED\]/)
        expect(kept).toEqual([first, ...planted.map(([, rest]) => rest)])
      }),
      { numRuns: 500, seed: 11 },
    )
  })
})

describe('time', () => {
  const MANY = {
    ...ALL,
    'topics.mode': 'log',
    'topics.deny': Array.from({ length: 50 }, (_, i) => `topic number ${i}`),
  }
  const HOSTILE: Record<string, (n: number) => string> = {
    'one long word': (n) => 'a'.repeat(n),
    digits: (n) => '4'.repeat(n),
    'groups of digits': (n) => '4111 '.repeat(n / 5),
    'at signs': (n) => '@'.repeat(n),
    'beginnings of addresses': (n) => 'a.b@'.repeat(n / 4),
    'domains without an end': (n) => 'x@a-.'.repeat(n / 5),
    'beginnings of keys': (n) => 'sk-'.repeat(n / 3),
    'beginnings of tokens': (n) => 'eyJ'.repeat(n / 3),
    'beginnings of private keys': (n) => '-----BEGIN PRIVATE KEY-----'.repeat(n / 27),
    'names of secrets': (n) => 'password:'.repeat(n / 9),
    'plus signs and digits': (n) => '+1 '.repeat(n / 3),
    colons: (n) => '2:'.repeat(n / 2),
    'countries and digits': (n) => 'DE89 '.repeat(n / 5),
    spaces: (n) => ' '.repeat(n),
    'words of a list': (n) => 'topic number '.repeat(n / 13),
  }

  it.each(Object.entries(HOSTILE))('of %s grows with the length, and no faster', (_name, make) => {
    const rules = bare(MANY, 'input')
    const time = (n: number): number => {
      const text = make(n)
      // CPU time of the process, because on a busy machine a clock also measures waiting.
      const start = process.cpuUsage()
      rules.text(text)
      const { user, system } = process.cpuUsage(start)
      return (user + system) / 1000
    }
    for (let i = 0; i < 3; i++) time(4_000)
    // Eight times the length: quadratic time would be 64 times as long. The minimum of several alternating runs, so that other load
    // affects both.
    let [short, long] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
    for (let round = 0; round < 3 || (round < 12 && long >= Math.max(24 * short, 60)); round++) {
      short = Math.min(short, time(20_000))
      long = Math.min(long, time(160_000))
    }
    expect(long).toBeLessThan(Math.max(24 * short, 60))
  })
})

// Each filter on output as its tool prints it: what must survive does, what is noise goes, and nothing else is
// touched.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FILTERS, OFF_BY_DEFAULT } from '../../../plugins/token-saver/filters/list.ts'
import { byteLength, shorten } from '../../../plugins/token-saver/shorten.ts'
import { expectWithin, timed } from '../../support/in-time.ts'
import { OUTPUTS } from './outputs.ts'

const ALL: ReadonlySet<string> = new Set()
const ESC = '\u001b'

describe.each(Object.entries(OUTPUTS))('the output of %s', (_name, { filter, text, survives, gone, saves }) => {
  it(`is shortened by ${filter}, and keeps its facts`, () => {
    const short = shorten(text, ALL)
    expect(short?.filter).toBe(filter)
    for (const fact of survives) expect(short?.text).toContain(fact)
    for (const noise of gone) expect(short?.text).not.toContain(noise)
  })

  it(`is smaller by at least ${saves} %`, () => {
    const short = shorten(text, ALL)?.text ?? text
    expect(100 * (1 - byteLength(short) / byteLength(text))).toBeGreaterThanOrEqual(saves)
  })

  it('is known through colours, progress and Windows line ends as well', () => {
    const dressed = text
      .split('\n')
      .map((line, at) =>
        at % 3 === 0 && line.trim() !== ''
          ? `working 10 %\rworking 90 %\r${line}`
          : `${line.replace(/(\w+)/, `${ESC}[1;32m$1${ESC}[0m`)}\r`,
      )
      .join('\n')
    expect(shorten(dressed, ALL)?.text).toBe(shorten(text, ALL)?.text)
  })
})

it('every filter has an output here', () => {
  const shown = new Set(Object.values(OUTPUTS).map(({ filter }) => filter))
  expect(FILTERS.map(({ id }) => id).filter((id) => !shown.has(id))).toEqual([])
  expect(FILTERS).toHaveLength(13)
})

describe('of whatever text', () => {
  const piece = fc.oneof(
    fc.string({ maxLength: 80 }),
    fc.constantFrom(...Object.values(OUTPUTS).flatMap(({ text }) => text.split('\n').slice(0, 30))),
    fc.constantFrom('', ' ', '\t', `${ESC}[31m`, '\r', 'commit abcdef1', '@@ -1,3 +1,3 @@', '… 3 more lines'),
  )
  const texts = fc.oneof(
    fc.array(piece, { maxLength: 400 }).map((lines) => lines.join('\n')),
    fc.tuple(piece, fc.integer({ min: 1, max: 400 })).map(([line, count]) => `${line}\n`.repeat(count)),
    fc
      .tuple(fc.constantFrom(...Object.values(OUTPUTS).map(({ text }) => text)), fc.array(piece, { maxLength: 20 }))
      .map(([text, lines]) => `${text}\n${lines.join('\n')}`),
  )

  it('the result is never longer, never empty, always the same, and stays as it is', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const short = shorten(text, ALL)
        if (short === null) return
        expect(byteLength(short.text)).toBeLessThan(byteLength(text))
        expect(short.text.split('\n').length).toBeGreaterThan(1)
        expect(shorten(text, ALL)).toEqual(short)
        expect(shorten(short.text, ALL)).toBeNull()
      }),
      { numRuns: 400, seed: 32 },
    )
  })
})

describe('a text is left alone', () => {
  const repeated = (bytes: number) => 'same\n'.repeat(bytes / 5)

  it('below 500 bytes and above 10 MiB', () => {
    expect(shorten(repeated(500), ALL)).not.toBeNull()
    expect(shorten(repeated(500).slice(0, 499), ALL)).toBeNull()
    expect(shorten(`${repeated(10 * 1024 * 1024)}same\nsame\n`, ALL)).toBeNull()
  })

  it('where its filter throws, gives nothing or does not save', () => {
    const filter = (shortened: () => readonly string[] | null) => ({
      id: 'mine',
      title: '',
      description: '',
      detects: '',
      limits: {},
      detect: () => true,
      shorten: shortened,
    })
    const text = repeated(1000)
    const thrown = filter(() => {
      throw new Error('a bug')
    })
    for (const one of [thrown, filter(() => null), filter(() => []), filter(() => text.split('\n'))])
      expect(shorten(text, ALL, [one])).toBeNull()
  })

  it('where it is prose or code', () => {
    const prose = 'A paragraph about either/or questions, with commas and a colon: like this one.\n\n'.repeat(1)
    const code = Array.from({ length: 120 }, (_, at) => `export const value${at} = compute(${at}) // keep\n\n`).join('')
    expect(shorten(prose + code, ALL)).toBeNull()
  })
})

it('a line made to keep a pattern busy does not', async () => {
  const beginnings = [
    'commit abcdef1\nAuthor: ',
    'diff --git ',
    'On branch x\n',
    'src/a.ts:1:',
    'src/a.c:1:1: error: ',
    'Tests  1 passed\n',
    'a.py::',
  ]
  const repeated = ['<', '::', ': ', '\\t ', '.py::', '(1,', '│   ', 'a.a', '[0;', '\u001b[', '... ok', '(total 1 ', ' (use "']
  const everything = () => {
    for (const beginning of beginnings)
      for (const piece of repeated)
        shorten(`${`${beginning}${piece.repeat(50_000 / piece.length)}\n`.repeat(3)}Tests  1 passed`, ALL)
  }
  // Quadratic time would be minutes.
  await expectWithin(10_000, () => timed(everything))
})

describe('order', () => {
  it('a test run with places in it is a test run, not a search', () => {
    const text = `test/a.test.ts:12:  unexpected\n${OUTPUTS.vitest!.text}`
    expect(shorten(text, ALL)?.filter).toBe('test-run')
  })

  it('a compiler’s messages are a search without its summary, a build with it', () => {
    const messages = Array.from({ length: 30 }, (_, at) => `src/a.c:${at + 1}:5: error: unknown type name 'foo_t'`)
    const steps = Array.from({ length: 60 }, (_, at) => `cc -c part-${at}.c`)
    expect(shorten(messages.join('\n'), ALL)?.filter).toBe('grep')
    expect(shorten([...messages, ...steps, 'make: *** [Makefile:3: all] Error 1'].join('\n'), ALL)?.filter).toBe('build-log')
  })

  it('a diff of a test file is a diff', () => {
    const text = OUTPUTS['git diff']!.text.replace('app.use(cors())', '✓ 3 passed')
    expect(shorten(text, ALL)?.filter).toBe('git-diff')
  })

  it('one that is disabled leaves its output to the next, and those that hide files are off by default', () => {
    expect(OFF_BY_DEFAULT).toEqual(['read-numbered', 'smart-truncate'])
    const text = OUTPUTS['a numbered file']!.text
    expect(shorten(text, new Set(['read-numbered']))?.filter).toBe('smart-truncate')
    expect(shorten(text, new Set(OFF_BY_DEFAULT))).toBeNull()
  })
})

it('a log with patches in it is not cut down to its subjects', () => {
  const text = OUTPUTS['git log']!.text.replace('    several lines', ' src/a.ts | 3 +++\n    several lines')
  expect(shorten(text, ALL)).toBeNull()
})

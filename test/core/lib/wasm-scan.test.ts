// The scan in WebAssembly accepts exactly what the scan in JavaScript accepts, and finds the same members.
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { objectScan, scanObject, UNLIMITED } from '../../../core/json/json-scan.ts'
import { KeyStack, nameHash } from '../../../core/json/key-stack.ts'
import type { Member } from '../../../core/json/member.ts'
import { FewNames } from '../../../core/json/member-names.ts'
import { smallObject } from '../../../core/json/wasm-scan.ts'

const inJavaScript = (bytes: Uint8Array, names: FewNames | null = null): Map<string, Member> =>
  objectScan(bytes, UNLIMITED, new KeyStack(), names)(Number.POSITIVE_INFINITY) as Map<string, Member>

function accepted(scan: () => Map<string, Member>): Map<string, Member> | null {
  try {
    return scan()
  } catch {
    return null
  }
}

const key = fc.oneof(
  fc.constantFrom('model', 'a', 'b', '', 'é', '__proto__', 'Aa', 'BB', 'a"b', 'x'.repeat(41)),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
)
const value = fc.letrec((tie) => ({
  any: fc.oneof({ maxDepth: 3 }, fc.jsonValue({ maxDepth: 1 }), tie('text'), tie('list'), tie('object')),
  text: fc
    .tuple(fc.constantFrom('x', 'é', '"', '\\', '\n', '\u0001', '😀'), fc.nat(60))
    .map(([char, count]) => char.repeat(count)),
  list: fc.array(tie('any'), { maxLength: 4 }),
  object: fc.dictionary(key, tie('any'), { maxKeys: 6 }),
})).object

/** The same value, with other white space. */
const spaced = fc.tuple(value, fc.constantFrom('', ' ', '\t', '\n  '), fc.constantFrom('', ' ', '\r\n', '\ufeff'))
const text = spaced.map(
  ([object, space, edge]) => `${edge}${JSON.stringify(object, null, space)}${edge === '\ufeff' ? '' : edge}`,
)

/** A text with one fault or another spelling somewhere. */
const damaged = fc
  .tuple(
    text,
    fc.nat(),
    fc.nat(3),
    fc.constantFrom(...'"\\,:{}[]0-+.eE tfnu\u0000\n/', '\\u00e9', '\\u12', '01', '1e5', '-0', 'true', 'nul'),
  )
  .map(([whole, place, removed, added]) => {
    const at = place % (whole.length + 1)
    return whole.slice(0, at) + added + whole.slice(at + removed)
  })

describe('a small object', () => {
  it('has the members and the names that the other scan finds', () => {
    fc.assert(
      fc.property(text, (whole) => {
        const bytes = Buffer.from(whole)
        const [names, others] = [new FewNames(), new FewNames()]
        const members = smallObject(bytes, names)
        // An escape in a name is left to the other scan.
        if (members === null) expect(whole).toMatch(/\\/)
        else expect([...members]).toEqual([...inJavaScript(bytes, others)])
        if (members !== null)
          for (const name of ['model', 'a', 'é', 'Aa', 'messages', 'stream', 'x'.repeat(41)])
            expect(names.mayHave(nameHash(name)), name).toBe(others.mayHave(nameHash(name)))
      }),
      { numRuns: 1500 },
    )
  })

  it('is accepted only when the other scan accepts it', () => {
    fc.assert(
      fc.property(damaged, (whole) => {
        const bytes = Buffer.from(whole)
        const members = smallObject(bytes, null)
        if (members !== null) expect([...members]).toEqual([...(accepted(() => inJavaScript(bytes)) ?? [])])
      }),
      { numRuns: 6000 },
    )
  })

  it.each([
    [
      'a chat request',
      '{"model":"m","messages":[{"role":"user","content":"Hi \\"there\\"\\n\\u00e9"}],"temperature":0.7,"stream":false}',
    ],
    ['every kind of value', '{"a":null,"b":true,"c":false,"d":-0.5e-7,"e":[],"f":{},"g":"","h":[1,[2,{"i":"j"}]]}'],
    ['a byte order mark', '\ufeff{"a":1}'],
    ['depth 128', `${'{"a":'.repeat(128)}1${'}'.repeat(128)}`],
    ['24 names', `{${Array.from({ length: 24 }, (_, at) => `"k${at}":1`)}}`],
    ['names with one hash', '{"Aa":1,"BB":2}'],
    ['64 KiB', `{"a":"${'x'.repeat(65_528)}"}`],
  ])('is accepted: %s', (_what, whole) => {
    const bytes = Buffer.from(whole)
    const members = smallObject(bytes, null)
    expect(members).not.toBeNull()
    expect([...(members as Map<string, Member>)]).toEqual([...inJavaScript(bytes)])
  })

  it.each([
    ['depth 129', `${'{"a":'.repeat(129)}1${'}'.repeat(129)}`, false],
    ['25 names', `{${Array.from({ length: 25 }, (_, at) => `"k${at}":1`)}}`, true],
    ['300 members below the top', `{"a":{${Array.from({ length: 300 }, (_, at) => `"k${at}":1`)}}}`, true],
    ['3000 names', `{"a":[${Array.from({ length: 1500 }, (_, at) => `{"k${at}":{"l":1}}`)}]}`, true],
    ['an escape in a name', '{"\\u0061":1}', true],
    ['the same name twice', '{"a":1,"a":2}', false],
    ['the same name twice, with an escape', '{"a":1,"\\u0061":2}', false],
    ['more than 64 KiB', `{"a":"${'x'.repeat(65_529)}"}`, true],
    ['a list', '[1]', false],
    ['text after the object', '{"a":1}x', false],
    ['a missing end', '{"a":"b', false],
    ['a byte that was there before', '{"a":tru', false],
  ])('is judged the same: %s', (_what, whole, valid) => {
    const bytes = Buffer.from(whole)
    // The text before it leaves its bytes behind.
    scanObject(Buffer.from(`{"a":true,"b":"${'e}'.repeat(50)}"}`))
    expect(accepted(() => scanObject(bytes)) !== null).toBe(valid)
    expect(accepted(() => inJavaScript(bytes)) !== null).toBe(valid)
  })

  it('has the values that are not counted for it', () => {
    const many = Buffer.from(`{"a":[${Array(50).fill('1')}]}`)
    expect(() => scanObject(many, { values: 10, numbers: 10 })).toThrow(expect.objectContaining({ code: 'too_many_values' }))
    expect(scanObject(many, { values: 200, numbers: 100 }).size).toBe(1)
  })
})

const special = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('\\"', '\\\\', '\\n', '\\u00e9', 'é', '😀') },
  { weight: 1, arbitrary: fc.constantFrom('\n', '\\x', '\\u12', '\u0000') },
)

it('a long string ends where JSON.parse sees its end, wherever its parts begin', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(0, 100, 1020, 1100, 8190, 9210, 65_530, 74_700).chain((near) => fc.integer({ min: near, max: near + 140 })),
      fc.array(special, { maxLength: 6 }).map((list) => list.join('')),
      fc.nat(3000),
      (before, middle, after) => {
        const string = `"${'q'.repeat(before)}${middle}${'w'.repeat(after)}"`
        const bytes = Buffer.from(`{"m":${string},"n":1}`)
        const parsed = (() => {
          try {
            return JSON.parse(string) as string
          } catch {
            return null
          }
        })()
        const members = accepted(() => inJavaScript(bytes))
        expect(members === null).toBe(parsed === null)
        if (members !== null) expect(members.get('n')).toMatchObject({ start: bytes.length - 2, end: bytes.length - 1 })
      },
    ),
    { numRuns: 600 },
  )
})

it('core/json/wasm-module.ts is what scripts/wasm/json-scan.ts compiles to', async () => {
  const { compiled, generated } = await import(new URL('../../../scripts/wasm/compile.mjs', import.meta.url).href)
  const file = new URL('../../../core/json/wasm-module.ts', import.meta.url)
  expect(generated(await compiled()), 'run `npm run gen:wasm`').toBe(readFileSync(file, 'utf8'))
})

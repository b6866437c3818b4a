// Large JSON is parsed and written in pieces. The result is the same as in one piece.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { jsonBytes } from '../../../core/json/json-bytes.ts'
import { objectScan } from '../../../core/json/json-scan.ts'
import { KeyStack, nameHash } from '../../../core/json/key-stack.ts'
import { MemberNames } from '../../../core/json/member-names.ts'
import { parseMembers, parseSpan } from '../../../core/json/parse-span.ts'
import { hasBigNumber, RawJson, stringify } from '../../../core/json/raw-json.ts'
import { wireBody } from '../../../core/json/wire-body.ts'
import { encodeUtf8, offsetOf } from '../../../core/text/bytes.ts'

const key = fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', '1', '0', 'größe', 'a"b', ''))
const { value: json } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.string({ unit: 'binary' }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(null, true, false, 0, -1),
    fc.array(tie('value'), { maxLength: 8 }),
    fc.dictionary(key, tie('value'), { maxKeys: 6 }),
  ),
}))
const object = fc.dictionary(key, json, { maxKeys: 8 })
const indent = fc.constantFrom('', ' ', '\n\t', '\r\n')

it('parses a text in pieces of any size to the value of the whole text', () => {
  fc.assert(
    fc.property(object, indent, fc.integer({ min: 0, max: 60 }), (value, space, piece) => {
      const text = `${space}${JSON.stringify(value, null, space)}${space}`
      const bytes = encodeUtf8(text)
      const found = parseSpan(bytes, space.length, bytes.length, piece)
      expect(JSON.stringify(found)).toBe(JSON.stringify(JSON.parse(text)))
      expect(Object.getPrototypeOf(found)).toBe(Object.prototype)
    }),
    { numRuns: 400 },
  )
})

it('returns the same from a large body as from its text', () => {
  const filler = 'x'.repeat(40_000)
  fc.assert(
    fc.property(object, indent, (value, space) => {
      const text = JSON.stringify({ filler, list: Array(20).fill([filler.slice(0, 3000), value]), ...value }, null, space)
      const body = wireBody(text)
      const { list } = JSON.parse(text) as { list: unknown }
      expect(JSON.stringify(body.get('list'))).toBe(JSON.stringify(list))
      expect(JSON.stringify(body.json())).toBe(JSON.stringify(JSON.parse(text)))
    }),
    { numRuns: 40 },
  )
})

it('refuses control characters in a long string of a large body, in each piece', () => {
  const long = 'y'.repeat(2000)
  const list = Array(31).fill(long)
  for (let piece = 0; piece < list.length; piece++) {
    const text = `{"list":[${list.map((one, index) => `"${one}${index === piece ? '\n' : ''}"`).join()}]}`
    expect(() => wireBody(text)).toThrow(/The body is not valid JSON \(byte \d+\)/)
  }
})

it('keeps a member that is called __proto__ a member', () => {
  const bytes = encodeUtf8('{"__proto__":{"admin":true}}')
  const members = new Map([['__proto__', { start: 13, end: 27 }]])
  for (const found of [parseMembers(bytes, members), parseSpan(bytes, 0, bytes.length, 0)]) {
    expect(Object.keys(found as object)).toEqual(['__proto__'])
    expect((found as { admin?: unknown }).admin).toBeUndefined()
  }
})

it('writes long lists in pieces to the text of the whole', () => {
  const element = fc.oneof(fc.record({ role: fc.string(), content: json }), json, fc.constant(undefined))
  const list = fc.array(element, { minLength: 17, maxLength: 40 }).map((rest) => [{ role: 'user' }, ...rest])
  fc.assert(
    fc.property(object, list, list, (value, messages, tools) => {
      const wire = { ...value, messages, absent: undefined, tools }
      expect(new TextDecoder().decode(jsonBytes(wire))).toBe(JSON.stringify(wire))
    }),
    { numRuns: 100 },
  )
})

it('writes arguments with their own digits in each piece', () => {
  const messages = Array.from({ length: 40 }, (_, at) => ({ at, input: new RawJson(`{"id":1234567890123456789${at}}`) }))
  const text = new TextDecoder().decode(jsonBytes({ model: 'm', messages }, stringify))
  expect(text).toBe(stringify({ model: 'm', messages }))
  expect(text).toContain('{"id":123456789012345678939}')
})

it('finds a text at each offset, in a Buffer and in any other array of bytes', () => {
  const some = fc.array(fc.constantFrom('"', 'a', 'ab', 'ä', 'id'), { maxLength: 12 }).map((parts) => parts.join(''))
  fc.assert(
    fc.property(some, fc.constantFrom('"', '"a', 'ab', 'aba', '"id"'), fc.nat(10), (text, wanted, from) => {
      const buffer = Buffer.from(text)
      const expected = buffer.indexOf(wanted, from)
      expect(offsetOf(buffer, wanted, from)).toBe(expected)
      expect(offsetOf(Uint8Array.from(buffer), wanted, from)).toBe(expected)
    }),
  )
})

it('knows each name of a text, with the kinds of its values', () => {
  const limits = { values: Number.POSITIVE_INFINITY, numbers: Number.POSITIVE_INFINITY }
  const namesOf = (bytes: Uint8Array) => {
    const names = new MemberNames()
    objectScan(bytes, limits, new KeyStack(), names)(Number.POSITIVE_INFINITY)
    return (name: string) =>
      [undefined, 'array' as const, 'long_text' as const].map((kind) => names.mayHave(nameHash(name), kind))
  }
  fc.assert(
    fc.property(object, fc.string({ minLength: 60, maxLength: 80 }), indent, (value, long, space) => {
      const bytes = encodeUtf8(JSON.stringify({ ...value, list: [{ long, deep: { list: [] } }] }, null, space))
      const kinds = namesOf(bytes)
      JSON.parse(new TextDecoder().decode(bytes), function (this: unknown, name: string, member: unknown) {
        // The root has the empty name.
        if (Array.isArray(this) || !/^[ -~]+$/.test(name)) return member
        const [present, isArray, isLong] = kinds(name)
        expect(present).toBe(true)
        if (Array.isArray(member)) expect(isArray).toBe(true)
        if (typeof member === 'string' && member.length > 64) expect(isLong).toBe(true)
        return member
      })
    }),
  )
  expect(['a', 'b', 'c', 'd'].map(namesOf(encodeUtf8('{"a":[{"b":"short"}],"c":1}')))).toEqual([
    [true, true, false],
    [true, false, false],
    [true, false, false],
    [false, false, false],
  ])
})

it('returns the text of each place below an array', () => {
  const list = fc.array(fc.array(json, { maxLength: 4 }), { maxLength: 6 })
  fc.assert(
    fc.property(list, indent, (value, space) => {
      const body = wireBody(JSON.stringify({ list: value }, null, space))
      for (const [at, elements] of value.entries()) {
        for (const [place, element] of elements.entries())
          expect(JSON.stringify(JSON.parse(body.raw(`list.${at}.${place}`) as string))).toBe(JSON.stringify(element))
        expect(body.raw(`list.${at}.${elements.length}`)).toBeUndefined()
      }
      expect(body.raw(`list.${value.length}.0`)).toBeUndefined()
    }),
  )
})

it.each([
  ['{"a":1234567890123456}', true],
  ['{"a":1e5}', true],
  ['{"a":-1.5E-7,"b":"x"}', true],
  ['{"a":0.123456789012345}', true],
  ['{"path":"src/file123.ts","b":12.5}', false],
  ['{"sha":"1234567890123456789","e1":true}', false],
  ['{"quoted":"a \\"b\\" 1e9 \\\\","c":1}', false],
  ['{"quoted":"\\\\","c":1e9}', true],
])('finds numbers that could lose a digit outside of strings only: %s', (text, expected) => {
  expect(hasBigNumber(text)).toBe(expected)
})

// A large value that is built and written in turns is the same as one that is parsed and written at once.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { buildInTurns } from '../../../core/json/build-in-turns.ts'
import { builtBody } from '../../../core/json/built-body.ts'
import { scanObject } from '../../../core/json/json-scan.ts'
import { RawJson, stringify } from '../../../core/json/raw-json.ts'
import { parsedBody } from '../../../core/json/wire-body.ts'
import { writeInTurns } from '../../../core/json/write-in-turns.ts'
import { decodeUtf8, encodeUtf8 } from '../../../core/text/bytes.ts'
import { GatheredBytes } from '../../../core/text/gathered-bytes.ts'
import { YieldQueue } from '../../../core/timing/yield-queue.ts'

const turns = new YieldQueue()

/** A small value, or one of many repetitions of it that exceeds a piece. */
const value = fc.letrec((tie) => ({
  any: fc.oneof({ maxDepth: 4 }, fc.jsonValue({ maxDepth: 1 }), tie('text'), tie('list'), tie('object')),
  text: fc
    .tuple(
      fc.constantFrom('x', 'é', '☃', '😀', '\\', '"', '\n', '\u0001', 'a\\"b', '\ud83d'),
      fc.integer({ min: 1, max: 90_000 }),
    )
    .map(([char, count]) => char.repeat(count)),
  list: fc
    .tuple(tie('any'), fc.integer({ min: 0, max: 6 }), fc.integer({ min: 0, max: 30_000 }))
    .map(([one, many, numbers]) => [
      ...Array.from({ length: many }, () => one),
      ...Array.from({ length: numbers }, (_, index) => index / 3),
    ]),
  object: fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('__proto__', 'a.b', 'é"\\')), tie('any'), { maxKeys: 5 }),
}))
const object = fc.dictionary(fc.string(), value.any, { maxKeys: 6 }) as fc.Arbitrary<Record<string, unknown>>
const space = fc.constantFrom(undefined, 1, '\t')

const plain = (given: unknown) => JSON.stringify(given)
const spans = (members: ReadonlyMap<string, { keyStart: number; start: number; end: number }>) =>
  [...members].map(([name, { keyStart, start, end }]) => [name, keyStart, start, end])

describe('a value that is built in turns', () => {
  it('is the parsed one, and its members are where the scan finds them', async () => {
    await fc.assert(
      fc.asyncProperty(object, space, async (given, indent) => {
        const text = JSON.stringify(given, null, indent)
        const bytes = encodeUtf8(text)
        const { json, members } = await buildInTurns(bytes, turns)
        expect(plain(json)).toBe(plain(JSON.parse(text)))
        expect(spans(members)).toEqual(spans(scanObject(bytes)))
      }),
      { numRuns: 40 },
    )
  })

  it.each([
    ['an empty object', ' { } '],
    ['a byte order mark', `\ufeff{"a":[${'1,'.repeat(60_000)}1]}`],
    ['a repeated member', `{"a":"${'x'.repeat(40_000)}","a":1}`],
    ['a member that would set a prototype', `{"__proto__":{"x":[${'[],'.repeat(30_000)}[]]}}`],
    ['space between all tokens', `{ "a" : [ ${'{ "b" : [ ] } , '.repeat(20_000)} { } ] , "c" : 1 }`],
    ['escapes at the end of each part', `{"a":"${'\\u00e9\\\\\\"'.repeat(100_000)}"}`],
    ['nesting', `{"a":${'[1,'.repeat(100)}"${'y'.repeat(200_000)}"${']'.repeat(100)}}`],
  ])('is right with %s', async (_, text) => {
    const { json } = await buildInTurns(encodeUtf8(text), turns)
    expect(plain(json)).toBe(plain(JSON.parse(text.replace('\ufeff', ''))))
    expect(Object.getPrototypeOf(json)).toBe(Object.prototype)
  })
})

describe('a value that is written in turns', () => {
  it('has the text that is written at once', async () => {
    await fc.assert(
      fc.asyncProperty(object, async (given) => {
        expect(decodeUtf8(await writeInTurns(given, turns))).toBe(decodeUtf8(encodeUtf8(stringify(given))))
      }),
      { numRuns: 40 },
    )
  })

  it('keeps texts of tool calls, and leaves undefined members out', async () => {
    const long = `{"n":${'9'.repeat(30)},"x":"${'z'.repeat(200_000)}"}`
    const given = {
      a: undefined,
      calls: Array.from({ length: 3 }, () => ({ args: new RawJson(long), b: undefined })),
      c: [undefined, 1],
    }
    expect(decodeUtf8(await writeInTurns(given, turns))).toBe(stringify(given))
  })
})

describe('a large answer', () => {
  const text = `{"id":"x", "choices":[{"message":{"content":"${'é'.repeat(300_000)}"}}], "n":12345678901234567890 ,"u":{"a":1}}`

  it('keeps all bytes that no edit names', async () => {
    const body = await builtBody(encodeUtf8(text), turns)
    expect(decodeUtf8(await body.written(turns, {}))).toBe(text)
    body.set('u', { a: 2 })
    body.set('new', 1)
    expect(body.editText((head) => head.replace('{', '{"first":null,'))).toBe(false)
    const expected = text.replace('{"a":1}', '{"a":2}').replace('{', '{"new":1,')
    expect(decodeUtf8(await body.written(turns, {}))).toBe(expected)
    expect(decodeUtf8(await body.written(turns, { id: 'y' }))).toBe(expected.replace('"x"', '"y"'))
    expect(decodeUtf8(body.bytes)).toBe(expected)
    expect(body.get('u.a')).toBe(2)
    expect(body.raw('n')).toBe('12345678901234567890')
  })

  it('is edited near its start as a small one is', async () => {
    const body = await builtBody(encodeUtf8(text), turns)
    const edit = (given: string) => given.replace('{"message":{', '{"logprobs":null,"message":{"refusal":null,')
    expect(body.editText(edit)).toBe(true)
    expect(decodeUtf8(await body.written(turns, { id: 'y' }))).toBe(edit(text).replace('"x"', '"y"'))
    expect(decodeUtf8(body.bytes)).toBe(edit(text))
    body.remove('n')
    expect(JSON.parse(decodeUtf8(await body.written(turns, {}))).n).toBeUndefined()
  })

  it('reads as a small one does', async () => {
    const body = await builtBody(encodeUtf8(text), turns)
    const small = parsedBody(encodeUtf8(text))
    for (const path of ['id', 'choices.0.message', 'n', 'u.a', 'none', 'choices.7']) {
      expect([path, body.raw(path)]).toEqual([path, small.raw(path)])
      expect([path, body.get(path)]).toEqual([path, small.get(path)])
    }
    for (const name of ['id', 'choices', 'none']) expect(body.peek(name)).toBe(small.peek(name))
    expect(body.contains('choices', '"message"')).toBe(true)
    expect(body.contains('u', '"message"')).toBe(false)
  })
})

it.each([0, 1000, 400_000, 10_000_000])('pieces are joined as they arrive, with a declared length of %s', (declared) => {
  const gathered = new GatheredBytes(declared)
  const whole: number[] = []
  for (let i = 0; i < 300; i++) {
    const piece = Uint8Array.from({ length: 1 + ((i * 7919) % 3000) }, (_, at) => (i + at) & 0xff)
    gathered.add(piece)
    whole.push(...piece)
  }
  expect(gathered.size).toBe(whole.length)
  expect(Buffer.compare(gathered.bytes(), Uint8Array.from(whole))).toBe(0)
})

// Strings of any length at any place in memory: the scan accepts exactly the texts that JSON.parse accepts.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { objectScan, scanObject } from '../../../core/json/json-scan.ts'
import { KeyStack } from '../../../core/json/key-stack.ts'
import { MemberNames } from '../../../core/json/member-names.ts'
import { wireBody } from '../../../core/json/wire-body.ts'

function parses(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Returns the bytes of the text at this distance from a word's first byte. */
function at(offset: number, text: string): Uint8Array {
  const bytes = Buffer.from(text)
  const memory = new Uint8Array(offset + bytes.length)
  memory.set(bytes, offset)
  return memory.subarray(offset)
}

function scans(bytes: Uint8Array): boolean {
  try {
    scanObject(bytes)
    return true
  } catch {
    return false
  }
}

/** Characters beside those that end or break a string, because a search in words could confuse them. */
const char = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...'ab !#"[]\\^/unrtbf0x\u007f\u0080\u00e9\u2014\ud83d\ude00') },
  { weight: 1, arbitrary: fc.constantFrom('\0', '\b', '\t', '\n', '\u001f', '"', '\\', '\\u00', '\\u00e9', '\\"', '\\x') },
)

it.each([0, 1, 2, 3])('with %i bytes before the text', (offset) => {
  fc.assert(
    fc.property(
      fc.oneof({ weight: 4, arbitrary: fc.nat(1500) }, { weight: 1, arbitrary: fc.integer({ min: 3900, max: 9000 }) }),
      fc.array(char, { maxLength: 40 }).map((chars) => chars.join('')),
      fc.oneof({ weight: 4, arbitrary: fc.nat(600) }, { weight: 1, arbitrary: fc.integer({ min: 3900, max: 9000 }) }),
      fc.boolean(),
      (before, middle, after, escaped) => {
        const content = escaped ? JSON.stringify(middle).slice(1, -1) : middle
        const text = `{"m":"${'q'.repeat(before)}${content}${'w'.repeat(after)}"}`
        expect(scans(at(offset, text)), text).toBe(parses(text))
      },
    ),
    { numRuns: 1500 },
  )
})

it.each([
  ['a control character', '\u0001'],
  ['a line break', '\n'],
  ['a bad escape', '\\x'],
  ['half an escape', '\\u12'],
])('%s is a 400 at each place of a long string', (_what, bad) => {
  for (const place of [0, 1, 126, 127, 128, 129, 130, 131, 1023, 1024, 1025, 4096, 69_998, 69_999]) {
    const text = 'x'.repeat(70_000)
    const body = `{"model":"m","text":"${text.slice(0, place)}${bad}${text.slice(place)}"}`
    expect(() => wireBody(body), String(place)).toThrow(expect.objectContaining({ status: 400 }))
  }
})

it('a string without an end is a 400, whatever its length', () => {
  for (let length = 480; length < 560; length++) {
    for (const end of ['', '\\', '\\"', '\\u', '\\u00e'])
      expect(() => wireBody(`{"m":"${'x'.repeat(length)}${end}`)).toThrow(/ends too early|not valid JSON/)
  }
})

it('more than a thousand members at the top are refused at once, and as many below it are not', () => {
  const members = (count: number) => Array.from({ length: count }, (_, index) => `"k${index}":1`).join()
  const limits = { values: 200_000, numbers: 4_000_000 }
  const scanned = (text: string) => scanObject(Buffer.from(text), limits)
  expect(scanned(`{${members(1000)}}`).size).toBe(1000)
  expect(() => scanned(`{${members(1001)}}`)).toThrow(expect.objectContaining({ status: 400, code: 'too_many_values' }))
  // The rest is not read.
  expect(() => scanned(`{${members(1001)} broken`)).toThrow(/more than 1000 members at its top level/)
  expect(scanned(`{"below":{${members(5000)}}}`).size).toBe(1)
})

it('a scan in steps ends inside of long strings, and finds what one scan finds', () => {
  const long = 'some \\"quoted\\" text\\n'.repeat(150_000)
  const bytes = Buffer.from(`{"a":1,"long":"${long}","list":["${long}",{"b":"${long}"}],"end":[true]}`)
  const names = new MemberNames()
  const step = objectScan(bytes, { values: 1000, numbers: 1000 }, new KeyStack(), names)
  let steps = 1
  let members = step(10)
  while (members === null) {
    steps++
    members = step(10)
  }
  expect(members).toEqual(scanObject(bytes))
  expect(steps).toBeGreaterThan(6)
  const broken = Buffer.from(`{"list":["${long}${long}\n"]}`)
  const toTheEnd = objectScan(broken, { values: 1000, numbers: 1000 }, null)
  expect(() => {
    while (toTheEnd(10) === null);
  }).toThrow(expect.objectContaining({ status: 400 }))
})

it('many strings of a step count by their length', () => {
  const bytes = Buffer.from(
    `{"list":[${Array(1000)
      .fill(`"${'x'.repeat(25_600)}"`)
      .join()}]}`,
  )
  const step = objectScan(bytes, { values: 10_000, numbers: 10 }, null)
  let steps = 1
  while (step(2000) === null) steps++
  expect(steps).toBeGreaterThan(45)
})

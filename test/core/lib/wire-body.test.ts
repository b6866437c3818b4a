import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { editText } from '../../../core/json/edit-text.ts'
import { forkBody, parsedBody, wireBody } from '../../../core/json/wire-body.ts'
import type { Json } from '../../../core/types/request/canonical.ts'

const text = (body: ReturnType<typeof wireBody>) => new TextDecoder().decode(body.bytes)

describe('the linear scan', () => {
  it.each([
    ['an array', '[1]', /JSON object is required/],
    ['nothing', '', /JSON object is required/],
    ['a cut body', '{"a":{"b":[1,2', /ends too early/],
    ['text behind the object', '{"a":1} x', /text after the object/],
    ['a trailing comma', '{"a":1,}', /member name is missing/],
    ['a leading zero', '{"a":01}', /not valid JSON/],
    ['a raw newline in a string', '{"a":"\n"}', /not valid JSON/],
    ['a bad escape', '{"a":"\\x"}', /not valid JSON/],
    ['a half surrogate escape', '{"a":"\\u12"}', /not valid JSON/],
    ['single quotes', "{'a':1}", /member name is missing/],
    ['NaN', '{"a":NaN}', /not valid JSON/],
  ])('refuses %s with a 400 that says where', (_name, body, message) => {
    expect(() => wireBody(body)).toThrow(
      expect.objectContaining({
        status: 400,
        type: 'invalid_request_error',
        code: null,
        message: expect.stringMatching(message),
      }),
    )
  })

  it('refuses a key that is named twice, at any depth, escaped or not', () => {
    for (const body of [
      '{"model":"a","model":"b"}',
      '{"a":{"b":1,"b":2}}',
      '{"model":"a","mod\\u0065l":"b"}',
      `{${Array.from({ length: 40 }, (_, i) => `"k${i}":1`).join()},"k7":2}`,
    ]) {
      expect(() => wireBody(body), body.slice(0, 40)).toThrow(/twice/)
    }
    expect(() => wireBody('{"a":{"x":1},"b":{"x":1}}')).not.toThrow()
  })

  it('refuses more than 128 levels without recursion, however deep the bomb', () => {
    expect(() => wireBody(`{"a":${'['.repeat(127)}${']'.repeat(127)}}`)).not.toThrow()
    expect(() => wireBody(`{"a":${'['.repeat(128)}${']'.repeat(128)}}`)).toThrow(/128 levels/)
    expect(() => wireBody(`{"a":${'['.repeat(1_000_000)}`)).toThrow(/128 levels/)
  })

  it('accepts exactly what JSON.parse accepts, for objects', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 5 })), fc.integer({ min: 0, max: 3 }), (value, indent) => {
        expect(wireBody(JSON.stringify(value, null, indent)).json()).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ maxLength: 3 }), fc.jsonValue({ maxDepth: 2 })),
        fc.nat(),
        fc.string({ minLength: 1, maxLength: 1 }),
        (value, at, char) => {
          const good = JSON.stringify(value)
          const mutated = good.slice(0, at % good.length) + char + good.slice((at % good.length) + 1)
          let parsed: unknown
          try {
            parsed = JSON.parse(mutated)
          } catch {
            expect(() => wireBody(mutated)).toThrow()
            return
          }
          // Only duplicate keys are checked more strictly than by JSON.parse.
          if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) {
            try {
              expect(wireBody(mutated).json()).toEqual(parsed)
            } catch (error) {
              expect((error as Error).message).toMatch(/twice/)
            }
          } else expect(() => wireBody(mutated)).toThrow()
        },
      ),
      { numRuns: 2000 },
    )
  })

  it('takes 10 MB of base64 in one string', () => {
    const body = wireBody(`{"model":"m","image":"${'q7'.repeat(5_000_000)}"}`)
    expect(body.get('model')).toBe('m')
  })
})

describe('splices', () => {
  it('change only their member: 64-bit numbers, order and unknown fields survive', () => {
    const body = wireBody('{ "seed" : 9223372036854775807 , "model":"openai/gpt", "x": {"10":1,"2":[1.0, 2e0]} }')
    body.set('model', 'gpt')
    expect(text(body)).toBe('{ "seed" : 9223372036854775807 , "model":"gpt", "x": {"10":1,"2":[1.0, 2e0]} }')
    expect(body.edited).toBe(true)
  })

  it('reads the raw digits of a nested number', () => {
    const body = wireBody('{"a":[{"id":12345678901234567890}]}')
    expect(body.raw('a.0.id')).toBe('12345678901234567890')
    expect(body.raw('a.-1')).toBe('{"id":12345678901234567890}')
    expect(body.raw('a.1')).toBeUndefined()
  })

  it('takes a literal dot as `\\.`', () => {
    const body = wireBody('{"a.b":{"c":1}}')
    body.set('a\\.b.c', 2)
    expect(text(body)).toBe('{"a.b":{"c":2}}')
  })

  it('creates missing objects on the way, and never goes past a scalar', () => {
    const body = wireBody('{"a":1,"n":null}')
    body.set('options.inner.deep', true)
    body.set('a.b', 2)
    body.set('n.x', 3)
    expect(body.json()).toEqual({ a: 1, n: { x: 3 }, options: { inner: { deep: true } } })
  })

  it('leaves the original alone when a fork is edited', () => {
    const body = wireBody('{"model":"a"}')
    const fork = forkBody(body)
    fork.set('model', 'b')
    fork.remove('model')
    expect(text(fork)).toBe('{}')
    expect(text(body)).toBe('{"model":"a"}')
  })

  const key = fc.constantFrom('a', 'b', 'c', 'd.e')
  const path = fc.array(key, { minLength: 1, maxLength: 3 })
  const edit = fc.record({ remove: fc.boolean(), path, value: fc.jsonValue({ maxDepth: 1 }) })

  it('do what the same edits do to the parsed object', () => {
    fc.assert(
      fc.property(
        fc.dictionary(key, fc.oneof(fc.jsonValue({ maxDepth: 1 }), fc.dictionary(key, fc.dictionary(key, fc.integer())))),
        fc.array(edit, { maxLength: 8 }),
        (start, edits) => {
          const plain = JSON.parse(JSON.stringify(start)) as Record<string, Json>
          const body = wireBody(JSON.stringify(start))
          for (const { remove, path, value } of edits) {
            const dotted = path.map((segment) => segment.replaceAll('.', '\\.')).join('.')
            if (remove) {
              body.remove(dotted)
              removePlain(plain, path)
            } else {
              body.set(dotted, value as Json)
              setPlain(plain, path, JSON.parse(JSON.stringify(value)) as Json)
            }
          }
          expect(JSON.parse(new TextDecoder().decode(joined(body.toBytes())))).toEqual(plain)
        },
      ),
      { numRuns: 1500 },
    )
  })
})

function isObject(value: Json | undefined): value is { [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function setPlain(root: { [key: string]: Json }, path: string[], value: Json): void {
  let at = root
  for (const segment of path.slice(0, -1)) {
    const next = Object.hasOwn(at, segment) ? at[segment] : undefined
    if (next === undefined || next === null) {
      const made = {}
      at[segment] = made
      at = made
    } else if (isObject(next)) at = next
    else return
  }
  at[path.at(-1) as string] = value
}

function removePlain(root: { [key: string]: Json }, path: string[]): void {
  let at: Json = root
  for (const segment of path.slice(0, -1)) {
    if (!isObject(at) || !Object.hasOwn(at, segment)) return
    at = at[segment] as Json
  }
  if (isObject(at)) delete at[path.at(-1) as string]
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(pieces.flatMap((piece) => [...piece]))
}

describe('an answer that was edited in its text', () => {
  const answer = (source: string) => parsedBody(new TextEncoder().encode(source))
  const bytesOf = (whole: Uint8Array | string) => (typeof whole === 'string' ? new TextEncoder().encode(whole) : whole)

  it.each([
    '{"a":"plain","b":[1.50]}',
    '{"a":"größer 日本 👋","b":[1.50]}',
  ])('is the same as bytes and as a text: %s', (source) => {
    const edit = (body: ReturnType<typeof answer>) => editText(body, (given) => given.replace('{', '{"first":null,'))
    const wanted = new TextEncoder().encode(source.replace('{', '{"first":null,'))
    const [asText, asBytes, scanned] = [answer(source), answer(source), answer(source)]
    for (const body of [asText, asBytes, scanned]) expect([edit(body), body.edited]).toEqual([true, true])
    expect(bytesOf(asText.whole())).toEqual(wanted)
    expect(new Uint8Array(asBytes.bytes)).toEqual(wanted)
    expect(scanned.raw('b')).toBe('[1.50]')
    scanned.remove('first')
    expect(new TextDecoder().decode(bytesOf(scanned.whole()))).toBe(source)
  })

  it('one that is as it came is the bytes it came in', () => {
    const bytes = new TextEncoder().encode('{"a":1}')
    expect(parsedBody(bytes).whole()).toBe(bytes)
  })
})

import { createParser } from 'eventsource-parser'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createSseSplitter } from '../../../core/stream/sse.ts'
import type { SseFrame } from '../../../core/types/request/dialect.ts'

const encode = (text: string) => new TextEncoder().encode(text)

/** Returns frames of `bytes`, split at the given offsets. */
function split(bytes: Uint8Array, cuts: readonly number[]): { event: string | null; data: string; bytes: number[] }[] {
  const out: { event: string | null; data: string; bytes: number[] }[] = []
  const onFrame = (frame: SseFrame) => out.push({ event: frame.event, data: frame.data, bytes: [...frame.bytes] })
  const splitter = createSseSplitter()
  let from = 0
  for (const cut of [...new Set(cuts)].sort((a, b) => a - b)) {
    if (cut <= from || cut >= bytes.length) continue
    splitter.push(bytes.slice(from, cut), onFrame)
    from = cut
  }
  splitter.push(bytes.slice(from), onFrame)
  splitter.end(onFrame)
  return out
}

const STREAM = [
  ': a comment\n\n',
  'event: first\ndata: {"text":"héllo 👋"}\n\n',
  'data:no space\n\n',
  'id: 7\nretry: 10\ndata: one\ndata: two\n\n',
  '\n\n',
  'event: crlf\r\ndata: x\r\n\r\n',
  'data: cr only\r\r',
  'data: mixed\r\n\n',
  'data\n\n',
  'data: last',
].join('')

describe('SSE framing', () => {
  it('gives the same frames for every split offset', () => {
    const bytes = encode(STREAM)
    const whole = split(bytes, [])
    for (let at = 1; at < bytes.length; at++)
      expect(
        split(bytes, [at]).map(({ event, data }) => ({ event, data })),
        `split at ${at}`,
      ).toEqual(whole.map(({ event, data }) => ({ event, data })))
  })

  it('gives the same frames for one-byte reads', () => {
    const bytes = encode(STREAM)
    const every = Array.from({ length: bytes.length }, (_, at) => at)
    expect(split(bytes, every).map(({ data }) => data)).toEqual(split(bytes, []).map(({ data }) => data))
  })

  it('keeps the bytes of LF and CRLF frames, so that forwarding them changes nothing', () => {
    const bytes = encode('event: a\ndata: 1\n\n: ping\n\ndata: 2\r\n\r\n')
    expect(new TextDecoder().decode(new Uint8Array(split(bytes, [3, 9, 20]).flatMap((frame) => frame.bytes)))).toBe(
      'event: a\ndata: 1\n\n: ping\n\ndata: 2\r\n\r\n',
    )
  })

  it('strips a byte order mark', () => {
    expect(split(encode('\ufeffdata: x\n\n'), [1, 2])).toMatchObject([{ data: 'x' }])
  })

  it('reads invalid UTF-8 as U+FFFD and lives on', () => {
    const bytes = new Uint8Array([...encode('data: a'), 0xff, ...encode('b\n\ndata: c\n\n')])
    expect(split(bytes, []).map(({ data }) => data)).toEqual(['a\ufffdb', 'c'])
  })

  it('refuses an event larger than its limit', () => {
    const splitter = createSseSplitter({ maxEventBytes: 64 })
    expect(() => {
      for (let i = 0; i < 20; i++) splitter.push(encode('data: xxxxxxxx'), () => {})
    }).toThrow(/larger than the limit/)
  })

  const newline = fc.constantFrom('\n', '\r\n', '\r')
  const line = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 20 }).map((text) => `data: ${text.replace(/[\r\n]/g, '')}`),
    fc.constantFrom(': comment', 'event: named', 'data:', 'id: 3', 'data', 'unknown: x'),
  )
  const stream = fc
    .tuple(newline, fc.array(fc.array(line, { minLength: 1, maxLength: 4 }), { maxLength: 8 }))
    .map(([end, events]) => events.map((lines) => lines.join(end) + end + end).join(''))

  it('agrees with an independent parser on random events, newline styles and splits', () => {
    fc.assert(
      fc.property(stream, fc.array(fc.nat(400), { maxLength: 12 }), (text, cuts) => {
        const expected: { event: string | null; data: string }[] = []
        const parser = createParser({ onEvent: ({ event, data }) => expected.push({ event: event ?? null, data }) })
        // The other parser waits for the LF that may follow a final CR.
        parser.feed(`${text}\n`)
        const ours = split(encode(text), cuts).filter((frame) => frame.data !== '')
        expect(ours.map(({ event, data }) => ({ event, data }))).toEqual(expected.filter(({ data }) => data !== ''))
      }),
      { numRuns: 1500 },
    )
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { chatReplies } from '../../../../adapters/testing/replies/chat.ts'
import { pieces as splitText } from '../../../../adapters/testing/replies/reply.ts'
import { wireBody } from '../../../../core/json/wire-body.ts'
import { replay } from '../../../../core/stream/collect.ts'
import type { CanonicalResponse, Finish } from '../../../../core/types/request/answer.ts'
import type { Part } from '../../../../core/types/request/canonical.ts'
import type { StreamEvent } from '../../../../core/types/request/stream.ts'
import { type Cut, codec, decodeEvents, driver, encodeEvents, filter, framesOf, only, partsOf } from './support.ts'

const words = fc
  .string({ unit: 'binary', minLength: 1, maxLength: 12 })
  .map((text) => text.replace(/[\ud800-\udfff]/g, '\u{1f600}'))
const args = fc
  .dictionary(fc.string({ maxLength: 4 }), fc.oneof(fc.integer(), words), { maxKeys: 3 })
  .map((value) => JSON.stringify(value))
const pieces = fc.integer({ min: 1, max: 7 })

/** Splits at random places, or into single bytes. */
const cuts: fc.Arbitrary<Cut> = fc
  .array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 20 })
  .map((sizes) => (bytes) => {
    const out: Uint8Array[] = []
    for (let at = 0, turn = 0; at < bytes.length; turn++) {
      const size = sizes[turn % sizes.length] as number
      out.push(bytes.slice(at, at + size))
      at += size
    }
    return out
  })

const parts = fc
  .record({
    reasoning: fc.option(words, { nil: undefined }),
    text: fc.option(words, { nil: undefined }),
    calls: fc.array(fc.record({ name: fc.constantFrom('f', 'g'), args }), { maxLength: 3 }),
  })
  .map(({ reasoning, text, calls }): Part[] => [
    ...(reasoning === undefined ? [] : [{ t: 'reasoning' as const, text: reasoning }]),
    ...(text === undefined ? [] : [{ t: 'text' as const, text }]),
    ...calls.map((call, at): Part => ({ t: 'tool_call', id: `call_${at}`, idMinted: false, kind: 'function', ...call })),
  ])

/** Returns the parts as deltas of `size` characters. */
function stream(list: readonly Part[], size: number, finish: Finish): StreamEvent[] {
  const events: StreamEvent[] = [{ e: 'start', id: 'chatcmpl-x', model: 'm', created: 1 }]
  list.forEach((full, part) => {
    const split = (text: string) => splitText(text, size)
    if (full.t === 'tool_call') {
      events.push({
        e: 'part_start',
        choice: 0,
        part,
        kind: 'tool_call',
        meta: { id: full.id, idMinted: false, name: full.name, kind: 'function' },
      })
      for (const piece of split(full.args)) events.push({ e: 'delta', choice: 0, part, d: { args: piece } })
    } else if (full.t === 'text' || full.t === 'reasoning') {
      events.push({ e: 'part_start', choice: 0, part, kind: full.t, meta: {} })
      for (const piece of split(full.text))
        events.push({ e: 'delta', choice: 0, part, d: full.t === 'text' ? { text: piece } : { reasoning: piece } })
    }
    events.push({ e: 'part_stop', choice: 0, part, full })
  })
  events.push({ e: 'finish', choice: 0, finish, native: finish }, { e: 'end' })
  return events
}

describe('whatever is streamed', () => {
  it('encoding and decoding gives the same parts, however the bytes are cut', () => {
    fc.assert(
      fc.property(parts, pieces, cuts, (list, size, cut) => {
        const hasCall = list.some((part) => part.t === 'tool_call')
        const events = decodeEvents(encodeEvents(stream(list, size, hasCall ? 'tool_calls' : 'stop')), codec(), cut)
        expect(partsOf(events)).toEqual(list)
        expect(only(events, 'finish')).toMatchObject([{ finish: hasCall ? 'tool_calls' : 'stop' }])
        expect(events.at(-1)).toEqual({ e: 'end' })
      }),
      { numRuns: 300 },
    )
  })

  it('line ends, comments, a BOM and missing spaces change nothing', () => {
    fc.assert(
      fc.property(parts, pieces, cuts, fc.constantFrom('\n', '\r\n', '\r'), fc.boolean(), (list, size, cut, eol, spaced) => {
        const plain = encodeEvents(stream(list, size, 'stop'))
        const frames = plain.split('\n\n').filter((frame) => frame !== '')
        const odd = `\ufeff${frames.map((frame) => `: ping${eol}${eol}${spaced ? frame : frame.replace('data: ', 'data:')}${eol}${eol}`).join('')}`
        expect(decodeEvents(odd, codec(), cut)).toEqual(decodeEvents(plain))
      }),
      { numRuns: 150 },
    )
  })

  it('the byte lane keeps the parts and gives exactly one usage frame when asked', () => {
    fc.assert(
      fc.property(words, args, fc.boolean(), fc.boolean(), cuts, (text, call, withCall, includeUsage, cut) => {
        const sse = chatReplies.frames({ text, toolCalls: withCall ? [{ id: 'c', name: 'f', args: call }] : [] }).join('')
        const lane = filter(sse, codec({ stream: true, includeUsage }), cut)
        expect(partsOf(decodeEvents(lane.text))).toEqual(partsOf(decodeEvents(sse)))
        expect(framesOf(lane.text).frames.filter((frame) => frame.usage !== undefined && frame.usage !== null)).toHaveLength(
          includeUsage ? 1 : 0,
        )
        if (!includeUsage) expect(framesOf(lane.text).frames.every((frame) => !('usage' in frame))).toBe(true)
        expect(lane.facts).toMatchObject({
          terminal: true,
          error: null,
          contentBytes: Buffer.byteLength(text) + (withCall ? Buffer.byteLength(call) : 0),
        })
      }),
      { numRuns: 150 },
    )
  })

  it('a stream cut anywhere is an error or complete, never a short success', () => {
    const sse = chatReplies.frames({ text: 'hello you', toolCalls: [{ id: 'c', name: 'f', args: '{"a":1}' }] }).join('')
    const whole = partsOf(decodeEvents(sse))
    for (let at = 0; at < sse.length; at++) {
      const events = decodeEvents(sse.slice(0, at))
      const last = events.at(-1)
      expect(
        last?.e === 'error' || (last?.e === 'end' && JSON.stringify(partsOf(events)) === JSON.stringify(whole)),
        `cut at ${at}`,
      ).toBe(true)
      const lane = filter(sse.slice(0, at), codec({ stream: true }))
      expect(lane.facts.error !== null || lane.text.endsWith('data: [DONE]\n\n'), `cut at ${at}`).toBe(true)
    }
  })

  it('whole answers and replayed answers carry the same parts', () => {
    fc.assert(
      fc.property(parts, (list) => {
        const finish = list.some((part) => part.t === 'tool_call') ? 'tool_calls' : 'stop'
        const response: CanonicalResponse = {
          id: 'chatcmpl-x',
          created: 1,
          model: 'm',
          choices: [{ index: 0, parts: list, finish, nativeFinish: finish }],
          usage: { inputTotal: 1, cacheRead: 0, cacheWrite: 0, outputTotal: 1, total: 2, estimated: false, raw: null },
          ext: {},
        }
        const decoded = driver.decodeResponse(wireBody(driver.encodeResponse(response, codec())), codec())
        expect(decoded.choices[0]?.parts).toEqual(list)
        const events: StreamEvent[] = []
        replay(response, (event) => events.push(event))
        expect(partsOf(decodeEvents(encodeEvents(events)))).toEqual(list)
      }),
      { numRuns: 150 },
    )
  })

  it.each(['valueOf', 'constructor', '__proto__', 'toString'])('the finish reason `%s` is none that is known', (word) => {
    const sse = `data: ${JSON.stringify({ choices: [{ delta: { content: 'a' }, finish_reason: word }] })}\n\n`
    expect(() => filter(sse, codec({ includeUsage: true }))).not.toThrow()
    expect(decodeEvents(sse)).toContainEqual(expect.objectContaining({ e: 'finish', finish: 'other' }))
  })

  it('no JSON in a frame makes the decoders throw', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.json(),
            fc.record({ choices: fc.jsonValue(), usage: fc.jsonValue() }).map((value) => JSON.stringify(value)),
            fc
              .record({ delta: fc.jsonValue(), finish_reason: fc.jsonValue() })
              .map((choice) => JSON.stringify({ choices: [choice] })),
          ),
          { maxLength: 5 },
        ),
        (frames) => {
          const sse = frames.map((frame) => `data: ${frame.replaceAll('\n', ' ')}\n\n`).join('')
          expect(() => decodeEvents(sse)).not.toThrow()
          expect(() => filter(sse, codec({ includeUsage: true }))).not.toThrow()
        },
      ),
      { numRuns: 300 },
    )
  })
})

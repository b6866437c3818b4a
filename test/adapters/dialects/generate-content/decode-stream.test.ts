import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { generateContentReplies } from '../../../../adapters/testing/replies/generate-content.ts'
import { sseFrame } from '../../../../core/stream/sse.ts'
import type { Usage } from '../../../../core/types/request/answer.ts'
import type { StreamEvent } from '../../../../core/types/request/stream.ts'
import { codec, data, decodeEvents, driver, partsOf } from './support.ts'

const part = (value: object, finishReason?: string) => ({
  candidates: [{ content: { role: 'model', parts: [value] }, index: 0, ...(finishReason ? { finishReason } : {}) }],
})
const kinds = (events: readonly StreamEvent[]) => events.map((event) => event.e)
const last = (events: readonly StreamEvent[]) => events.at(-1)

describe('generate-content stream → canonical', () => {
  it('reads a whole vendor stream: thoughts, text, usage, finish, end', () => {
    const events = decodeEvents(
      generateContentReplies
        .frames({
          reasoning: { text: 'let me see', signature: 'SIG' },
          text: 'Hello there',
          usage: { input: 5, output: 9, reasoning: 4 },
        })
        .join(''),
    )
    expect(events[0]).toMatchObject({
      e: 'start',
      id: 'mXc0aOzKJ4qXz7IPu6Gl8Q4',
      model: 'gemini-3-flash',
      created: 1_700_000_000,
    })
    expect(partsOf(events)).toEqual([
      { t: 'reasoning', text: 'let me see' },
      { t: 'text', text: 'Hello there', signature: { dialect: 'generate_content', modelFamily: 'gemini', value: 'SIG' } },
    ])
    const usage = events.filter((event) => event.e === 'usage').at(-1)
    expect(usage).toMatchObject({ usage: { inputTotal: 5, outputTotal: 9, reasoning: 4, total: 14, estimated: false } })
    expect(events.slice(-2)).toEqual([{ e: 'finish', choice: 0, finish: 'stop', native: 'STOP' }, { e: 'end' }])
    expect(kinds(events).filter((kind) => kind === 'start')).toHaveLength(1)
  })

  it('the last usage block counts, a missing one erases nothing, and thoughts count once', () => {
    const withUsage = (usageMetadata: object, finish?: string) => ({ ...part({ text: 'a' }, finish), usageMetadata })
    const usageOf = (...items: object[]) => {
      const seen = decodeEvents(data(...items)).flatMap((event) => (event.e === 'usage' ? [event.usage as Usage] : []))
      return seen.at(-1)
    }
    expect(
      usageOf(
        withUsage({ promptTokenCount: 3, totalTokenCount: 3 }),
        withUsage({
          promptTokenCount: 3,
          candidatesTokenCount: 2,
          thoughtsTokenCount: 5,
          totalTokenCount: 10,
          cachedContentTokenCount: 1,
        }),
        part({ text: 'b' }, 'STOP'),
      ),
    ).toMatchObject({ inputTotal: 3, cacheRead: 1, outputTotal: 7, reasoning: 5, total: 10 })
    // Candidates that already include the thoughts.
    expect(
      usageOf(withUsage({ promptTokenCount: 3, candidatesTokenCount: 7, thoughtsTokenCount: 5, totalTokenCount: 10 }, 'STOP')),
    ).toMatchObject({ outputTotal: 7 })
    expect(
      usageOf(
        withUsage({ promptTokenCount: 3, toolUsePromptTokenCount: 2, candidatesTokenCount: 1, totalTokenCount: 6 }, 'STOP'),
      ),
    ).toMatchObject({
      inputTotal: 5,
      toolUsePrompt: 2,
      outputTotal: 1,
    })
    expect(usageOf(withUsage({ promptTokenCount: -3, candidatesTokenCount: 1 }, 'STOP'))).toMatchObject({ estimated: true })
  })

  it('argument digits survive and an error object in the stream is an error', () => {
    const raw =
      'data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"id":12345678901234567890}}}]},"finishReason":"STOP"}]}\n\n'
    expect(partsOf(decodeEvents(raw))[0]).toMatchObject({ args: '{"id":12345678901234567890}' })
    const events = decodeEvents(
      data(
        part({ text: 'a' }),
        { error: { code: 503, message: 'overloaded\nmore', status: 'UNAVAILABLE' } },
        part({ text: 'b' }, 'STOP'),
      ),
    )
    expect(last(events)).toEqual({ e: 'error', status: 503, code: 'UNAVAILABLE', message: 'overloaded', retryable: true })
    expect(kinds(events).filter((kind) => kind === 'delta')).toHaveLength(1)
    expect(last(decodeEvents(data([{ error: { message: 'x', status: 'RESOURCE_EXHAUSTED' } }])))).toMatchObject({
      status: 429,
      retryable: true,
    })
    expect(last(decodeEvents(data({ error: { message: 'x' } })))).toMatchObject({ status: 502 })
    expect(last(decodeEvents(data({ error: { code: 400, message: 'x' } })))).toMatchObject({ status: 400, retryable: false })
  })

  it('an end before any finish reason is an error, after one it is an end', () => {
    expect(last(decodeEvents(data(part({ text: 'a' }))))).toEqual({
      e: 'error',
      status: 502,
      code: 'upstream_error',
      message: 'The upstream closed the stream before it was complete.',
      retryable: true,
    })
    expect(last(decodeEvents(''))).toMatchObject({ e: 'error', status: 502 })
    expect(last(decodeEvents(data(part({ text: 'a' }, 'MAX_TOKENS'))))).toEqual({ e: 'end' })
  })

  it('tells a finish as soon as nothing can follow it, so that a reset behind it harms nothing', () => {
    const seen: string[] = []
    const decoder = driver.decodeStream(codec())
    const feed = (value: object): void => decoder.frame(sseFrame(data(value)), (event) => void seen.push(event.e))
    feed(part({ text: 'a' }))
    feed(part({ text: 'b' }, 'STOP'))
    expect(seen.at(-1)).toBe('finish')
    feed(part({ text: 'ignored' }))
    feed({ usageMetadata: { promptTokenCount: 1, totalTokenCount: 1 } })
    expect(seen.slice(-2)).toEqual(['finish', 'usage'])
  })

  it('reports a malformed frame once and ignores the rest', () => {
    const events = decodeEvents(`${data(part({ text: 'a' }))}data: {bad\n\n${data(part({ text: 'b' }, 'STOP'))}`)
    expect(events.filter((event) => event.e === 'error')).toEqual([expect.objectContaining({ status: 502, retryable: true })])
    expect(last(events)).toMatchObject({ e: 'error' })
  })

  it('a refused prompt is content_filter with empty output', () => {
    const events = decodeEvents(
      data({ promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: { promptTokenCount: 4, totalTokenCount: 4 } }),
    )
    expect(partsOf(events)).toEqual([])
    expect(events.slice(-2)).toEqual([
      { e: 'finish', choice: 0, finish: 'content_filter', native: 'SAFETY' },
      { e: 'end', ext: { generate_content: { promptFeedback: { blockReason: 'SAFETY' } } } },
    ])
  })

  it('a malformed call becomes a finish reason and no call', () => {
    const events = decodeEvents(generateContentReplies.frames({ finish: 'malformed_tool_call' }).join(''))
    expect(partsOf(events)).toEqual([])
    expect(events.at(-2)).toMatchObject({ finish: 'malformed_tool_call', native: 'MALFORMED_FUNCTION_CALL' })
  })

  it('any split, CR, LF or CRLF, comments, BOM, multi-line data give the same events', () => {
    const plain = generateContentReplies
      .frames({ text: 'Grüße 🎉 ok', toolCalls: [{ id: 'a', name: 'f', args: '{"x":"é"}' }] })
      .join('')
    const expected = decodeEvents(plain)
    for (const text of [
      plain.replaceAll('\r\n', '\n'),
      plain.replaceAll('\r\n', '\r'),
      `\uFEFF: hello\n\n${plain}`,
      plain.replaceAll('data: ', 'data:'),
      plain.replaceAll('data: {', 'data: {\r\ndata: '),
      `${plain}data: [DONE]\n\n`,
    ]) {
      expect(decodeEvents(text)).toEqual(expected)
    }
    const bytes = new TextEncoder().encode(plain)
    for (let at = 0; at <= bytes.length; at++)
      expect(decodeEvents(plain, codec(), () => [bytes.slice(0, at), bytes.slice(at)])).toEqual(expected)
    expect(decodeEvents(plain, codec(), (all) => [...all].map((byte) => Uint8Array.of(byte)))).toEqual(expected)
  })

  it('keeps the shape of a stream whatever arrives: one start, one terminal, balanced parts', () => {
    const wirePart = fc.oneof(
      fc.record({
        text: fc.string(),
        thought: fc.constantFrom(true, undefined),
        thoughtSignature: fc.constantFrom('S', undefined),
      }),
      fc.record({
        functionCall: fc.record({
          name: fc.constantFrom('f', 'g', ''),
          args: fc.constantFrom({}, { a: 1 }, undefined),
          willContinue: fc.constantFrom(true, undefined),
        }),
      }),
      fc.constant({ inlineData: { mimeType: 'image/png', data: 'AA' } }),
      fc.constant({ unknown: 1 }),
    )
    const chunk = fc.record({
      candidates: fc.array(
        fc.record({
          index: fc.constantFrom(0, 1),
          content: fc.record({ parts: fc.array(wirePart, { maxLength: 3 }) }),
          finishReason: fc.constantFrom('STOP', 'MAX_TOKENS', null, undefined),
        }),
        { maxLength: 2 },
      ),
    })
    fc.assert(
      fc.property(fc.array(chunk, { maxLength: 6 }), (chunks) => {
        const events = decodeEvents(data(...chunks))
        const terminals = events.filter((event) => event.e === 'end' || event.e === 'error')
        expect(terminals).toEqual([events.at(-1)])
        if (chunks.length > 0) expect(events[0]?.e).toBe('start')
        const open = new Set<string>()
        for (const event of events) {
          if (event.e === 'part_start') open.add(`${event.choice}:${event.part}`)
          else if (event.e === 'delta') expect(open.has(`${event.choice}:${event.part}`)).toBe(true)
          else if (event.e === 'part_stop') expect(open.delete(`${event.choice}:${event.part}`)).toBe(true)
        }
        if (events.at(-1)?.e === 'end') expect(open.size).toBe(0)
      }),
      { numRuns: 200 },
    )
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import { unwrapSignature } from '../../../../core/models/signature.ts'
import { PartWriter } from '../../../../core/stream/part-writer.ts'
import type { Finish } from '../../../../core/types/request/answer.ts'
import type { Json, JsonObject, Part } from '../../../../core/types/request/canonical.ts'
import type { StreamEvent } from '../../../../core/types/request/stream.ts'
import { codec, decodeEvents, driver, encodeEvents, items, partsOf } from './support.ts'

type Step = { text: string } | { reasoning: string } | { call: string; args: string }

function events(steps: readonly Step[], finish: Finish = 'stop'): StreamEvent[] {
  const out: StreamEvent[] = [{ e: 'start', id: 'chatcmpl-1', model: 'gpt-9', created: 1 }]
  const writer = new PartWriter()
  const emit = (event: StreamEvent): void => void out.push(structuredClone(event))
  for (const [key, step] of steps.entries()) {
    if ('text' in step) writer.text(0, step.text, emit)
    else if ('reasoning' in step) writer.reasoning(0, step.reasoning, emit)
    else {
      writer.toolStart(0, key, { id: `c${key}`, name: step.call }, emit)
      writer.toolArgs(0, key, step.args, emit)
      writer.toolStop(0, key, emit)
    }
  }
  writer.closeAll(0, emit)
  out.push({ e: 'finish', choice: 0, finish, native: finish })
  out.push({ e: 'usage', usage: { inputTotal: 10, cacheRead: 4, outputTotal: 6, reasoning: 2, total: 16 } })
  out.push({ e: 'end' })
  return out
}

const caller = (sse = true) => codec({ caller: 'generate_content', upstream: 'chat', sse })
const lastOf = (text: string): JsonObject => items(text).at(-1) as JsonObject
const finishOf = (text: string): Json | undefined => (lastOf(text).candidates as JsonObject[])[0]?.finishReason

describe('canonical → generate-content stream', () => {
  it('sends increments, calls whole, and finish and usage only on the last item', () => {
    const text = encodeEvents(
      events([{ reasoning: 'hm' }, { text: 'Hel' }, { text: 'lo' }, { call: 'f', args: '{"a":1}' }], 'tool_calls'),
    )
    expect(items(text)).toEqual([
      {
        candidates: [{ content: { parts: [{ text: 'hm', thought: true }], role: 'model' }, index: 0 }],
        modelVersion: 'gpt-9',
        responseId: 'id1',
      },
      {
        candidates: [{ content: { parts: [{ text: 'Hel' }], role: 'model' }, index: 0 }],
        modelVersion: 'gpt-9',
        responseId: 'id1',
      },
      {
        candidates: [{ content: { parts: [{ text: 'lo' }], role: 'model' }, index: 0 }],
        modelVersion: 'gpt-9',
        responseId: 'id1',
      },
      {
        candidates: [
          { content: { parts: [{ functionCall: { id: 'c3', name: 'f', args: { a: 1 } } }], role: 'model' }, index: 0 },
        ],
        modelVersion: 'gpt-9',
        responseId: 'id1',
      },
      {
        candidates: [{ content: { parts: [{ text: '' }], role: 'model' }, finishReason: 'STOP', index: 0 }],
        usageMetadata: {
          promptTokenCount: 10,
          candidatesTokenCount: 4,
          totalTokenCount: 16,
          cachedContentTokenCount: 4,
          thoughtsTokenCount: 2,
        },
        modelVersion: 'gpt-9',
        responseId: 'id1',
      },
    ])
  })

  it('no event lines, no [DONE], and a blank line at the end', () => {
    const text = encodeEvents(events([{ text: 'a' }]))
    expect(text).not.toMatch(/^event:/m)
    expect(text).not.toContain('[DONE]')
    expect(text.endsWith('\n\n')).toBe(true)
    for (const frame of text.split('\n\n').slice(0, -1)) expect(frame.startsWith('data: {')).toBe(true)
  })

  it('a call cut by the length limit is dropped, the finish stays MAX_TOKENS', () => {
    for (const args of ['{"a":', '']) {
      const text = encodeEvents(events([{ text: 'x' }, { call: 'f', args }], 'length'))
      expect(text).not.toContain('functionCall')
      expect(finishOf(text)).toBe('MAX_TOKENS')
    }
  })

  it('makes invalid arguments a MALFORMED_FUNCTION_CALL and no part', () => {
    for (const args of ['{bad', '[1]', '3']) {
      const text = encodeEvents(events([{ call: 'f', args }], 'tool_calls'))
      expect(text).not.toContain('"functionCall"')
      expect(finishOf(text)).toBe('MALFORMED_FUNCTION_CALL')
    }
  })

  it('sends a call without arguments as {} and keeps digits', () => {
    expect(encodeEvents(events([{ call: 'f', args: '' }, { text: 'after' }]))).toMatch(/"args":\{\}.*after/s)
    expect(encodeEvents(events([{ call: 'f', args: '' }], 'tool_calls'))).toContain('"args":{}')
    expect(encodeEvents(events([{ call: 'f', args: '{"n":12345678901234567890}' }]))).toContain('{"n":12345678901234567890}')
  })

  it('every finish maps to its finish reason', () => {
    const reasons = (
      ['stop', 'length', 'content_filter', 'refusal', 'stop_sequence', 'context_window', 'pause', 'other'] as const
    ).map((finish) => finishOf(encodeEvents(events([{ text: 'a' }], finish))))
    expect(reasons).toEqual(['STOP', 'MAX_TOKENS', 'SAFETY', 'SAFETY', 'STOP', 'MAX_TOKENS', 'STOP', 'OTHER'])
  })

  it('without alt=sse the items are a valid JSON array, also when the stream fails', () => {
    const whole = encodeEvents(events([{ text: 'a' }, { text: 'b' }]), caller(false))
    expect(JSON.parse(whole)).toHaveLength(3)
    expect(whole).toContain('},\r\n{')
    const failed = driver.encodeStream(caller(false))
    const started = events([{ text: 'a' }])
      .slice(0, 3)
      .map((event) => failed.event(event))
      .join('')
    const array = JSON.parse(started + failed.error(GatewayError.network('reset', 'gone'))) as JsonObject[]
    expect(array).toMatchObject([{ candidates: [{}] }, { error: { message: 'gone', code: 502, status: 'UNAVAILABLE' } }])
    expect(JSON.parse(driver.encodeStream(caller(false)).error(GatewayError.timeout('slow')))).toEqual([
      {
        error: {
          message: 'slow',
          code: 504,
          status: 'DEADLINE_EXCEEDED',
          details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'upstream_timeout', domain: 'hookgate' }],
        },
      },
    ])
  })

  it('the error frame carries a numeric code and nothing follows it', () => {
    const encoder = driver.encodeStream(caller())
    encoder.event({ e: 'start', id: 'x', model: 'm', created: 1 })
    expect(encoder.error(GatewayError.upstream(529, 'busy'))).toBe(
      'data: {"error":{"message":"busy","code":529,"status":"UNAVAILABLE"}}\n\n',
    )
    expect(encoder.event({ e: 'end' })).toBe('')
    expect(encoder.error(GatewayError.timeout('again'))).toBe('')
  })

  it('an end without anything before it still closes the answer', () => {
    expect(lastOf(encodeEvents([{ e: 'end' }]))).toMatchObject({
      candidates: [{ finishReason: 'STOP', content: { parts: [{ text: '' }] } }],
    })
  })

  it('wraps foreign secrets in base64 and sends own ones plain', () => {
    const foreign = { dialect: 'messages' as const, modelFamily: 'claude', value: 'sec.ret' }
    const signed = (signature: typeof foreign | { dialect: 'generate_content'; modelFamily: string; value: string }): string => {
      const out: StreamEvent[] = [{ e: 'start', id: '', model: 'm', created: 1 }]
      const writer = new PartWriter()
      writer.reasoning(0, 'hm', (event) => out.push(structuredClone(event)))
      writer.signature(0, signature, (event) => out.push(structuredClone(event)))
      writer.closeAll(0, (event) => out.push(structuredClone(event)))
      return encodeEvents([...out, { e: 'end' }])
    }
    const [, sent] = items(signed(foreign)).flatMap(
      (item) => (item.candidates as { content: { parts: JsonObject[] } }[])[0]?.content.parts ?? [],
    )
    expect(sent).toMatchObject({ text: '', thought: true })
    expect(sent?.thoughtSignature).toMatch(/^[A-Za-z0-9+/]+=*$/)
    expect(unwrapSignature(sent?.thoughtSignature as string)).toEqual(foreign)
    expect(signed({ dialect: 'generate_content', modelFamily: 'gemini', value: 'OWN=' })).toContain('"thoughtSignature":"OWN="')
  })

  it('sends what only the whole part tells: encrypted reasoning, redacted reasoning, images', () => {
    const full = (kind: 'reasoning' | 'redacted' | 'image', part: Part): string =>
      encodeEvents([
        { e: 'part_start', choice: 0, part: 0, kind, meta: {} },
        { e: 'part_stop', choice: 0, part: 0, full: part },
        { e: 'end' },
      ])
    const secret = (text: string) => unwrapSignature(String(/"thoughtSignature":"([^"]+)"/.exec(text)?.[1]))
    expect(
      secret(
        full('reasoning', { t: 'reasoning', text: '', encrypted: { dialect: 'responses', modelFamily: 'gpt', value: 'E' } }),
      ),
    ).toMatchObject({ dialect: 'responses', value: 'E' })
    expect(secret(full('redacted', { t: 'reasoning', text: '', redacted: 'R' }))).toMatchObject({
      modelFamily: 'redacted',
      value: 'R',
    })
    expect(full('image', { t: 'image', src: { kind: 'base64', data: 'AA', mime: 'image/png' } })).toContain(
      '{"inlineData":{"mimeType":"image/png","data":"AA"}}',
    )
  })

  it('keeps choices apart', () => {
    const out: StreamEvent[] = [{ e: 'start', id: '', model: 'm', created: 1 }]
    const writer = new PartWriter()
    for (const choice of [1, 0]) writer.text(choice, `c${choice}`, (event) => out.push(event))
    out.push(
      { e: 'finish', choice: 0, finish: 'stop', native: '' },
      { e: 'finish', choice: 1, finish: 'length', native: '' },
      { e: 'end' },
    )
    expect(lastOf(encodeEvents(out)).candidates).toMatchObject([
      { index: 0, finishReason: 'STOP' },
      { index: 1, finishReason: 'MAX_TOKENS' },
    ])
  })

  it('decodes back to the same parts, whatever the sequence and the split', () => {
    const step = fc.oneof(
      fc.record({ text: fc.string({ minLength: 1, unit: 'grapheme' }) }),
      fc.record({ reasoning: fc.string({ minLength: 1 }) }),
      fc.record({ call: fc.constantFrom('f', 'g'), args: fc.constantFrom('{}', '{"a":[1,"ü"]}', '{"n":12345678901234567890}') }),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 8 }), fc.integer({ min: 1, max: 40 }), (steps, size) => {
        const source = events(steps)
        const back = decodeEvents(encodeEvents(source), codec(), (bytes) => {
          const chunks: Uint8Array[] = []
          for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.slice(at, at + size))
          return chunks
        })
        expect(partsOf(back)).toEqual(partsOf(source))
        expect(back.at(-1)).toEqual({ e: 'end' })
      }),
      { numRuns: 150 },
    )
  })
})

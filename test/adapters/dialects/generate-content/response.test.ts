import { describe, expect, it } from 'vitest'
import { generateContentReplies } from '../../../../adapters/testing/replies/generate-content.ts'
import { wireBody } from '../../../../core/json/wire-body.ts'
import type { CanonicalResponse } from '../../../../core/types/request/answer.ts'
import type { JsonObject, Part } from '../../../../core/types/request/canonical.ts'
import { codec, driver, freeze, toolCall } from './support.ts'

const body = (value: object) => wireBody(JSON.stringify(value))
const decode = (value: object, on = codec()) => driver.decodeResponse(body(value), on)

function response(parts: Part[], overrides: Partial<CanonicalResponse['choices'][number]> = {}): CanonicalResponse {
  return {
    id: 'chatcmpl-1',
    created: 1,
    model: 'gpt-9',
    choices: [{ index: 0, parts, finish: 'stop', nativeFinish: 'stop', ...overrides }],
    usage: { inputTotal: 10, cacheRead: 4, cacheWrite: 0, outputTotal: 6, reasoning: 2, total: 16, estimated: false, raw: null },
    ext: {},
  }
}

const encode = (value: CanonicalResponse, on = codec({ caller: 'generate_content', upstream: 'chat' })): JsonObject =>
  JSON.parse(driver.encodeResponse(freeze(value), on)) as JsonObject

describe('generate-content answers, whole', () => {
  it('reads a vendor answer', () => {
    const answer = decode(
      generateContentReplies.json({
        reasoning: { text: 'hm', signature: 'S' },
        text: 'hi',
        toolCalls: [
          { id: 'a', name: 'f', args: '{"x":1}' },
          { id: 'b', name: 'f', args: '' },
        ],
        usage: { input: 9, cacheRead: 3, output: 8, reasoning: 5 },
      }),
    )
    expect(answer.choices).toMatchObject([
      {
        index: 0,
        finish: 'tool_calls',
        nativeFinish: 'STOP',
        parts: [
          { t: 'reasoning', text: 'hm' },
          { t: 'text', text: 'hi' },
          { t: 'tool_call', id: 'a', args: '{"x":1}', signature: { value: 'S', modelFamily: 'gemini' } },
          { t: 'tool_call', id: 'b', args: '{}' },
        ],
      },
    ])
    expect(answer.usage).toMatchObject({ inputTotal: 9, cacheRead: 3, outputTotal: 8, reasoning: 5, total: 17, estimated: false })
    expect(answer).toMatchObject({ model: 'gemini-3-flash', created: 1_700_000_000 })
  })

  it('counts missing usage as estimated and an explicit zero as zero', () => {
    expect(decode(generateContentReplies.json({ text: 'a', usage: null })).usage).toMatchObject({
      inputTotal: 0,
      outputTotal: 0,
      estimated: true,
    })
    expect(
      decode({ candidates: [{ content: { parts: [] }, finishReason: 'STOP' }], usageMetadata: { promptTokenCount: 0 } }).usage,
    ).toMatchObject({ estimated: false })
  })

  it('a refused prompt is content_filter with empty output', () => {
    const answer = decode({ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' }, usageMetadata: { promptTokenCount: 4 } })
    expect(answer.choices).toEqual([{ index: 0, parts: [], finish: 'content_filter', nativeFinish: 'PROHIBITED_CONTENT' }])
    expect(encode(answer, codec({ caller: 'generate_content' }))).toMatchObject({
      promptFeedback: { blockReason: 'PROHIBITED_CONTENT' },
    })
  })

  it('a malformed call becomes a finish reason and no call', () => {
    const answer = decode(generateContentReplies.json({ finish: 'malformed_tool_call' }))
    expect(answer.choices[0]).toMatchObject({ parts: [], finish: 'malformed_tool_call', nativeFinish: 'MALFORMED_FUNCTION_CALL' })
  })

  it('throws for errors in disguise and for nothing at all', () => {
    expect(() => decode({ error: { code: 429, message: 'slow down', status: 'RESOURCE_EXHAUSTED' } })).toThrow(
      expect.objectContaining({
        status: 429,
        upstream: expect.objectContaining({ status: 429, kind: 'status', vendorCode: 'RESOURCE_EXHAUSTED' }),
      }),
    )
    expect(() => decode({})).toThrow(
      expect.objectContaining({ status: 502, upstream: expect.objectContaining({ kind: 'protocol' }) }),
    )
    expect(() => decode({ candidates: [], usageMetadata: { promptTokenCount: 1 } })).toThrow(
      expect.objectContaining({ status: 502 }),
    )
  })

  it('writes text, thoughts, calls, usage and finish for Gemini callers', () => {
    const parts: Part[] = [
      { t: 'reasoning', text: '', summary: ['one', 'two'] },
      { t: 'text', text: 'hi' },
      toolCall('c1', 'f', '{"n":12345678901234567890}'),
    ]
    expect(
      driver.encodeResponse(
        freeze(response(parts, { finish: 'tool_calls' })),
        codec({ caller: 'generate_content', upstream: 'chat' }),
      ),
    ).toBe(
      '{"candidates":[{"content":{"parts":[{"text":"one\\n\\ntwo","thought":true},{"text":"hi"},' +
        '{"functionCall":{"id":"c1","name":"f","args":{"n":12345678901234567890}}}],"role":"model"},"finishReason":"STOP","index":0}],' +
        '"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":4,"totalTokenCount":16,"cachedContentTokenCount":4,"thoughtsTokenCount":2},' +
        '"modelVersion":"gpt-9","responseId":"id1"}',
    )
  })

  it('a call cut by the length limit is dropped; invalid arguments are MALFORMED_FUNCTION_CALL', () => {
    const candidate = (parts: Part[], finish: 'length' | 'tool_calls') =>
      (encode(response(parts, { finish })).candidates as JsonObject[])[0]
    expect(candidate([toolCall('1', 'f', '{"a":')], 'length')).toMatchObject({
      finishReason: 'MAX_TOKENS',
      content: { parts: [{ text: '' }] },
    })
    expect(candidate([toolCall('1', 'f', '')], 'length')).toMatchObject({
      finishReason: 'MAX_TOKENS',
      content: { parts: [{ text: '' }] },
    })
    expect(candidate([{ t: 'text', text: 'a' }, toolCall('1', 'f', '{bad')], 'tool_calls')).toMatchObject({
      finishReason: 'MALFORMED_FUNCTION_CALL',
      content: { parts: [{ text: 'a' }] },
    })
  })

  it('gives a Gemini caller back what only Gemini said when a plugin re-encodes its answer', () => {
    const wire = {
      candidates: [
        {
          content: { parts: [{ text: 'x', thoughtSignature: 'S' }], role: 'model' },
          finishReason: 'RECITATION',
          index: 0,
          safetyRatings: [{ category: 'C', probability: 'LOW' }],
          groundingMetadata: { webSearchQueries: ['q'] },
          citationMetadata: { citations: [] },
          avgLogprobs: -0.1,
        },
      ],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
      modelVersion: 'gemini-3-flash',
      responseId: 'R',
    }
    expect(encode(decode(wire), codec({ caller: 'generate_content' }))).toEqual(wire)
  })

  it('turns citations and log probabilities of others into Gemini’s', () => {
    const text: Part = {
      t: 'text',
      text: 'é yes',
      annotations: [{ kind: 'url', url: 'https://e.com', start: 2, end: 5, raw: null, dialect: 'chat' }],
    }
    const candidate = (
      encode(response([text], { logprobs: { content: [{ token: 'é', logprob: -1, top_logprobs: [] }] } }))
        .candidates as JsonObject[]
    )[0]
    expect(candidate).toMatchObject({
      groundingMetadata: {
        groundingChunks: [{ web: { uri: 'https://e.com' } }],
        groundingSupports: [{ segment: { startIndex: 3, endIndex: 6, text: 'yes' }, groundingChunkIndices: [0] }],
      },
      logprobsResult: { chosenCandidates: [{ token: 'é', logProbability: -1 }], topCandidates: [{ candidates: [] }] },
    })
  })

  it('another vendor’s word on safety is no list of ratings', () => {
    const refused = response([{ t: 'text', text: 'No' }], { safety: { type: 'refusal', category: 'cyber' }, finish: 'refusal' })
    const [candidate] = encode(refused).candidates as JsonObject[]
    expect(candidate).toMatchObject({ finishReason: 'SAFETY' })
    expect(candidate).not.toHaveProperty('safetyRatings')
  })

  it('inspects without decoding: usage, finish, errors', () => {
    const inspect = (value: object) => driver.inspectResponse(body(value), codec())
    expect(inspect(generateContentReplies.json({ toolCalls: [{ id: 'a', name: 'f', args: '{}' }] }))).toMatchObject({
      usage: { inputTotal: 12, outputTotal: 7 },
      finish: 'tool_calls',
      content: true,
      error: null,
    })
    expect(inspect({ error: { code: 503, message: 'x' } }).error).toMatchObject({ status: 503 })
    expect(inspect({}).error).toMatchObject({ status: 502 })
    expect(inspect({ promptFeedback: { blockReason: 'SAFETY' } })).toMatchObject({
      finish: 'content_filter',
      error: null,
      content: false,
    })
  })
})

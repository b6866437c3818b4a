import { describe, expect, it } from 'vitest'
import type { JsonObject, Signature } from '../../../../core/types/request/canonical.ts'
import { assistant, codec, driver, encode, freeze, request, toolCall, toolResult, user } from './support.ts'

const own: Signature = { dialect: 'generate_content', modelFamily: 'gemini', value: 'REAL' }
const sentinel = 'skip_thought_signature_validator'

type Contents = { role: string; parts: JsonObject[] }[]
const contentsOf = (body: JsonObject): Contents => body.contents as Contents

describe('canonical → generate-content request', () => {
  it('addresses the model in the path and asks for SSE when streaming', () => {
    expect(encode(request()).path).toBe('/v1beta/models/gemini-3-flash:generateContent')
    expect(encode(request({ stream: true }), codec({ model: 'pub/m:1 x' })).path).toBe(
      '/v1beta/models/pub/m%3A1%20x:streamGenerateContent?alt=sse',
    )
    expect(encode(request(), codec({ model: 'pub/m', quirks: { modelIsOneSegment: true } })).path).toBe(
      '/v1beta/models/pub%2Fm:generateContent',
    )
  })

  it('sends leading instructions as systemInstruction and later ones in place', () => {
    const { body } = encode(
      request({
        system: [
          { role: 'system', parts: [{ t: 'text', text: 'A' }] },
          { role: 'developer', parts: [{ t: 'text', text: 'B' }] },
        ],
        messages: [user('hi'), assistant('ho'), { role: 'system', parts: [{ t: 'text', text: 'C' }] }, user('on')],
      }),
    )
    expect(body.systemInstruction).toEqual({ parts: [{ text: 'A' }, { text: 'B' }] })
    expect(contentsOf(body)).toEqual([
      { role: 'user', parts: [{ text: 'hi' }] },
      { role: 'model', parts: [{ text: 'ho' }] },
      { role: 'user', parts: [{ text: '<system-reminder>\nC\n</system-reminder>' }, { text: 'on' }] },
    ])
  })

  it('puts instructions for gemma at the start of the first user turn', () => {
    const { body } = encode(
      request({ system: [{ role: 'system', parts: [{ t: 'text', text: 'A' }] }] }),
      codec({ model: 'gemma-3-27b-it' }),
    )
    expect(body).not.toHaveProperty('systemInstruction')
    expect(contentsOf(body)[0]?.parts).toEqual([{ text: 'A' }, { text: 'hi' }])
  })

  it('merges adjacent roles, drops empty turns and starts with the user', () => {
    const { body } = encode(request({ messages: [assistant('a'), assistant(), user(''), assistant('b'), user('c'), user('d')] }))
    expect(contentsOf(body)).toEqual([
      { role: 'user', parts: [{ text: 'Continue.' }] },
      { role: 'model', parts: [{ text: 'a' }, { text: 'b' }] },
      { role: 'user', parts: [{ text: 'c' }, { text: 'd' }] },
    ])
  })

  it('a lone system message becomes one user turn; an empty request is refused', () => {
    const { body } = encode(request({ system: [{ role: 'system', parts: [{ t: 'text', text: 'A' }] }], messages: [] }))
    expect(contentsOf(body)).toEqual([{ role: 'user', parts: [{ text: 'Continue.' }] }])
    expect(() => encode(request({ messages: [user('')] }))).toThrow(
      expect.objectContaining({ status: 400, param: 'messages', code: 'unsupported_for_target', skip: 'unsupported' }),
    )
  })

  it('results are sent in call order, with names by id, and text and errors wrapped', () => {
    const { body } = encode(
      request({
        messages: [
          user('go'),
          assistant(toolCall('a', 'fa'), toolCall('b', 'fb'), toolCall('c', 'fc')),
          toolResult('c', 'plain'),
          toolResult('a', '{"n":12345678901234567890}'),
          toolResult('b', 'bad', { isError: true }),
          user('and?'),
        ],
      }),
    )
    expect(contentsOf(body)[2]).toEqual({
      role: 'user',
      parts: [
        { functionResponse: { id: 'a', name: 'fa', response: { n: 12345678901234567000 } } },
        { functionResponse: { id: 'b', name: 'fb', response: { error: 'bad' } } },
        { functionResponse: { id: 'c', name: 'fc', response: { output: 'plain' } } },
        { text: 'and?' },
      ],
    })
  })

  it('numbers in arguments and results keep their digits', () => {
    const { text } = encode(
      request({
        messages: [
          user('go'),
          assistant(toolCall('a', 'f', '{"id":12345678901234567890}')),
          toolResult('a', '{"n":98765432109876543210}'),
        ],
      }),
    )
    expect(text).toContain('"args":{"id":12345678901234567890}')
    expect(text).toContain('"response":{"n":98765432109876543210}')
  })

  it('an empty result is an empty output', () => {
    const { body } = encode(request({ messages: [user('go'), assistant(toolCall('a', 'f')), toolResult('a', '')] }))
    expect(contentsOf(body)[2]?.parts[0]).toMatchObject({ functionResponse: { response: { output: '' } } })
  })

  it('answers every call, tells orphans as text, and lets the last of two results count', () => {
    const on = codec()
    const { body } = encode(
      request({
        messages: [
          user('go'),
          assistant(toolCall('a', 'f'), toolCall('b', 'g')),
          toolResult('a', 'old'),
          toolResult('a', 'new'),
          toolResult('z', 'lost'),
          toolResult('y', ''),
        ],
      }),
      on,
    )
    expect(contentsOf(body)[2]?.parts).toEqual([
      { functionResponse: { id: 'a', name: 'f', response: { output: 'new' } } },
      { functionResponse: { id: 'b', name: 'g', response: { error: 'No result provided' } } },
      { text: 'Tool result: lost' },
    ])
    expect(on.warnings).toEqual(['missing_tool_result'])
  })

  it('gives a history that ends with calls their responses', () => {
    const { body } = encode(request({ messages: [user('go'), assistant(toolCall('a', 'f'))] }))
    expect(contentsOf(body).map((content) => content.role)).toEqual(['user', 'model', 'user'])
  })

  it('sends call ids on 3 and later, not on 2.x and not to Vertex', () => {
    const messages = [user('go'), assistant(toolCall('a', 'f')), toolResult('a', 'x')]
    expect(encode(request({ messages })).text).toContain('"id":"a"')
    expect(encode(request({ messages }), codec({ model: 'gemini-2.5-pro' })).text).not.toContain('"id"')
    expect(encode(request({ messages }), codec({ quirks: { noFunctionIds: true } })).text).not.toContain('"id"')
  })

  it('puts media of a result inside it on 3 and beside it before', () => {
    const image = { t: 'image' as const, src: { kind: 'base64' as const, data: 'AA', mime: 'image/png' } }
    const messages = [
      user('go'),
      assistant(toolCall('a', 'f'), toolCall('b', 'f')),
      toolResult('a', '', { parts: [image] }),
      toolResult('b', 'x'),
    ]
    const inline = { inlineData: { mimeType: 'image/png', data: 'AA' } }
    expect(contentsOf(encode(request({ messages })).body)[2]?.parts[0]).toMatchObject({ functionResponse: { parts: [inline] } })
    expect(contentsOf(encode(request({ messages }), codec({ model: 'gemini-2.5-pro' })).body)[2]?.parts.slice(1)).toEqual([
      { functionResponse: { name: 'f', response: { output: 'x' } } },
      inline,
    ])
  })

  it('on version 3 only, lost signatures get the sentinel on the first call of each step of the current turn', () => {
    const messages = [
      user('old'),
      assistant(toolCall('1', 'f')),
      toolResult('1', 'x'),
      assistant('done'),
      user('new'),
      assistant(toolCall('2', 'f'), toolCall('3', 'f')),
      toolResult('2', 'x'),
      toolResult('3', 'x'),
      assistant(toolCall('4', 'f')),
      toolResult('4', 'x'),
    ]
    const signatures = (model: string) =>
      contentsOf(encode(request({ messages }), codec({ model })).body)
        .flatMap((content) => content.parts)
        .filter((part) => part.functionCall !== undefined)
        .map((part) => part.thoughtSignature)
    expect(signatures('gemini-3-flash')).toEqual([undefined, sentinel, undefined, sentinel])
    expect(signatures('gemini-2.5-flash')).toEqual([undefined, undefined, undefined, undefined])
  })

  it('a real signature is sent instead of the sentinel, and the second parallel call has none', () => {
    const messages = [
      user('go'),
      assistant(toolCall('1', 'f', '{}', { signature: own }), toolCall('2', 'f')),
      toolResult('1', 'x'),
      toolResult('2', 'x'),
    ]
    const parts = contentsOf(encode(request({ messages })).body)[1]?.parts ?? []
    expect(parts.map((part) => part.thoughtSignature)).toEqual(['REAL', undefined])
  })

  it('a foreign or unsigned thought is dropped, a signed one of this vendor is replayed', () => {
    const claude: Signature = { dialect: 'messages', modelFamily: 'claude', value: 'X' }
    const messages = [
      user('go'),
      assistant(
        { t: 'reasoning', text: 'foreign', signature: claude },
        { t: 'reasoning', text: 'bare' },
        { t: 'reasoning', text: 'mine', signature: own },
        {
          t: 'text',
          text: 'ok',
          signature: claude,
        },
      ),
      user('on'),
    ]
    expect(contentsOf(encode(request({ messages })).body)[1]?.parts).toEqual([
      { text: 'mine', thought: true, thoughtSignature: 'REAL' },
      { text: 'ok' },
    ])
  })

  it('gives a call the signature that came back in an empty reasoning block', () => {
    const messages = [
      user('go'),
      assistant({ t: 'reasoning', text: '', signature: own }, toolCall('1', 'f')),
      toolResult('1', 'x'),
    ]
    expect(contentsOf(encode(request({ messages })).body)[1]?.parts).toMatchObject([
      { functionCall: { name: 'f' }, thoughtSignature: 'REAL' },
    ])
  })

  it('maps sampling, stop, seed, logprobs, tokens and candidates', () => {
    const on = codec()
    const { body } = encode(
      request({
        sampling: {
          temperature: 1.5,
          topP: 0.9,
          topK: 4,
          seed: 7,
          n: 2,
          presencePenalty: 1,
          frequencyPenalty: -1,
          logitBias: { 5: 1 },
        },
        stop: ['1', '2', '', '3', '4', '5', '6'],
        maxTokens: 50,
        logprobs: { enabled: true, top: 3 },
        serviceTier: 'default',
        parallelToolCalls: false,
        metadata: { a: 'b' },
        endUser: 'u',
      }),
      on,
    )
    expect(body).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
      generationConfig: {
        temperature: 1.5,
        topP: 0.9,
        topK: 4,
        seed: 7,
        candidateCount: 2,
        presencePenalty: 1,
        frequencyPenalty: -1,
        maxOutputTokens: 50,
        stopSequences: ['1', '2', '3', '4', '5'],
        responseLogprobs: true,
        logprobs: 3,
      },
      serviceTier: 'standard',
    })
    expect(on.warnings).toEqual(['dropped_logit_bias', 'stop_truncated'])
  })

  it('does not touch the request and encodes the same again on the next attempt', () => {
    const wanted = freeze(
      request({
        tools: [{ t: 'function', name: 'a b', schema: { type: 'object', properties: { x: { type: 'string' } } } }],
        stop: ['x'],
      }),
    )
    const first = driver.encodeRequest(wanted, codec({ model: 'gemini-2.0-flash' }))
    const second = driver.encodeRequest(wanted, codec({ model: 'gemini-2.0-flash' }))
    expect(second.body.bytes).toEqual(first.body.bytes)
  })
})

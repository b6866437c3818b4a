import { describe, expect, it } from 'vitest'
import { responsesReplies } from '../../../../adapters/testing/replies/responses.ts'
import { wireBody } from '../../../../core/json/wire-body.ts'
import { codec, decoded, driver, encoded, type Wire } from './support.ts'

describe('responses: decoding an answer', () => {
  it('reads the vendor’s body', () => {
    const body = responsesReplies.json({
      text: 'hello',
      reasoning: { text: 'hm', signature: 'gAAA' },
      toolCalls: [{ id: 'call_1', name: 'f', args: '{"id":12345678901234567890}' }],
      usage: { input: 20, cacheRead: 5, cacheWrite: 2, output: 9, reasoning: 4 },
    })
    const answer = decoded(body, codec({ caller: 'chat' }))
    expect(answer).toMatchObject({
      id: expect.stringMatching(/^resp_/),
      serviceTier: 'default',
      usage: { inputTotal: 20, cacheRead: 5, cacheWrite: 2, outputTotal: 9, reasoning: 4, total: 29, estimated: false },
    })
    expect(answer.choices).toMatchObject([
      {
        finish: 'tool_calls',
        nativeFinish: 'completed',
        parts: [
          { t: 'reasoning', text: '', summary: ['hm'], signature: { dialect: 'responses', modelFamily: 'gpt', value: 'gAAA' } },
          { t: 'text', text: 'hello' },
          { t: 'tool_call', id: 'call_1', name: 'f', args: '{"id":12345678901234567890}', kind: 'function', idMinted: false },
        ],
      },
    ])
  })

  it('own dialect: the answer comes out as it went in', () => {
    const wire = responsesReplies.json({
      text: 'hello',
      reasoning: { text: 'hm', signature: 'gAAA' },
      toolCalls: [{ id: 'c', name: 'f', args: '{}' }],
    }) as Wire
    wire.output.push({ type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'q' } })
    wire.output[1].phase = 'final_answer'
    const { output_text: _text, completed_at: _at, ...rest } = wire
    expect(encoded(decoded(wire))).toMatchObject(rest)
  })

  it('maps incomplete, refusals, restored names and pictures', () => {
    expect(decoded(responsesReplies.json({ text: 'x', finish: 'length' })).choices[0]).toMatchObject({
      finish: 'length',
      nativeFinish: 'max_output_tokens',
    })
    expect(decoded(responsesReplies.json({ text: 'x', finish: 'content_filter' })).choices[0]?.finish).toBe('content_filter')
    expect(decoded(responsesReplies.json({ refusal: 'no' })).choices[0]).toMatchObject({
      finish: 'refusal',
      parts: [{ t: 'refusal', text: 'no' }],
    })
    const names = new Map([['a_b', 'a.b']])
    expect(
      decoded(responsesReplies.json({ toolCalls: [{ id: 'c', name: 'a_b', args: '{}' }] }), codec({ names })).choices[0]
        ?.parts[0],
    ).toMatchObject({ name: 'a.b' })
    const image = { output: [{ type: 'image_generation_call', id: 'ig_1', status: 'completed', result: 'QUJD' }] }
    expect(decoded(image, codec({ caller: 'chat' })).choices[0]?.parts[0]).toEqual({
      t: 'image',
      src: { kind: 'base64', data: 'QUJD', mime: 'image/png' },
    })
    expect(decoded(image).choices[0]?.parts[0]).toMatchObject({ t: 'server_tool', kind: 'image_generation_call' })
  })

  it.each([
    [undefined, { inputTotal: 0, estimated: true }],
    [null, { inputTotal: 0, estimated: true }],
    [
      { input_tokens: -1, output_tokens: 2 },
      { inputTotal: 0, outputTotal: 0, estimated: true },
    ],
    [
      { input_tokens: 0, output_tokens: 0 },
      { inputTotal: 0, estimated: false },
    ],
    [
      { input_tokens: 3, output_tokens: 2 },
      { inputTotal: 3, outputTotal: 2, cacheRead: 0, total: 5, estimated: false },
    ],
  ])('usage %j', (usage, expected) => {
    expect(decoded({ output: [], ...(usage === undefined ? {} : { usage }) }).usage).toMatchObject(expected)
  })

  it.each([
    [{ error: { code: 'rate_limit_exceeded', message: 'slow' } }, 429],
    [{ status: 'failed', error: { code: 'server_error', message: 'x' }, output: [] }, 500],
    [{ error: { code: 503, message: 'x' } }, 503],
    [{ status: 'cancelled', output: [] }, 500],
    [{ error: { message: 'x', code: 'invalid_image' } }, 400],
    [{ hello: 1 }, 502],
  ])('an error in a 200 is an error: %j', (body, status) => {
    expect(() => decoded(body)).toThrow(expect.objectContaining({ status }))
    const facts = driver.inspectResponse(wireBody(JSON.stringify(body)), codec())
    if (status !== 502) expect(facts.error).toMatchObject({ status })
  })

  it('byte lane: usage and finish are read, a usage without totals is completed', () => {
    const body = wireBody(
      JSON.stringify({ output: [{ type: 'function_call' }], status: 'completed', usage: { input_tokens: 3, output_tokens: 2 } }),
    )
    expect(driver.inspectResponse(body, codec())).toMatchObject({
      usage: { inputTotal: 3 },
      finish: 'tool_calls',
      error: null,
      content: true,
    })
    expect(body.get('usage')).toEqual({
      input_tokens: 3,
      output_tokens: 2,
      total_tokens: 5,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens_details: { reasoning_tokens: 0 },
    })
    const whole = wireBody(JSON.stringify(responsesReplies.json({ text: 'x' })))
    expect(driver.inspectResponse(whole, codec())).toMatchObject({ finish: 'stop', content: true })
    expect(whole.edited).toBe(false)
  })
})

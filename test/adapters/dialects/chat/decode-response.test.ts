import { describe, expect, it } from 'vitest'
import { chatReplies } from '../../../../adapters/testing/replies/chat.ts'
import { wireBody } from '../../../../core/json/wire-body.ts'
import type { CodecContext } from '../../../../core/types/request/dialect.ts'
import { codec, driver, thrown } from './support.ts'

const body = (value: unknown) => wireBody(typeof value === 'string' ? value : JSON.stringify(value))
const decode = (value: unknown, on: CodecContext = codec()) => driver.decodeResponse(body(value), on)
const answer = (message: object, finish = 'stop', extra: object = {}) => ({
  id: 'chatcmpl-1',
  created: 5,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: finish }],
  ...extra,
})
const choice = (message: object, finish?: string) => decode(answer(message, finish)).choices[0]
const usage = (wire: object, on?: CodecContext) => decode(answer({ content: 'x' }, 'stop', { usage: wire }), on).usage

describe('a chat answer becomes canonical', () => {
  it('reads the vendor reply whole', () => {
    const reply = chatReplies.json({
      text: 'hello',
      reasoning: { text: 'hm' },
      toolCalls: [{ id: 'call_1', name: 'f', args: '{"a":1}' }],
      usage: { input: 9, cacheRead: 4, output: 6, reasoning: 2 },
    })
    const canonical = decode(reply)
    expect(canonical.choices).toEqual([
      {
        index: 0,
        parts: [
          { t: 'reasoning', text: 'hm' },
          { t: 'text', text: 'hello' },
          { t: 'tool_call', id: 'call_1', idMinted: false, name: 'f', args: '{"a":1}', kind: 'function' },
        ],
        finish: 'tool_calls',
        nativeFinish: 'tool_calls',
      },
    ])
    expect(canonical.usage).toMatchObject({
      inputTotal: 9,
      cacheRead: 4,
      outputTotal: 6,
      reasoning: 2,
      total: 15,
      estimated: false,
    })
    expect(canonical).toMatchObject({ serviceTier: 'default', ext: { chat: { system_fingerprint: expect.any(String) } } })
  })

  it('a refusal without text is a refusal', () => {
    expect(choice({ content: null, refusal: "I can't" })).toMatchObject({
      finish: 'refusal',
      parts: [{ t: 'refusal', text: "I can't" }],
    })
    expect(choice({ content: 'x', refusal: null })).toMatchObject({ finish: 'stop' })
  })

  it('the content of a choice decides its finish reason, together with the vendor’s word', () => {
    const tool_calls = [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":' } }]
    expect(choice({ content: null, tool_calls }, 'stop')?.finish).toBe('tool_calls')
    expect(choice({ content: 'x' }, 'tool_calls')?.finish).toBe('stop')
    expect(choice({ content: null, tool_calls }, 'length')).toMatchObject({ finish: 'length', parts: [{ args: '{"a":' }] })
    expect(choice({ content: null }, 'content_filter')).toMatchObject({ finish: 'content_filter', parts: [] })
    expect(choice({ content: 'x' }, 'eos')).toMatchObject({ finish: 'stop', nativeFinish: 'eos' })
    expect(choice({ content: 'x' }, 'whatever')?.finish).toBe('other')
  })

  it('mistral content arrays are reasoning and text', () => {
    expect(
      choice({
        content: [
          { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
          { type: 'text', text: 'a' },
        ],
      })?.parts,
    ).toEqual([
      { t: 'reasoning', text: 'hm' },
      { t: 'text', text: 'a' },
    ])
  })

  it('reasoning comes from one of the fields vendors use', () => {
    expect(choice({ content: 'x', reasoning: 'a' })?.parts[0]).toEqual({ t: 'reasoning', text: 'a' })
    expect(choice({ content: 'x', reasoning: 'a', reasoning_content: 'a' })?.parts).toHaveLength(2)
    const reasoning_details = [{ type: 'reasoning.text', text: 'b', signature: 's' }]
    expect(choice({ content: 'x', reasoning_details })?.parts[0]).toEqual({
      t: 'reasoning',
      text: 'b',
      ext: { chat: { reasoning_details } },
    })
  })

  it('reads annotations, images, audio, custom and legacy calls', () => {
    const parts = choice({
      content: 'see',
      annotations: [{ type: 'url_citation', url_citation: { url: 'https://x.test', title: 'T', start_index: 0, end_index: 3 } }],
      images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }],
      audio: { id: 'audio_1', data: 'AA==', transcript: 'hi', expires_at: 9 },
      tool_calls: [{ type: 'custom', custom: { name: 'c', input: 'free' } }],
    })?.parts
    expect(parts).toMatchObject([
      { t: 'text', annotations: [{ kind: 'url', url: 'https://x.test', title: 'T', start: 0, end: 3 }] },
      { t: 'audio', id: 'audio_1', transcript: 'hi' },
      { t: 'image', src: { kind: 'base64', mime: 'image/png' } },
      { t: 'tool_call', kind: 'custom', id: 'call_id1', idMinted: true, args: 'free' },
    ])
    expect(choice({ content: null, function_call: { name: 'f', arguments: '{}' } }, 'function_call')).toMatchObject({
      finish: 'tool_calls',
    })
  })

  it('usage is inclusive wherever the vendor puts it', () => {
    expect(
      usage({
        prompt_tokens: 10,
        completion_tokens: 5,
        total_tokens: 15,
        prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 2 },
      }),
    ).toMatchObject({ inputTotal: 10, cacheRead: 4, cacheWrite: 2, outputTotal: 5, total: 15 })
    expect(usage({ prompt_tokens: 10, completion_tokens: 5, prompt_cache_hit_tokens: 7 })).toMatchObject({
      cacheRead: 7,
      total: 15,
    })
    expect(
      usage({ prompt_tokens: 10, completion_tokens: 5, total_tokens: 18, completion_tokens_details: { reasoning_tokens: 3 } }),
    ).toMatchObject({ outputTotal: 8, reasoning: 3, total: 18 })
    expect(
      usage(
        { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, completion_tokens_details: { reasoning_tokens: 3 } },
        codec({ quirks: { reasoningOutsideCompletion: true } }),
      ),
    ).toMatchObject({ outputTotal: 5, total: 15 })
    expect(
      usage(
        { prompt_tokens: 10, completion_tokens: 5, completion_tokens_details: { reasoning_tokens: 3 } },
        codec({ quirks: { reasoningOutsideCompletion: true } }),
      ),
    ).toMatchObject({ outputTotal: 8 })
  })

  it('missing or nonsense usage is estimated, explicit zero stays zero', () => {
    expect(decode(answer({ content: 'x' })).usage).toMatchObject({ total: 0, estimated: true })
    expect(usage({ prompt_tokens: -1, completion_tokens: 5 })).toMatchObject({ estimated: true })
    expect(usage({ prompt_tokens: '9', completion_tokens: 5 })).toMatchObject({ estimated: true })
    expect(usage({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 })).toMatchObject({ total: 0, estimated: false })
  })

  it('a 200 with an error body is an error with the inner status', () => {
    const failure = (value: unknown) =>
      thrown(() => decode(value)) as unknown as { upstream: { status: number; kind: string }; message: string }
    expect(failure({ error: { message: 'slow down', code: 429 } }).upstream).toMatchObject({ status: 429, kind: 'status' })
    expect(failure({ error: { message: 'x', type: 'server_error' } }).upstream.status).toBe(502)
    expect(failure({ base_resp: { status_code: 1002, status_msg: 'rate limit' }, choices: null }).upstream.status).toBe(429)
    expect(failure({ object: 'error', message: 'bad', type: 'invalid_request_error' }).upstream.status).toBe(400)
    expect(failure({ id: 'x', choices: [] }).upstream).toMatchObject({ kind: 'protocol' })
    expect(failure({}).upstream).toMatchObject({ kind: 'protocol' })
    expect(failure(answer({ content: 'x' }, 'error')).upstream.status).toBe(502)
    expect(decode({ ...answer({ content: 'x' }), base_resp: { status_code: 0 } }).choices).toHaveLength(1)
  })
})

describe('the byte lane of a chat answer', () => {
  const inspect = (value: unknown, on: CodecContext = codec()) => {
    const wire = body(value)
    const facts = driver.inspectResponse(wire, on)
    return { facts, wire }
  }

  it('an answer of the vendor keeps its bytes', () => {
    const { facts, wire } = inspect(chatReplies.json({ text: 'hello' }))
    expect(wire.edited).toBe(false)
    expect(facts).toMatchObject({ content: true, finish: 'stop', error: null, usage: { inputTotal: 12, outputTotal: 7 } })
  })

  it('members of the published schema are added, words and arrays normalised', () => {
    const { facts, wire } = inspect({
      id: 'x',
      big: 0,
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: [
              { type: 'thinking', thinking: 'hm' },
              { type: 'text', text: 'a' },
            ],
            tool_calls: [{ id: 'c', function: { name: 'f', arguments: '{}' } }],
          },
          finish_reason: 'eos',
        },
      ],
    })
    expect((wire.json() as { choices: unknown[] }).choices[0]).toEqual({
      index: 0,
      message: {
        role: 'assistant',
        content: 'a',
        reasoning_content: 'hm',
        refusal: null,
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
      },
      logprobs: null,
      finish_reason: 'tool_calls',
    })
    expect(facts).toMatchObject({ finish: 'tool_calls', usage: null })
  })

  it('calls without an id, or with arguments that are no text, are completed as in a stream', () => {
    const calls = [
      { function: { name: 'f', arguments: { city: 'Bern' } } },
      { id: 'c', type: 'function', function: { name: 'g', arguments: null } },
    ]
    const { wire } = inspect(answer({ content: null, refusal: null, tool_calls: calls }, 'tool_calls'))
    const [{ message }] = (wire.json() as unknown as { choices: [{ message: { tool_calls: unknown } }] }).choices
    expect(message.tool_calls).toEqual([
      { id: expect.stringMatching(/^call_./), type: 'function', function: { name: 'f', arguments: '{"city":"Bern"}' } },
      { id: 'c', type: 'function', function: { name: 'g', arguments: '' } },
    ])
  })

  it('errors in disguise and empty answers are errors', () => {
    expect(inspect({ error: { code: 503, message: 'x' } }).facts.error?.upstream?.status).toBe(503)
    expect(inspect({ choices: [] }).facts.error?.upstream?.kind).toBe('protocol')
    expect(inspect(answer({ content: '' }, 'error')).facts.error?.status).toBe(502)
  })

  it('an empty answer is no failure', () => {
    expect(inspect(answer({ content: '', refusal: null })).facts).toMatchObject({ content: false, error: null, finish: 'stop' })
  })
})

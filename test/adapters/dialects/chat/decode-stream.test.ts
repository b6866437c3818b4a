import { describe, expect, it } from 'vitest'
import { chatReplies } from '../../../../adapters/testing/replies/chat.ts'
import { chunk, data, decodeEvents, only, partsOf, USAGE, usageChunk } from './support.ts'

const tool = (calls: object[], extra: object = {}) => chunk({ tool_calls: calls, ...extra })
const _calls = (events: ReturnType<typeof decodeEvents>) => partsOf(events).filter((part) => part.t === 'tool_call')
const DONE = '[DONE]'

describe('a chat stream becomes canonical events', () => {
  it('reads the vendor stream in order: start, parts, finish, usage, end', () => {
    const events = decodeEvents(
      chatReplies
        .frames({ text: 'hello you', reasoning: { text: 'hm' }, toolCalls: [{ id: 'c', name: 'f', args: '{"a":1}' }] })
        .join(''),
    )
    expect(events[0]).toMatchObject({ e: 'start', id: expect.stringMatching(/^chatcmpl-/), created: expect.any(Number) })
    expect(partsOf(events)).toEqual([
      { t: 'reasoning', text: 'hm' },
      { t: 'text', text: 'hello you' },
      { t: 'tool_call', id: 'c', idMinted: false, name: 'f', args: '{"a":1}', kind: 'function' },
    ])
    expect(events.slice(-3)).toMatchObject([
      { e: 'finish', finish: 'tool_calls', native: 'tool_calls' },
      { e: 'usage', usage: { inputTotal: 12, outputTotal: 7 } },
      { e: 'end' },
    ])
    expect(only(events, 'start')).toHaveLength(1)
  })

  it('finish stop after a tool call is tool_calls', () => {
    const events = decodeEvents(
      data(tool([{ index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }]), chunk({}, 'stop'), DONE),
    )
    expect(only(events, 'finish')[0]?.finish).toBe('tool_calls')
  })

  it('content and tool_calls in one delta both appear, the text is closed first', () => {
    const events = decodeEvents(
      data(
        tool([{ index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }], { content: 'x' }),
        chunk({}, 'tool_calls'),
        DONE,
      ),
    )
    expect(partsOf(events)).toMatchObject([
      { t: 'text', text: 'x' },
      { t: 'tool_call', name: 'f' },
    ])
    expect(events.findIndex((event) => event.e === 'part_stop')).toBeLessThan(
      events.findIndex((event) => event.e === 'part_start' && event.kind === 'tool_call'),
    )
  })

  it('empty tool lists, empty deltas and keep-alive chunks open nothing', () => {
    const azure = { id: '', object: 'chat.completion.chunk', created: 0, model: '', choices: [], prompt_filter_results: [{}] }
    const events = decodeEvents(
      data(
        azure,
        chunk({ role: 'assistant', content: '' }),
        chunk({ content: 'x', tool_calls: [] }),
        chunk({ content: '' }),
        { ...chunk({}), choices: [] },
        chunk({ content: 'y', tool_calls: [] }),
        chunk({}, 'stop'),
        DONE,
      ),
    )
    expect(only(events, 'start')).toEqual([
      { e: 'start', id: 'chatcmpl-1', model: 'm', created: 1, ext: { chat: { prompt_filter_results: [{}] } } },
    ])
    expect(only(events, 'part_start')).toHaveLength(1)
    expect(partsOf(events)).toEqual([{ t: 'text', text: 'xy' }])
  })

  it('an end before any finish is an error, one after it is a normal end without [DONE]', () => {
    const cut = decodeEvents(data(chunk({ content: 'x' })))
    expect(cut.at(-1)).toEqual({
      e: 'error',
      status: 502,
      code: 'upstream_error',
      message: 'The upstream closed the stream before it was complete.',
      retryable: true,
    })
    expect(only(cut, 'finish')).toHaveLength(0)
    expect(decodeEvents(data(chunk({ content: 'x' }), chunk({}, 'stop'), usageChunk())).at(-1)).toEqual({ e: 'end' })
    expect(decodeEvents('').at(-1)).toMatchObject({ e: 'error', status: 502 })
    expect(decodeEvents(data(DONE))).toMatchObject([{ e: 'error', status: 502 }])
  })

  it('content after the finish is ignored', () => {
    const events = decodeEvents(
      data(chunk({ content: 'x' }), chunk({}, 'stop'), chunk({ content: 'late' }), DONE, chunk({ content: 'later' })),
    )
    expect(partsOf(events)).toEqual([{ t: 'text', text: 'x' }])
    expect(events.at(-1)).toEqual({ e: 'end' })
  })

  it('[DONE] without any finish_reason finishes as stop, or tool_calls after calls', () => {
    expect(only(decodeEvents(data(chunk({ content: 'x' }), DONE)), 'finish')).toMatchObject([{ finish: 'stop' }])
    expect(
      only(decodeEvents(data(tool([{ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }]), DONE)), 'finish'),
    ).toMatchObject([{ finish: 'tool_calls' }])
  })

  it('delta.refusal is a refusal', () => {
    const events = decodeEvents(
      data(chunk({ role: 'assistant', content: null, refusal: 'I ' }), chunk({ refusal: "can't" }), chunk({}, 'stop'), DONE),
    )
    expect(partsOf(events)).toEqual([{ t: 'refusal', text: "I can't" }])
    expect(only(events, 'finish')[0]?.finish).toBe('refusal')
  })

  it('mistral arrays in deltas are reasoning and text', () => {
    const events = decodeEvents(
      data(
        chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] }] }),
        chunk({ content: [{ type: 'text', text: 'a' }] }),
        chunk({ content: 'b' }, 'stop'),
        DONE,
      ),
    )
    expect(partsOf(events)).toEqual([
      { t: 'reasoning', text: 'hm' },
      { t: 'text', text: 'ab' },
    ])
  })

  it('reasoning in any field is read once', () => {
    const events = decodeEvents(
      data(
        chunk({ reasoning: 'a', reasoning_details: [{ type: 'reasoning.text', text: 'a' }] }),
        chunk({ reasoning_content: 'b', reasoning: 'b' }),
        chunk({ reasoning_details: [{ type: 'reasoning.summary', summary: 'c' }] }),
        chunk({ content: 'x' }, 'stop'),
        DONE,
      ),
    )
    expect(partsOf(events)[0]).toMatchObject({ t: 'reasoning', text: 'abc' })
  })

  it('usage is found wherever the vendor puts it, the last one counts', () => {
    const last = (...chunks: object[]) =>
      only(decodeEvents(data(chunk({ content: 'x' }), ...chunks, DONE)), 'usage').at(-1)?.usage
    expect(last(chunk({}, 'stop', { usage: USAGE }))).toMatchObject({ inputTotal: 10, outputTotal: 5 })
    expect(last(chunk({}, 'stop', { x_groq: { id: 'g', usage: USAGE } }))).toMatchObject({ total: 15 })
    expect(last(chunk({}, 'stop', {}, { usage: USAGE }))).toMatchObject({ total: 15 })
    expect(
      last(
        chunk({}, null, { usage: { ...USAGE, completion_tokens: 1, total_tokens: 11 } }),
        chunk({}, 'stop', { usage: USAGE }),
        chunk({}, null, { usage: null }),
      ),
    ).toMatchObject({ total: 15 })
    expect(last(chunk({}, 'stop', { usage: { prompt_tokens: -1, completion_tokens: Number.NaN } }))).toBe(undefined)
  })

  it('together: finish eos is stop', () => {
    expect(only(decodeEvents(data(chunk({ content: 'x' }, 'eos'), DONE)), 'finish')).toMatchObject([
      { finish: 'stop', native: 'eos' },
    ])
  })

  it('an error inside the stream carries its own status, then nothing follows', () => {
    const failed = (error: object) => decodeEvents(data(chunk({ content: 'x' }), error, chunk({ content: 'y' }), DONE)).at(-1)
    expect(failed({ error: { message: 'slow', code: 429 } })).toMatchObject({
      e: 'error',
      status: 429,
      message: 'slow',
      retryable: true,
    })
    expect(failed({ error: { message: 'bad', type: 'invalid_request_error' } })).toMatchObject({ status: 400, retryable: false })
    expect(failed({ error: 'boom' })).toMatchObject({ status: 502, message: 'boom' })
    expect(failed(chunk({}, 'error'))).toMatchObject({ e: 'error', status: 502 })
    expect(decodeEvents(chatReplies.errorFrames('busy', 503).join(''))).toMatchObject([{ e: 'error' }])
  })

  it('a malformed frame is one error', () => {
    const events = decodeEvents('data: {bad\n\ndata: {worse\n\n')
    expect(events).toMatchObject([{ e: 'error', status: 502, retryable: true }])
  })

  it('several choices are kept apart, all have to finish', () => {
    const two = (index: number, content: string, finish: string | null = null) => chunk({ content }, finish, {}, { index })
    const events = decodeEvents(data(two(0, 'a'), two(1, 'b'), two(0, 'c', 'stop'), two(1, 'd', 'length'), DONE))
    expect([partsOf(events, 0), partsOf(events, 1)]).toEqual([[{ t: 'text', text: 'ac' }], [{ t: 'text', text: 'bd' }]])
    expect(decodeEvents(data(two(0, 'a', 'stop'), two(1, 'b'))).at(-1)).toMatchObject({ e: 'error' })
  })

  it('logprobs, citations, images and audio reach the parts', () => {
    const logprobs = { content: [{ token: 'x', logprob: -0.1, bytes: null, top_logprobs: [] }], refusal: null }
    const events = decodeEvents(
      data(
        chunk({ content: 'x' }, null, {}, { logprobs }),
        chunk({
          annotations: [
            { type: 'url_citation', url_citation: { url: 'https://x.test', title: 'T', start_index: 0, end_index: 1 } },
          ],
        }),
        chunk({ images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }] }),
        chunk({ audio: { id: 'audio_1', data: 'AA', transcript: 'h' } }),
        chunk({ audio: { data: 'BB', transcript: 'i' } }, 'stop'),
        DONE,
      ),
    )
    expect(only(events, 'delta')).toContainEqual({ e: 'delta', choice: 0, part: 0, d: { logprobs } })
    expect(partsOf(events)).toMatchObject([
      { t: 'text', annotations: [{ url: 'https://x.test' }] },
      { t: 'image', src: { kind: 'base64', data: 'AA==' } },
      { t: 'audio', id: 'audio_1', transcript: 'hi', src: { data: 'AABB' } },
    ])
  })
})

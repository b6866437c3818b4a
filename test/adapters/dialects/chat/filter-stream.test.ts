import { describe, expect, it } from 'vitest'
import { chatReplies } from '../../../../adapters/testing/replies/chat.ts'
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import { sseFrame } from '../../../../core/stream/sse.ts'
import { callsOf, chunk, codec, data, deltaOf, driver, filter, framesOf, USAGE, usageChunk } from './support.ts'

const DONE = '[DONE]'
const asked = () => codec({ stream: true, includeUsage: true })
const unasked = () => codec({ stream: true })
const role = chunk({ role: 'assistant', content: '' })

describe('the byte lane of a chat stream', () => {
  it('frames that need nothing keep their bytes', () => {
    const sse = data(role, chunk({ content: 'x' }), chunk({}, 'stop'), DONE)
    expect(filter(sse, unasked()).text).toBe(sse)
    const odd = `data:${JSON.stringify(role)}\r\n\r\ndata: ${JSON.stringify(chunk({ content: 'usage' }, 'stop'))}\r\n\r\ndata: [DONE]\r\n\r\n`
    expect(filter(odd, unasked()).text.startsWith(odd.slice(0, -'data: [DONE]\r\n\r\n'.length))).toBe(true)
  })

  it('a caller that did not ask for usage gets none, and the facts have the tokens', () => {
    const { text, facts } = filter(chatReplies.frames({ text: 'hello' }).join(''), unasked())
    expect(text).not.toContain('usage')
    expect(framesOf(text)).toMatchObject({ done: 1, frames: { length: 4 } })
    expect(facts).toMatchObject({
      terminal: true,
      content: true,
      contentBytes: 5,
      finish: 'stop',
      error: null,
      usage: { inputTotal: 12, outputTotal: 7 },
    })
  })

  it('a caller that asked for usage gets the upstream’s frame once, after the finish', () => {
    const sse = chatReplies.frames({ text: 'hello' }).join('')
    expect(filter(sse, asked()).text).toBe(sse)
    const early = filter(data(role, usageChunk(), chunk({ content: 'x' }), usageChunk(), chunk({}, 'stop'), DONE), asked())
    expect(framesOf(early.text).frames.map((frame) => 'usage' in frame)).toEqual([false, false, false, true])
  })

  it.each([
    ['on the finish chunk', chunk({}, 'stop', { usage: USAGE })],
    ['in x_groq', chunk({}, 'stop', { x_groq: { id: 'g', usage: USAGE } })],
    ['in choices[0]', chunk({}, 'stop', {}, { usage: USAGE })],
  ])('usage %s moves to a frame of its own, or is removed', (_where, last) => {
    const sse = data(role, chunk({ content: 'x' }), last, DONE)
    const { frames, done } = framesOf(filter(sse, asked()).text)
    expect(frames.filter((frame) => JSON.stringify(frame).includes('usage'))).toHaveLength(1)
    expect(frames.at(-1)).toEqual({
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'm',
      choices: [],
      usage: USAGE,
    })
    expect(frames.at(-2)?.choices[0]).toMatchObject({ finish_reason: 'stop' })
    expect(done).toBe(1)
    const without = filter(sse, unasked())
    expect(without.text).not.toContain('usage')
    expect(without.facts.usage?.total).toBe(15)
  })

  it('a usage frame with another id, without choices or before the first id is written anew', () => {
    for (const odd of [
      usageChunk(),
      { ...usageChunk(), id: '' },
      { ...usageChunk(), choices: undefined },
      { ...usageChunk(), id: 'other' },
    ]) {
      expect(framesOf(filter(data(role, chunk({ content: 'x' }, 'stop'), odd, DONE), asked()).text).frames.at(-1)).toMatchObject({
        id: 'chatcmpl-1',
        choices: [],
        usage: USAGE,
      })
    }
  })

  it('asked for but never reported, usage is counted here', () => {
    const { text, facts } = filter(data(role, chunk({ content: 'x'.repeat(40) }, 'stop'), DONE), asked())
    expect(framesOf(text).frames.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: 10 } })
    expect(facts.usage).toBe(null)
  })

  it('usage that the client counts beside completion_tokens is shown whole', () => {
    const wire = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 18, completion_tokens_details: { reasoning_tokens: 3 } }
    const { text } = filter(
      data(role, chunk({ content: 'x' }, 'stop', { usage: wire }), DONE),
      codec({ includeUsage: true, quirks: { reasoningOutsideCompletion: true } }),
    )
    expect(framesOf(text).frames.at(-1)).toMatchObject({ usage: { completion_tokens: 8, total_tokens: 18 } })
  })

  it('a missing finish_reason is added before [DONE]', () => {
    expect(framesOf(filter(data(role, chunk({ content: 'x' }), DONE), unasked()).text).frames.at(-1)?.choices[0]).toMatchObject({
      index: 0,
      delta: {},
      finish_reason: 'stop',
    })
    const call = chunk({ tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }] })
    const { text, facts } = filter(data(role, call, DONE), asked())
    const { frames } = framesOf(text)
    expect(frames.at(-2)?.choices[0]).toMatchObject({ finish_reason: 'tool_calls' })
    expect(frames.at(-1)).toHaveProperty('usage')
    expect(facts).toMatchObject({ finish: 'tool_calls', terminal: true, error: null })
  })

  it('a name that comes after the id goes on, once', () => {
    const call = (fields: object) => chunk({ tool_calls: [{ index: 0, ...fields }] })
    const sse = data(
      role,
      call({ id: 'a', type: 'function', function: { arguments: '' } }),
      call({ function: { name: 'f', arguments: '{' } }),
      call({ function: { name: 'f', arguments: '}' } }),
      chunk({}, 'tool_calls'),
      DONE,
    )
    const { frames } = framesOf(filter(sse, unasked()).text)
    expect(frames.slice(1, 4).map((frame) => callsOf(deltaOf(frame))[0])).toEqual([
      { index: 0, id: 'a', type: 'function', function: { arguments: '' } },
      { index: 0, function: { name: 'f', arguments: '{' } },
      { index: 0, function: { arguments: '}' } },
    ])
  })

  it('an end after the finish is completed with [DONE], one before it is an error', () => {
    const ended = filter(data(role, chunk({ content: 'x' }, 'stop')), unasked())
    expect(ended.text.endsWith('data: [DONE]\n\n')).toBe(true)
    expect(ended.facts).toMatchObject({ terminal: true, error: null })
    const cut = filter(data(role, chunk({ content: 'x' })), unasked())
    expect(cut.text).not.toContain('[DONE]')
    expect(cut.facts.error).toMatchObject({ status: 502, upstream: { kind: 'reset' } })
    expect(filter('', unasked()).facts.error?.status).toBe(502)
    expect(filter(data(DONE), unasked()).facts.error?.upstream?.kind).toBe('protocol')
  })

  it('a last frame without its blank line gets one', () => {
    const sse = `${data(role)}data: ${JSON.stringify(chunk({ content: 'x' }, 'stop'))}`
    expect(framesOf(filter(sse, unasked()).text)).toMatchObject({ done: 1, frames: { length: 2 } })
  })

  it('errors inside the stream are reported as facts and not sent as frames', () => {
    const { text, facts } = filter(
      data(role, chunk({ content: 'x' }), { error: { message: 'slow', code: 429 } }, DONE),
      unasked(),
    )
    expect(text).not.toContain('slow')
    expect(facts.error).toMatchObject({ message: 'slow', upstream: { status: 429, kind: 'stream' } })
    expect(filter('data: {bad\n\n', unasked()).facts.error?.upstream?.kind).toBe('protocol')
    expect(filter(data(role, chunk({}, 'error')), unasked()).facts.error?.status).toBe(502)
  })

  it('the error frame has the id and model of the broken stream', () => {
    const lane = driver.filterStream(unasked())
    lane.frame(sseFrame(data(chunk({ role: 'assistant', content: 'x' }))))
    const frame = JSON.parse(lane.error(GatewayError.timeout('late')).slice(6))
    expect(frame).toEqual({
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'm',
      error: { message: 'late', type: 'api_error', param: null, code: 'upstream_timeout' },
    })
    expect(lane.end()).toBe('')
  })

  it('finish stop after a tool call becomes tool_calls, eos becomes stop', () => {
    const call = chunk({ tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }] })
    expect(framesOf(filter(data(role, call, chunk({}, 'stop'), DONE), unasked()).text).frames.at(-1)?.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
    })
    expect(
      framesOf(filter(data(role, chunk({ content: 'x' }, 'eos'), DONE), unasked()).text).frames.at(-1)?.choices[0],
    ).toMatchObject({ finish_reason: 'stop' })
  })

  it('calls get distinct indices, a type, and no repeated names', () => {
    const call = (body: object) => chunk({ tool_calls: [body] })
    const { frames } = framesOf(
      filter(
        data(
          role,
          call({ index: 0, id: 'a', function: { name: 'f', arguments: '{"x"' } }),
          call({ index: 0, id: 'a', function: { name: 'f', arguments: ':1}' } }),
          call({ index: 0, id: 'b', function: { name: 'f' } }),
          call({ function: { arguments: { y: 2 } } }),
          chunk({}, 'tool_calls'),
          DONE,
        ),
        unasked(),
      ).text,
    )
    expect(frames.slice(1, 5).map((frame) => callsOf(deltaOf(frame))[0])).toEqual([
      { index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '{"x"' } },
      { index: 0, id: 'a', function: { arguments: ':1}' } },
      { index: 1, id: 'b', type: 'function', function: { name: 'f', arguments: '' } },
      { index: 1, function: { arguments: '{"y":2}' } },
    ])
  })

  it('mistral arrays become text and reasoning_content', () => {
    const { frames } = framesOf(
      filter(
        data(
          role,
          chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] }] }),
          chunk({ content: [{ type: 'text', text: 'a' }] }, 'stop'),
          DONE,
        ),
        unasked(),
      ).text,
    )
    expect(frames.map((frame) => frame.choices[0]?.delta)).toEqual([
      { role: 'assistant', content: '' },
      { reasoning_content: 'hm' },
      { content: 'a' },
    ])
  })

  it("Azure's first chunk passes, and every choice gets a role", () => {
    const azure = { id: '', object: 'chat.completion.chunk', created: 0, model: '', choices: [], prompt_filter_results: [{}] }
    const { text, facts } = filter(data(azure, chunk({ content: 'x' }), chunk({}, 'stop'), usageChunk(), DONE), asked())
    const { frames } = framesOf(text)
    expect(frames[0]).toEqual(azure)
    expect(frames[1]?.choices[0]?.delta).toEqual({ role: 'assistant', content: 'x' })
    expect(frames.at(-1)).toMatchObject({ id: 'chatcmpl-1', usage: USAGE })
    expect(facts.content).toBe(true)
  })

  it('comments and empty data lines do not reach the caller', () => {
    expect(
      filter(`: OPENROUTER PROCESSING\n\ndata:\n\n${data(role, chunk({ content: 'x' }, 'stop'), DONE)}`, unasked()).text,
    ).toBe(data(role, chunk({ content: 'x' }, 'stop'), DONE))
  })

  it('reasoning and calls count as content, in UTF-8 bytes', () => {
    const call = chunk({ tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '{"é":1}' } }] })
    const lane = driver.filterStream(unasked())
    lane.frame(sseFrame(data(role)))
    expect(lane.facts.content).toBe(false)
    lane.frame(sseFrame(data(chunk({ reasoning: 'hm', reasoning_content: 'hm' }))))
    expect(lane.facts).toMatchObject({ content: true, contentBytes: 2 })
    lane.frame(sseFrame(data(call)))
    expect(lane.facts.contentBytes).toBe(10)
  })
})

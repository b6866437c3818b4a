import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { responsesReplies } from '../../../../adapters/testing/replies/responses.ts'
import type { StreamEvent } from '../../../../core/types/request/stream.ts'
import { codec, decodeText, finishOf, partsOf } from './support.ts'

const frames = (...events: object[]) =>
  events.map((event) => `event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
const created = { type: 'response.created', response: { id: 'resp_1', model: 'up', created_at: 7 } }
const completed = (output: object[] = [], extra: object = {}) => ({
  type: 'response.completed',
  response: {
    id: 'resp_1',
    status: 'completed',
    output,
    usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5 },
    ...extra,
  },
})
const argsOf = (events: StreamEvent[]) =>
  events.filter((event) => event.e === 'delta' && 'args' in event.d).map((event) => (event as { d: { args: string } }).d.args)
const fc1 = (args: string) => ({ type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'f', arguments: args })

describe('responses: decoding a stream', () => {
  const reply = {
    text: 'héllo 👋 wörld',
    reasoning: { text: 'thinking it over', signature: 'gAAA' },
    toolCalls: [
      { id: 'c1', name: 'f', args: '{"a":"ü"}' },
      { id: 'c2', name: 'g', args: '{}' },
    ],
  }

  it('reads the vendor’s stream: start once, parts with their stops, usage, finish, end', () => {
    const events = decodeText(responsesReplies.frames(reply).join(''))
    expect(events[0]).toMatchObject({ e: 'start', id: expect.stringMatching(/^resp_/), created: 1_795_000_000 })
    expect(events.filter((event) => event.e === 'start')).toHaveLength(1)
    expect(partsOf(events)).toMatchObject([
      {
        t: 'reasoning',
        text: '',
        summary: ['thinking it over'],
        signature: { dialect: 'responses', modelFamily: 'gpt', value: 'gAAA' },
      },
      { t: 'text', text: 'héllo 👋 wörld' },
      { t: 'tool_call', id: 'c1', name: 'f', args: '{"a":"ü"}' },
      { t: 'tool_call', id: 'c2', name: 'g', args: '{}' },
    ])
    expect(events.slice(-3)).toMatchObject([
      { e: 'usage', usage: { inputTotal: 12, outputTotal: 7 } },
      { e: 'finish', finish: 'tool_calls' },
      { e: 'end' },
    ])
  })

  it('any split gives the same events', () => {
    const bytes = new TextEncoder().encode(responsesReplies.frames(reply).join(''))
    const whole = decodeText(bytes)
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 400 }), (split) => {
        expect(decodeText(bytes, codec(), split)).toEqual(whole)
      }),
      { numRuns: 30 },
    )
    expect(decodeText(bytes, codec(), 1)).toEqual(whole)
  })

  it('arguments are read from .done, from the item or from the final response, and never twice', () => {
    const added = { type: 'response.output_item.added', output_index: 0, item: fc1('') }
    const delta = { type: 'response.function_call_arguments.delta', output_index: 0, item_id: 'fc_1', delta: '{"a":1}' }
    const done = { type: 'response.function_call_arguments.done', output_index: 0, item_id: 'fc_1', arguments: '{"a":1}' }
    const item = { type: 'response.output_item.done', output_index: 0, item: fc1('{"a":1}') }
    const variants = [
      [created, added, delta, done, item, completed([fc1('{"a":1}')])],
      [created, added, done, item, completed([fc1('{"a":1}')])],
      [created, added, item, completed()],
      [created, item, completed()],
      [created, delta, done, item, completed()],
      [created, completed([fc1('{"a":1}')])],
      [created, { ...added, item: fc1('{"a":1}') }, delta, done, item, completed()],
      [completed([fc1('{"a":1}')])],
    ]
    for (const variant of variants) {
      const events = decodeText(frames(...variant))
      expect(argsOf(events).join('')).toBe('{"a":1}')
      expect(partsOf(events)).toMatchObject([{ t: 'tool_call', id: 'c1', name: 'f', args: '{"a":1}' }])
      expect(finishOf(events)).toBe('tool_calls')
    }
  })

  it('text and refusals that only arrive whole are not lost, and none is said twice', () => {
    const message = (content: object[]) => ({ type: 'message', id: 'msg_1', role: 'assistant', content })
    const text = {
      type: 'output_text',
      text: 'hi',
      annotations: [{ type: 'url_citation', url: 'https://a', title: 'A', start_index: 0, end_index: 2 }],
    }
    const refusal = { type: 'refusal', refusal: 'no' }
    const at = { output_index: 0, item_id: 'msg_1', content_index: 0 }
    const variants = [
      [
        created,
        { type: 'response.output_text.delta', ...at, delta: 'hi' },
        { type: 'response.output_text.done', ...at, text: 'hi' },
        { type: 'response.content_part.done', ...at, part: text },
      ],
      [
        created,
        { type: 'response.output_text.done', ...at, text: 'hi' },
        { type: 'response.content_part.done', ...at, part: text },
      ],
      [created, { type: 'response.content_part.done', ...at, part: text }],
      [created],
    ]
    for (const variant of variants) {
      const events = decodeText(
        frames(...variant, { type: 'response.output_item.done', output_index: 0, item: message([text, refusal]) }, completed()),
      )
      expect(partsOf(events)).toMatchObject([
        { t: 'text', text: 'hi', annotations: [{ kind: 'url', url: 'https://a' }] },
        { t: 'refusal', text: 'no' },
      ])
      expect(finishOf(events)).toBe('refusal')
    }
  })

  it('several messages and summary parts stay apart', () => {
    const summary = (index: number, delta: string) => ({
      type: 'response.reasoning_summary_text.delta',
      output_index: 0,
      item_id: 'rs_1',
      summary_index: index,
      delta,
    })
    const say = (index: number, delta: string) => ({
      type: 'response.output_text.delta',
      output_index: index,
      item_id: `msg_${index}`,
      content_index: 0,
      delta,
    })
    const open = (index: number) => ({
      type: 'response.output_item.added',
      output_index: index,
      item: { type: 'message', id: `msg_${index}` },
    })
    const events = decodeText(
      frames(created, summary(0, 'a'), summary(1, 'b'), open(1), say(1, 'one'), open(2), say(2, 'two'), completed()),
    )
    expect(partsOf(events)).toMatchObject([
      { t: 'reasoning', summary: ['a', 'b'], itemId: 'rs_1' },
      { t: 'text', text: 'one' },
      { t: 'text', text: 'two' },
    ])
    const reasoned = events
      .filter((event) => event.e === 'delta' && 'summary' in event.d)
      .map((event) => (event as { d: { summary: string } }).d.summary)
    expect(reasoned.join('')).toBe('a\n\nb')
  })

  it('reads raw reasoning, custom calls, server items and secrets without a summary', () => {
    const events = decodeText(
      frames(
        created,
        { type: 'response.reasoning_text.delta', output_index: 0, item_id: 'rs_1', content_index: 0, delta: 'raw' },
        {
          type: 'response.output_item.done',
          output_index: 1,
          item: { type: 'reasoning', id: 'rs_2', summary: [], encrypted_content: 'sec' },
        },
        {
          type: 'response.output_item.added',
          output_index: 2,
          item: { type: 'custom_tool_call', id: 'ctc_1', call_id: 'p', name: 'patch', input: '' },
        },
        { type: 'response.custom_tool_call_input.delta', output_index: 2, item_id: 'ctc_1', delta: '*** ' },
        { type: 'response.custom_tool_call_input.delta', output_index: 2, item_id: 'ctc_1', delta: '"x"' },
        { type: 'response.custom_tool_call_input.done', output_index: 2, item_id: 'ctc_1', input: '*** "x"' },
        {
          type: 'response.output_item.done',
          output_index: 2,
          item: { type: 'custom_tool_call', id: 'ctc_1', call_id: 'p', name: 'patch', input: '*** "x"' },
        },
        {
          type: 'response.output_item.done',
          output_index: 3,
          item: { type: 'web_search_call', id: 'ws_1', status: 'completed' },
        },
        completed(),
      ),
    )
    expect(partsOf(events)).toMatchObject([
      { t: 'reasoning', text: 'raw', itemId: 'rs_1' },
      { t: 'reasoning', itemId: 'rs_2', signature: { value: 'sec' } },
      { t: 'tool_call', kind: 'custom', id: 'p', args: '*** "x"' },
      { t: 'server_tool', kind: 'web_search_call' },
    ])
  })

  it('interleaved calls keep their own arguments', () => {
    const add = (index: number) => ({
      type: 'response.output_item.added',
      output_index: index,
      item: { ...fc1(''), id: `fc_${index}`, call_id: `c${index}` },
    })
    const arg = (index: number, delta: string) => ({
      type: 'response.function_call_arguments.delta',
      output_index: index,
      item_id: 'changes',
      delta,
    })
    const events = decodeText(
      frames(created, add(0), add(1), arg(0, '{"a"'), arg(1, '{"b"'), arg(0, ':0}'), arg(1, ':1}'), completed()),
    )
    expect(partsOf(events)).toMatchObject([
      { id: 'c0', args: '{"a":0}' },
      { id: 'c1', args: '{"b":1}' },
    ])
  })

  it('a stream with a call that ends completed finishes with tool_calls', () => {
    expect(finishOf(decodeText(responsesReplies.frames({ toolCalls: [{ id: 'c', name: 'f', args: '{}' }] }).join('')))).toBe(
      'tool_calls',
    )
  })

  it('max tokens and the filter are no clean stops', () => {
    expect(finishOf(decodeText(responsesReplies.frames({ text: 'x', finish: 'length' }).join('')))).toBe('length')
    expect(finishOf(decodeText(responsesReplies.frames({ text: 'x', finish: 'content_filter' }).join('')))).toBe('content_filter')
  })

  it('a cut stream is an error, with or without tokens, and nothing follows it', () => {
    const all = responsesReplies.frames({ text: 'hello world' })
    const events = decodeText(all.slice(0, -1).join(''))
    expect(events.at(-1)).toMatchObject({ e: 'error', status: 502, code: 'upstream_error', retryable: true })
    expect(events.filter((event) => event.e === 'end' || event.e === 'finish')).toEqual([])
    expect(decodeText('')).toMatchObject([{ e: 'start' }, { e: 'error' }])
  })

  it.each([
    [{ type: 'error', code: 'rate_limit_exceeded', message: 'slow', param: null }, 429, true],
    [{ type: 'error', error: { type: 'invalid_request_error', message: 'bad' } }, 400, false],
    [{ type: 'error', code: null, message: 'x' }, 502, true],
    [{ error: { code: 503, message: 'x' } }, 503, true],
    [
      { type: 'response.failed', response: { status: 'failed', error: { code: 'server_error', message: 'x' }, output: [] } },
      500,
      true,
    ],
    [{ type: 'response.failed', response: { status: 'failed' } }, 500, true],
  ])('an error inside the stream is the error it names: %j', (event, status, retryable) => {
    const events = decodeText(
      `data: ${JSON.stringify(created)}\n\ndata: ${JSON.stringify(event)}\n\ndata: ${JSON.stringify(completed())}\n\n`,
    )
    expect(events.at(-1)).toMatchObject({ e: 'error', status, retryable })
  })

  it('malformed JSON is an error once; comments, unknown events and [DONE] are nothing', () => {
    const broken = decodeText(`${frames(created)}data: {bad\n\ndata: {bad\n\n`)
    expect(broken.filter((event) => event.e === 'error')).toHaveLength(1)
    const events = decodeText(
      `: OPENROUTER PROCESSING\n\n${frames(created, { type: 'keepalive' }, { type: 'response.future' }, completed())}data: [DONE]\n\n`,
    )
    expect(events.map((event) => event.e)).toEqual(['start', 'usage', 'finish', 'end'])
    const late = decodeText(`data: [DONE]\n\n${frames(created, completed())}`)
    expect(late.at(-1)).toEqual({ e: 'end' })
  })

  it('log probabilities arrive in chat’s shape', () => {
    const at = { output_index: 0, item_id: 'm', content_index: 0 }
    const events = decodeText(
      frames(
        created,
        { type: 'response.output_text.delta', ...at, delta: 'x', logprobs: [{ token: 'x', logprob: -1, top_logprobs: [] }] },
        completed(),
      ),
    )
    expect(events.find((event) => event.e === 'delta' && 'logprobs' in event.d)).toMatchObject({
      part: 0,
      d: { logprobs: { content: [{ token: 'x' }] } },
    })
  })
})

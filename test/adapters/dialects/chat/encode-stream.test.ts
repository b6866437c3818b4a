import { describe, expect, it } from 'vitest'
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import type { Usage } from '../../../../core/types/request/answer.ts'
import type { Part } from '../../../../core/types/request/canonical.ts'
import type { StreamEvent } from '../../../../core/types/request/stream.ts'
import { callsOf, codec, deltaOf, driver, encodeEvents, framesOf, toolCall } from './support.ts'

const USAGE: Usage = { inputTotal: 10, cacheRead: 0, cacheWrite: 0, outputTotal: 5, total: 15, estimated: false, raw: null }
const start: StreamEvent = { e: 'start', id: 'msg_1', model: 'claude', created: 7 }
const finish = (kind: Extract<StreamEvent, { e: 'finish' }>['finish'] = 'stop', native = ''): StreamEvent => ({
  e: 'finish',
  choice: 0,
  finish: kind,
  native,
})
const end: StreamEvent = { e: 'end' }
const usage: StreamEvent = { e: 'usage', usage: USAGE }

function text(part: number, ...deltas: string[]): StreamEvent[] {
  return [
    { e: 'part_start', choice: 0, part, kind: 'text', meta: {} },
    ...deltas.map((delta): StreamEvent => ({ e: 'delta', choice: 0, part, d: { text: delta } })),
    { e: 'part_stop', choice: 0, part, full: { t: 'text', text: deltas.join('') } },
  ]
}

function call(part: number, full: Extract<Part, { t: 'tool_call' }>, ...deltas: string[]): StreamEvent[] {
  return [
    { e: 'part_start', choice: 0, part, kind: 'tool_call', meta: { id: full.id, name: full.name, kind: full.kind } },
    ...deltas.map((args): StreamEvent => ({ e: 'delta', choice: 0, part, d: { args } })),
    { e: 'part_stop', choice: 0, part, full },
  ]
}
const tool = (id: string, args: string) => toolCall(id, 'f', args) as Extract<Part, { t: 'tool_call' }>

describe('the stream a chat caller reads', () => {
  it('starts with the role, ends with finish and [DONE], every chunk has the same head', () => {
    const { frames, done } = framesOf(encodeEvents([start, ...text(0, 'he', 'llo "x"\n'), finish(), usage, end]))
    expect(done).toBe(1)
    for (const frame of frames)
      expect(frame).toMatchObject({ id: 'chatcmpl-id1', object: 'chat.completion.chunk', created: 7, model: 'claude' })
    expect(frames.map((frame) => frame.choices[0])).toEqual([
      { index: 0, delta: { role: 'assistant', content: '', refusal: null }, logprobs: null, finish_reason: null },
      { index: 0, delta: { content: 'he' }, logprobs: null, finish_reason: null },
      { index: 0, delta: { content: 'llo "x"\n' }, logprobs: null, finish_reason: null },
      { index: 0, delta: {}, logprobs: null, finish_reason: 'stop' },
    ])
  })

  it('the usage frame comes once, after the finish, with the same id, only when asked for', () => {
    const events = [start, ...text(0, 'x'), usage, finish(), usage, end]
    expect(encodeEvents(events)).not.toContain('"usage"')
    const asked = encodeEvents(events, codec({ includeUsage: true }))
    const { frames } = framesOf(asked)
    expect(frames.filter((frame) => 'usage' in frame)).toHaveLength(1)
    expect(frames.at(-1)).toMatchObject({
      id: frames[0]?.id,
      choices: [],
      usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
    })
    expect(frames.at(-2)?.choices[0]).toMatchObject({ finish_reason: 'stop' })
    expect(asked.endsWith('data: [DONE]\n\n')).toBe(true)
    const unknown = framesOf(
      encodeEvents([start, ...text(0, 'x'.repeat(40)), finish(), end], codec({ includeUsage: true })),
    ).frames.at(-1)
    expect(unknown).toMatchObject({ choices: [], usage: { completion_tokens: 10 } })
  })

  it('usage known at the start is merged with what comes later', () => {
    const events: StreamEvent[] = [
      { ...start, usage: { inputTotal: 8 } },
      ...text(0, 'x'),
      { e: 'usage', usage: { outputTotal: 3 } },
      finish(),
      end,
    ]
    expect(framesOf(encodeEvents(events, codec({ includeUsage: true }))).frames.at(-1)).toMatchObject({
      usage: { prompt_tokens: 8, completion_tokens: 3, total_tokens: 11 },
    })
  })

  it('calls have index, id, type, name and arguments that parse', () => {
    const { frames } = framesOf(
      encodeEvents([
        start,
        ...call(0, tool('a', '{"x":1}'), '{"x"', ':1}'),
        ...call(1, tool('b', '')),
        ...call(2, tool('c', '{"whole":1}')),
        finish('stop'),
        end,
      ]),
    )
    const calls = frames.flatMap((frame) => callsOf(deltaOf(frame)))
    expect(calls[0]).toEqual({ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } })
    const args = [0, 1, 2].map((index) =>
      calls
        .filter((item) => item.index === index)
        .map((item) => item.function.arguments)
        .join(''),
    )
    expect(args).toEqual(['{"x":1}', '{}', '{"whole":1}'])
    expect(frames.at(-1)?.choices[0]).toMatchObject({ finish_reason: 'tool_calls' })
  })

  it('a turn that starts with a call has its role chunk and no text', () => {
    const { frames } = framesOf(encodeEvents([start, ...call(0, tool('a', '{}'), '{}'), finish('tool_calls'), end]))
    expect(frames[0]?.choices[0]).toMatchObject({ delta: { role: 'assistant', content: '' } })
    expect(frames.slice(1).some((frame) => 'content' in deltaOf(frame))).toBe(false)
  })

  it('thoughts and summaries are reasoning_content, one field only, parts apart', () => {
    const events: StreamEvent[] = [
      start,
      { e: 'part_start', choice: 0, part: 0, kind: 'reasoning', meta: {} },
      { e: 'delta', choice: 0, part: 0, d: { reasoning: 'a' } },
      { e: 'delta', choice: 0, part: 0, d: { signature: { dialect: 'messages', modelFamily: 'claude', value: 's' } } },
      { e: 'part_stop', choice: 0, part: 0, full: { t: 'reasoning', text: 'a' } },
      { e: 'part_start', choice: 0, part: 1, kind: 'reasoning', meta: {} },
      { e: 'delta', choice: 0, part: 1, d: { summary: 'b' } },
      { e: 'part_stop', choice: 0, part: 1, full: { t: 'reasoning', text: '', summary: ['b'] } },
      ...text(2, 'x'),
      finish(),
      end,
    ]
    const { frames } = framesOf(encodeEvents(events))
    const thoughts = frames.map((frame) => deltaOf(frame).reasoning_content ?? '').join('')
    expect(thoughts).toBe('a\n\nb')
    expect(JSON.stringify(frames)).not.toContain('"reasoning":')
  })

  it('refusals are delta.refusal; Anthropic refusals are content_filter', () => {
    const refusal: StreamEvent[] = [
      { e: 'part_start', choice: 0, part: 0, kind: 'refusal', meta: {} },
      { e: 'delta', choice: 0, part: 0, d: { refusal: 'no' } },
      { e: 'part_stop', choice: 0, part: 0, full: { t: 'refusal', text: 'no' } },
    ]
    const last = (events: StreamEvent[]) => framesOf(encodeEvents(events)).frames.at(-1)?.choices[0]?.finish_reason
    expect(encodeEvents([start, ...refusal, finish('refusal', 'completed'), end])).toContain('"refusal":"no"')
    expect(last([start, ...refusal, finish('refusal', 'completed'), end])).toBe('stop')
    expect(last([start, finish('refusal', 'refusal'), end])).toBe('content_filter')
    expect(last([start, finish('content_filter'), end])).toBe('content_filter')
    expect(last([start, finish('context_window'), end])).toBe('length')
  })

  it('citations follow their text with offsets into the whole content', () => {
    const [open, delta] = text(1, 'two')
    const annotation = { kind: 'url' as const, url: 'https://x.test', title: 'T', raw: null, dialect: 'messages' as const }
    const full: Part = { t: 'text', text: 'two', annotations: [annotation] }
    const sse = encodeEvents([
      start,
      ...text(0, 'one'),
      open as StreamEvent,
      delta as StreamEvent,
      { e: 'part_stop', choice: 0, part: 1, full },
      finish(),
      end,
    ])
    expect(sse).toContain(
      '"annotations":[{"type":"url_citation","url_citation":{"start_index":3,"end_index":6,"url":"https://x.test","title":"T"}}]',
    )
  })

  it('logprobs, images and secrets of calls have their places', () => {
    const signature = { dialect: 'generate_content' as const, modelFamily: 'gemini', value: 's' }
    const sse = encodeEvents([
      start,
      ...text(0, 'x').slice(0, 2),
      { e: 'delta', choice: 0, part: 0, d: { logprobs: [{ token: 'x' }] } },
      { e: 'part_stop', choice: 0, part: 0, full: { t: 'text', text: 'x' } },
      { e: 'part_start', choice: 0, part: 1, kind: 'image', meta: {} },
      { e: 'part_stop', choice: 0, part: 1, full: { t: 'image', src: { kind: 'base64', mime: 'image/png', data: 'AA==' } } },
      ...call(2, { ...tool('a', '{}'), signature }, '{}'),
      finish('tool_calls'),
      end,
    ])
    expect(sse).toContain('"logprobs":{"content":[{"token":"x"}],"refusal":null}')
    expect(sse).toContain('"images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="},"index":0}]')
    expect(sse).toMatch(/"thought_signature":"gw1\.generate_content\.gemini\./)
  })

  it('the error frame has error in place of choices and no [DONE] follows', () => {
    const encoder = driver.encodeStream(codec({ upstream: 'messages' }))
    for (const event of [start, ...text(0, 'x')]) encoder.event(event)
    const frame = encoder.error(GatewayError.network('reset', 'gone'))
    expect(JSON.parse(frame.slice(6))).toEqual({
      id: 'chatcmpl-id1',
      object: 'chat.completion.chunk',
      created: 7,
      model: 'claude',
      error: { message: 'gone', type: 'api_error', param: null, code: 'upstream_error' },
    })
    expect(encoder.event(finish()) + encoder.event(end) + encoder.error(GatewayError.clientGone())).toBe('')
    expect(driver.encodeStream(codec()).error(GatewayError.protocol('x'))).toContain('"id":"chatcmpl-id1"')
  })

  it('an end without any content is still a complete stream', () => {
    const { frames, done } = framesOf(encodeEvents([end]))
    expect(frames.map((frame) => frame.choices[0]?.finish_reason)).toEqual([null, 'stop'])
    expect(done).toBe(1)
  })

  it('several choices have a role and a finish each', () => {
    const at = (choice: number): StreamEvent[] => text(0, `${choice}`).map((event) => ({ ...event, choice }) as StreamEvent)
    const { frames } = framesOf(
      encodeEvents([start, ...at(0), ...at(1), finish(), { ...finish(), choice: 1 } as StreamEvent, end]),
    )
    for (const index of [0, 1]) {
      const own = frames.map((frame) => frame.choices[0]).filter((choice) => choice?.index === index)
      expect(own[0]).toMatchObject({ delta: { role: 'assistant' } })
      expect(own.at(-1)).toMatchObject({ finish_reason: 'stop' })
    }
  })
})

it.each([
  ['standard', 'default'],
  ['priority', 'priority'],
  ['on_demand', undefined],
])('every chunk says only service tiers of the published schema: %s', (tier, shown) => {
  const own = { ext: { chat: { service_tier: tier } } }
  for (const [first, last] of [
    [own, {}],
    [{}, own],
  ]) {
    const { frames } = framesOf(
      encodeEvents([{ ...start, ...first } as StreamEvent, ...text(0, 'a'), finish(), { ...end, ...last } as StreamEvent]),
    )
    const tiers = new Set(
      frames.map((frame) => (frame as { service_tier?: string }).service_tier).filter((seen) => seen !== undefined),
    )
    expect([...tiers]).toEqual(shown === undefined ? [] : [shown])
  }
})

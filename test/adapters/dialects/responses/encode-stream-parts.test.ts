import { streamText } from 'ai'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { responsesReplies } from '../../../../adapters/testing/replies/responses.ts'
import { unwrapSignature } from '../../../../core/models/signature.ts'
import { replay } from '../../../../core/stream/collect.ts'
import type { Finish } from '../../../../core/types/request/answer.ts'
import type { Part } from '../../../../core/types/request/canonical.ts'
import type { StreamEvent } from '../../../../core/types/request/stream.ts'
import { aiModel, call, codec, decodeText, encodeEvents, partsOf, sdkResponse, type Wire, wireEvents } from './support.ts'

const USAGE = { inputTotal: 10, cacheRead: 4, cacheWrite: 0, outputTotal: 6, total: 16, estimated: false, raw: null }

function eventsOf(parts: Part[], finish: Finish = 'stop'): StreamEvent[] {
  const events: StreamEvent[] = []
  replay(
    {
      id: 'msg_up',
      created: 7,
      model: 'up',
      choices: [{ index: 0, parts, finish, nativeFinish: finish }],
      usage: USAGE,
      ext: {},
    },
    (event) => void events.push(event),
  )
  return events
}
const types = (text: string) => wireEvents(text).map((event) => event.type.replace('response.', ''))
const last = (text: string): Wire => wireEvents(text).at(-1)

describe('responses: encoding the parts of a stream', () => {
  it('interleaved calls keep their indexes, and an open text is closed', async () => {
    const meta = (id: string) => ({ id, name: 'f' })
    const text = encodeEvents([
      { e: 'part_start', choice: 0, part: 0, kind: 'text', meta: {} },
      { e: 'delta', choice: 0, part: 0, d: { text: 'a' } },
      { e: 'part_start', choice: 0, part: 1, kind: 'tool_call', meta: meta('c1') },
      { e: 'part_start', choice: 0, part: 2, kind: 'tool_call', meta: meta('c2') },
      { e: 'delta', choice: 0, part: 1, d: { args: '{' } },
      { e: 'delta', choice: 0, part: 2, d: { args: '{}' } },
      { e: 'delta', choice: 0, part: 0, d: { text: 'b' } },
      { e: 'part_stop', choice: 0, part: 0, full: { t: 'text', text: 'ab' } },
      { e: 'delta', choice: 0, part: 1, d: { args: '}' } },
      { e: 'part_stop', choice: 0, part: 2, full: call('c2', 'f') },
      { e: 'part_start', choice: 0, part: 3, kind: 'text', meta: {} },
      { e: 'delta', choice: 0, part: 3, d: { text: 'c' } },
      { e: 'part_stop', choice: 0, part: 3, full: { t: 'text', text: 'c' } },
      { e: 'part_stop', choice: 0, part: 1, full: call('c1', 'f') },
      { e: 'finish', choice: 0, finish: 'tool_calls', native: 'x' },
      { e: 'end' },
    ])
    const response = await sdkResponse(text)
    expect(response.output.map((item: Wire) => item.arguments ?? item.content[0].text)).toEqual(['ab', '{}', '{}', 'c'])
  })

  it('a call without arguments has an empty object, in the deltas, when done and in the item: clients parse it', async () => {
    const text = encodeEvents(eventsOf([call('a', 'now', '')], 'tool_calls'))
    const deltas = wireEvents(text).flatMap((event) => (event.type.endsWith('arguments.delta') ? [event.delta] : []))
    expect(deltas.join('')).toBe('{}')
    expect(wireEvents(text).find((event) => event.type.endsWith('arguments.done')).arguments).toBe('{}')
    expect((await sdkResponse(text)).output[0].arguments).toBe('{}')
  })

  it('carries the signature of a call in a reasoning item before it, and takes what only the stop tells', () => {
    const signature = { dialect: 'generate_content' as const, modelFamily: 'gemini', value: 'g' }
    const { output } = last(
      encodeEvents(eventsOf([call('a', 'f', '{}', { signature }), { t: 'reasoning', text: '', redacted: 'blob' }])),
    ).response
    expect(output.map((item: Wire) => item.type)).toEqual(['reasoning', 'function_call', 'reasoning'])
    expect(unwrapSignature(output[0].encrypted_content)).toEqual(signature)
    const late = encodeEvents([
      { e: 'part_start', choice: 0, part: 0, kind: 'text', meta: {} },
      { e: 'part_stop', choice: 0, part: 0, full: { t: 'text', text: 'whole' } },
      { e: 'part_start', choice: 0, part: 1, kind: 'tool_call', meta: { id: 'x', name: 'f' } },
      { e: 'part_stop', choice: 0, part: 1, full: call('x', 'f', '{"a":1}') },
      { e: 'part_start', choice: 0, part: 2, kind: 'reasoning', meta: {} },
      { e: 'part_stop', choice: 0, part: 2, full: { t: 'reasoning', text: 'why' } },
      { e: 'end' },
    ])
    expect(last(late).response.output).toMatchObject([
      { content: [{ text: 'whole' }] },
      { arguments: '{"a":1}' },
      { summary: [{ text: 'why' }] },
    ])
    expect(types(late)).toContain('output_text.delta')
  })

  it('a custom input that arrives wrapped is unwrapped in the stream', () => {
    const events = wireEvents(encodeEvents(eventsOf([call('b', 'patch', '{"input":"*** \\n"}', { kind: 'custom' })])))
    expect(events.filter((event) => event.type === 'response.custom_tool_call_input.delta').map((event) => event.delta)).toEqual([
      '*** \n',
    ])
    expect(events.at(-1).response.output[0].input).toBe('*** \n')
  })

  it('a citation that comes before its text is about all of it', async () => {
    const annotation = { kind: 'url', url: 'https://a', citedText: 'cited', raw: {}, dialect: 'messages' } as const
    const found = { kind: 'search_result', url: 'https://b', start: 3, end: 4, raw: {}, dialect: 'messages' } as const
    const text = encodeEvents([
      { e: 'part_start', choice: 0, part: 0, kind: 'text', meta: {} },
      { e: 'delta', choice: 0, part: 0, d: { text: 'a cl' } },
      { e: 'delta', choice: 0, part: 0, d: { annotation } },
      { e: 'delta', choice: 0, part: 0, d: { annotation: found } },
      { e: 'delta', choice: 0, part: 0, d: { text: 'aim' } },
      { e: 'part_stop', choice: 0, part: 0, full: { t: 'text', text: 'a claim', annotations: [annotation, found] } },
      { e: 'finish', choice: 0, finish: 'stop', native: 'end_turn' },
      { e: 'end' },
    ])
    expect((await sdkResponse(text)).output[0].content[0].annotations).toMatchObject([
      { start_index: 0, end_index: 7, url: 'https://a' },
      { start_index: 0, end_index: 7, url: 'https://b' },
    ])
  })

  it.each([
    ['a call', [call('a', 'f', '{"a')]],
    ['a text', [{ t: 'text', text: 'x' }]],
  ] as [string, Part[]][])('%s that was cut is incomplete, in its last event as in the response', (_what, end) => {
    const text = encodeEvents(eventsOf([call('b', 'f', '{}'), ...end], 'length'))
    const done = wireEvents(text).filter((event) => event.type === 'response.output_item.done')
    expect(done.map((event) => event.item.status)).toEqual(['completed', 'incomplete'])
    expect(last(text).response.output).toEqual(done.map((event) => event.item))
    expect(encodeEvents(eventsOf(end))).not.toContain('"status":"incomplete"')
  })

  it('annotations are added within their content part', async () => {
    const text = encodeEvents(
      eventsOf([{ t: 'text', text: 'see', annotations: [{ kind: 'url', url: 'https://a', raw: {}, dialect: 'messages' }] }]),
    )
    expect(types(text)).toContain('output_text.annotation.added')
    expect((await sdkResponse(text)).output[0].content[0].annotations).toEqual([
      { type: 'url_citation', start_index: 0, end_index: 3, url: 'https://a', title: 'https://a' },
    ])
    const streamed = streamText({ model: aiModel(text), prompt: 'x' })
    expect((await streamed.sources)[0]).toMatchObject({ url: 'https://a' })
  })

  it('ignores other choices', () => {
    const text = encodeEvents([
      { e: 'part_start', choice: 1, part: 0, kind: 'text', meta: {} },
      { e: 'delta', choice: 1, part: 0, d: { text: 'x' } },
      { e: 'end' },
    ])
    expect(last(text).response.output).toEqual([])
  })

  it('decoding what was encoded gives the same parts', () => {
    const word = fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' })
    const part: fc.Arbitrary<Part> = fc.oneof(
      word.map((text): Part => ({ t: 'text', text })),
      word.map((text): Part => ({ t: 'refusal', text })),
      fc.tuple(word, fc.boolean()).map(
        ([text, signed]): Part => ({
          t: 'reasoning',
          text: '',
          summary: [text],
          ...(signed ? { signature: { dialect: 'responses', modelFamily: 'gpt', value: 'v' } } : {}),
        }),
      ),
      fc.tuple(fc.uuid(), word, fc.json()).map(([id, name, args]) => call(id, name, args)),
      fc.tuple(fc.uuid(), word, word).map(([id, name, input]) => call(id, name, `x${input}`, { kind: 'custom' })),
    )
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), fc.integer({ min: 1, max: 200 }), (given, split) => {
        const decoded = decodeText(encodeEvents(eventsOf(given)), codec(), split)
        const back = partsOf(decoded).map((one) => {
          // The encoder makes items and their ids.
          const { itemId: _item, ext: _ext, ...rest } = one as Part & { itemId?: string; ext?: object }
          return rest
        })
        expect(back).toEqual(given)
        expect(decoded.at(-1)).toMatchObject({ e: 'end' })
      }),
      { numRuns: 150 },
    )
  })

  it('messages stay apart and keep their phases, as those of a whole answer do', async () => {
    const said = (text: string, item: string, phase?: string): Part => ({
      t: 'text',
      text,
      ext: { responses: { item, ...(phase === undefined ? {} : { phase }) } },
    })
    const parts: Part[] = [
      said('I look it up.', 'msg_a', 'commentary'),
      said('First.', 'msg_b', 'final_answer'),
      { t: 'refusal', text: 'Not that.', ext: { responses: { item: 'msg_b', phase: 'final_answer' } } },
      said('An afterthought.', 'msg_c'),
    ]
    const text = encodeEvents(eventsOf(parts))
    const messages = [
      ['msg_a', 'commentary', 1],
      ['msg_b', 'final_answer', 2],
      ['msg_c', undefined, 1],
    ]
    const shape = (item: Wire) => [item.id, item.phase, item.content.length]
    expect(last(text).response.output.map(shape)).toEqual(messages)
    expect((await sdkResponse(text)).output.map(shape)).toEqual(messages)
    const of = (type: string) => wireEvents(text).filter((event) => event.type === `response.output_item.${type}`)
    expect(of('added').map(({ item }) => [item.id, item.phase])).toEqual(messages.map(([id, phase]) => [id, phase]))
    expect(of('done').map(({ item }) => shape(item))).toEqual(messages)
    // Before the next one begins, because official clients expect the items in order.
    expect(types(text).filter((type) => type.startsWith('output_item'))).toEqual(
      messages.flatMap(() => ['output_item.added', 'output_item.done']),
    )
    expect(partsOf(decodeText(text))).toEqual(parts)
  })

  it('every vendor reply survives decode and encode, and the SDK agrees with itself', async () => {
    for (const reply of [
      { text: 'hello' },
      { refusal: 'no' },
      { reasoning: { text: 'r' }, text: 'a', toolCalls: [{ id: 'c', name: 'f', args: '{"q":1}' }] },
      { text: '' },
    ]) {
      const direct = await sdkResponse(responsesReplies.frames(reply).join(''))
      const through = await sdkResponse(encodeEvents(decodeText(responsesReplies.frames(reply).join(''))))
      expect(through.output_text).toBe(direct.output_text)
      expect(through.output.map((item: Wire) => item.type)).toEqual(direct.output.map((item: Wire) => item.type))
      expect(through.usage).toEqual(direct.usage)
    }
  })
})

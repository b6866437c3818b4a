import { describe, expect, it } from 'vitest'
import { chunk, codec, data, decodeEvents, encode, only, partsOf } from './support.ts'

const tool = (calls: object[], extra: object = {}) => chunk({ tool_calls: calls, ...extra })
const calls = (events: ReturnType<typeof decodeEvents>) => partsOf(events).filter((part) => part.t === 'tool_call')
const DONE = '[DONE]'

describe('tool calls of a chat stream', () => {
  it('parallel calls that share index 0 are distinguished by id', () => {
    const events = decodeEvents(
      data(
        tool([{ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } }]),
        tool([{ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '{"x"' } }]),
        tool([{ index: 0, function: { name: 'f', arguments: ':1}' } }]),
        tool([{ index: 0, id: 'b', type: 'function', function: { name: 'f', arguments: '' } }]),
        tool([{ index: 0, function: { arguments: '{"y":2}' } }]),
        chunk({}, 'tool_calls'),
        DONE,
      ),
    )
    expect(calls(events)).toMatchObject([
      { id: 'a', name: 'f', args: '{"x":1}' },
      { id: 'b', name: 'f', args: '{"y":2}' },
    ])
  })

  it('fragments without index continue the last call; without id one is minted', () => {
    const events = decodeEvents(
      data(
        tool([{ id: 'a', function: { name: 'f', arguments: '{' } }]),
        tool([{ function: { arguments: '}' } }]),
        tool([{ function: { name: 'g', arguments: '{}' } }]),
        chunk({}, 'tool_calls'),
        DONE,
      ),
    )
    expect(calls(events)).toMatchObject([
      { id: 'a', name: 'f', args: '{}', idMinted: false },
      { id: 'call_id1', name: 'g', args: '{}', idMinted: true },
    ])
  })

  it('interleaved calls keep their own arguments', () => {
    const at = (index: number, args: string, head: object = {}) =>
      tool([{ index, ...head, function: { arguments: args, ...('id' in head ? { name: `f${index}` } : {}) } }])
    const events = decodeEvents(
      data(at(0, '{"a', { id: 'a' }), at(1, '{"b', { id: 'b' }), at(0, '":1}'), at(1, '":2}'), chunk({}, 'tool_calls'), DONE),
    )
    expect(calls(events)).toMatchObject([{ args: '{"a":1}' }, { args: '{"b":2}' }])
  })

  it('a call whose arguments are whole ends when the next one starts', () => {
    const events = decodeEvents(
      data(
        tool([{ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }]),
        tool([{ index: 1, id: 'b', function: { name: 'g', arguments: '' } }]),
        chunk({}, 'tool_calls'),
        DONE,
      ),
    )
    const stop = events.findIndex((event) => event.e === 'part_stop')
    expect(stop).toBeLessThan(events.findIndex((event) => event.e === 'part_start' && event.meta.id === 'b'))
  })

  it('fifty argument deltas are one call', () => {
    const events = decodeEvents(
      data(
        tool([{ index: 0, id: 'a', function: { name: 'f', arguments: '' } }]),
        ...Array.from({ length: 50 }, () => tool([{ index: 0, function: { arguments: '1' } }])),
        chunk({}, 'tool_calls'),
        DONE,
      ),
    )
    expect(only(events, 'part_start')).toHaveLength(1)
    expect(calls(events)).toMatchObject([{ args: '1'.repeat(50) }])
  })

  it('a name that comes late is waited for, arguments are not lost', () => {
    const events = decodeEvents(
      data(
        tool([{ index: 0, id: 'a', type: 'function', function: { arguments: '{"x"' } }]),
        tool([{ index: 0, function: { name: 'f', arguments: ':1}' } }]),
        chunk({}, 'tool_calls'),
        DONE,
      ),
    )
    expect(calls(events)).toMatchObject([{ id: 'a', name: 'f', args: '{"x":1}' }])
  })

  it('legacy function_call deltas are one call', () => {
    const events = decodeEvents(
      data(
        chunk({ function_call: { name: 'f', arguments: '{"a"' } }),
        chunk({ function_call: { arguments: ':1}' } }),
        chunk({}, 'function_call'),
        DONE,
      ),
    )
    expect(calls(events)).toMatchObject([{ name: 'f', args: '{"a":1}', idMinted: true }])
    expect(only(events, 'finish')[0]?.finish).toBe('tool_calls')
  })

  it('names and flattened custom tools come back as the caller knows them', () => {
    const on = codec({ caller: 'responses' })
    encode(
      {
        source: 'responses',
        tools: [
          { t: 'custom', name: 'apply_patch' },
          { t: 'function', name: 'a.b' },
        ],
      },
      on,
    )
    const events = decodeEvents(
      data(
        tool([{ index: 0, id: 'p', function: { name: 'apply_patch', arguments: '{"input":"*** ' } }]),
        tool([{ index: 0, function: { arguments: 'Begin"}' } }]),
        tool([{ index: 1, id: 'q', function: { name: 'a_b', arguments: '{}' } }]),
        chunk({}, 'tool_calls'),
        DONE,
      ),
      on,
    )
    expect(calls(events)).toMatchObject([{ kind: 'custom', args: '*** Begin' }, { name: 'a.b' }])
  })
})

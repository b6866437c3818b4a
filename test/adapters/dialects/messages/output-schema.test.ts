import { expect, it } from 'vitest'
import { messagesDialect } from '../../../../adapters/dialects/messages/index.ts'
import { wireBody } from '../../../../core/json/wire-body.ts'
import type { Json } from '../../../../core/types/request/canonical.ts'
import { deepFreeze, encode, eventsOf, sse, testHop } from './fixtures.ts'

const formatOf = (schema: Json) =>
  (encode({ output: { kind: 'json_schema', schema } }).output_config as { format: { type: string; schema: object } }).format

it('limits move into the description, objects are closed, oneOf is anyOf, the caller’s schema stays', () => {
  const schema = deepFreeze({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: {
      n: { type: 'integer', minimum: 1, description: 'Count' },
      s: { type: 'string', pattern: '^a', format: 'uri' },
      odd: { type: 'string', format: 'phone' },
      not: { type: 'string' },
      u: { oneOf: [{ type: 'object', properties: {}, additionalProperties: true }, { type: 'null' }] },
      map: { type: 'object', additionalProperties: { type: 'number' } },
    },
    required: ['n'],
  })
  expect(formatOf(schema as unknown as Json)).toEqual({
    type: 'json_schema',
    schema: {
      type: 'object',
      properties: {
        n: { type: 'integer', description: 'Count (minimum: 1)' },
        s: { type: 'string', format: 'uri', description: '(pattern: "^a")' },
        odd: { type: 'string', description: '(format: "phone")' },
        not: { type: 'string' },
        u: { anyOf: [{ type: 'object', properties: {}, additionalProperties: false }, { type: 'null' }] },
        map: { type: 'object', description: '(additionalProperties: {"type":"number"})', additionalProperties: false },
      },
      required: ['n'],
      additionalProperties: false,
    },
  })
})

it('keeps $defs and $ref, and cuts references that close a circle', () => {
  const { schema } = formatOf({
    type: 'object',
    properties: { a: { $ref: '#/$defs/A' } },
    $defs: {
      A: { type: 'object', properties: { b: { $ref: '#/$defs/B' }, plain: { $ref: '#/$defs/C' } } },
      B: { type: 'object', properties: { a: { $ref: '#/$defs/A' }, all: { $ref: '#' } } },
      C: { type: 'string' },
    },
  })
  const empty = { type: 'object', properties: {}, additionalProperties: false }
  expect(schema).toMatchObject({
    properties: { a: { $ref: '#/$defs/A' } },
    $defs: {
      A: { properties: { b: { $ref: '#/$defs/B' }, plain: { $ref: '#/$defs/C' } } },
      B: { properties: { a: empty, all: empty } },
    },
  })
})

it('json_object is an instruction', () => {
  const codec = testHop()
  const body = encode(
    { system: [{ role: 'system', parts: [{ t: 'text', text: 'Be brief.' }] }], output: { kind: 'json_object' } },
    codec,
  )
  expect(body.system).toEqual([
    { type: 'text', text: 'Be brief.' },
    { type: 'text', text: 'Respond with one JSON object only.' },
  ])
  expect(codec.warnings).toEqual(['json_object_as_instruction'])
})

it('models without formats answer through a forced tool that is unwrapped again, streamed or not', () => {
  for (const [schema, input, text] of [
    [{ type: 'object', properties: { a: { type: 'number' } } }, { a: 1 }, '{"a":1}'],
    [{ type: 'array', items: { type: 'number' } }, { value: [1, 2] }, '[1,2]'],
  ] as const) {
    const codec = testHop({ model: 'claude-3-5-sonnet-20241022' })
    const body = encode({ output: { kind: 'json_schema', schema: schema as unknown as Json } }, codec)
    expect(body.tools).toMatchObject([{ name: 'json_output', input_schema: { type: 'object' } }])
    expect(body.tool_choice).toEqual({ type: 'tool', name: 'json_output' })
    const content = [{ type: 'tool_use', id: 't', name: 'json_output', input }]
    const whole = messagesDialect.decodeResponse(wireBody(JSON.stringify({ content, stop_reason: 'tool_use' })), codec)
    expect(whole.choices[0]).toMatchObject({ parts: [{ t: 'text', text }], finish: 'stop' })
    const json = JSON.stringify(input)
    const events = eventsOf(
      messagesDialect.decodeStream(codec),
      sse(
        { type: 'message_start', message: { id: 'msg_1', usage: {} } },
        { type: 'content_block_start', index: 0, content_block: { ...content[0], input: {} } },
        { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: json.slice(0, 4) } },
        { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: json.slice(4) } },
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 1 } },
        { type: 'message_stop' },
      ),
    )
    expect(events.filter((event) => event.e === 'part_stop')).toEqual([
      { e: 'part_stop', choice: 0, part: 0, full: { t: 'text', text } },
    ])
    expect(events).toContainEqual({ e: 'finish', choice: 0, finish: 'stop', native: 'tool_use' })
  }
})

it('beside other tools any of them may be called first, and no name is taken twice', () => {
  const codec = testHop({ model: 'claude-3-5-sonnet-20241022' })
  const body = encode({ tools: [{ t: 'function', name: 'json_output' }], output: { kind: 'json_schema', schema: {} } }, codec)
  expect((body.tools as { name: string }[]).map(({ name }) => name)).toEqual(['json_output', 'json_output_'])
  expect(body.tool_choice).toEqual({ type: 'any' })
})

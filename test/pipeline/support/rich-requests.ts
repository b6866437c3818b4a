// One request per dialect with most features: system, tools, calls, results, images, a schema, reasoning.
import type { Dialect } from '../../../core/types/request/canonical.ts'

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const SCHEMA = {
  type: 'object',
  properties: { at: { type: 'string', enum: ['sky', 'sea'] } },
  required: ['at'],
  additionalProperties: false,
}

export const RICH: Readonly<Record<Dialect, Record<string, unknown>>> = {
  chat: {
    messages: [
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is it?' },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } },
        ],
      },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"at":"sky"}' } }],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'blue' },
    ],
    tools: [{ type: 'function', function: { name: 'look', description: 'Looks', parameters: SCHEMA, strict: true } }],
    tool_choice: 'auto',
    response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: SCHEMA, strict: true } },
    stop: ['END'],
    temperature: 0.5,
    max_completion_tokens: 100,
    reasoning_effort: 'low',
    metadata: { a: 'b' },
    stream_options: { include_usage: true },
  },
  messages: {
    max_tokens: 2000,
    system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is it?' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hm', signature: 'EqQB' },
          { type: 'tool_use', id: 'toolu_1', name: 'look', input: { at: 'sky' } },
        ],
      },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: 'blue' }], is_error: false }],
      },
    ],
    tools: [{ name: 'look', description: 'Looks', input_schema: SCHEMA }],
    tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    stop_sequences: ['END'],
    thinking: { type: 'enabled', budget_tokens: 1024 },
    metadata: { user_id: 'u' },
  },
  responses: {
    instructions: 'Be brief.',
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'What is it?' },
          { type: 'input_image', image_url: `data:image/png;base64,${PNG}`, detail: 'auto' },
        ],
      },
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'hm' }], encrypted_content: 'gAAA' },
      { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{"at":"sky"}' },
      { type: 'function_call_output', call_id: 'call_1', output: 'blue' },
    ],
    tools: [{ type: 'function', name: 'look', description: 'Looks', parameters: SCHEMA, strict: true }],
    tool_choice: 'auto',
    text: { format: { type: 'json_schema', name: 'answer', schema: SCHEMA, strict: true }, verbosity: 'low' },
    reasoning: { effort: 'low', summary: 'auto' },
    max_output_tokens: 100,
    include: ['reasoning.encrypted_content'],
    store: false,
  },
  generate_content: {
    systemInstruction: { parts: [{ text: 'Be brief.' }] },
    contents: [
      { role: 'user', parts: [{ text: 'What is it?' }, { inlineData: { mimeType: 'image/png', data: PNG } }] },
      { role: 'model', parts: [{ functionCall: { name: 'look', args: { at: 'sky' } }, thoughtSignature: 'CiQB' }] },
      { role: 'user', parts: [{ functionResponse: { name: 'look', response: { output: 'blue' } } }] },
    ],
    tools: [
      {
        functionDeclarations: [
          { name: 'look', description: 'Looks', parameters: { type: 'OBJECT', properties: { at: { type: 'STRING' } } } },
        ],
      },
    ],
    toolConfig: { functionCallingConfig: { mode: 'AUTO' } },
    generationConfig: { temperature: 0.5, maxOutputTokens: 100, stopSequences: ['END'], thinkingConfig: { thinkingBudget: 100 } },
  },
}

/** Returns a copy in which one member, selected by `pick`, has another value or is removed. `pick` returns numbers in [0, n). */
export function mutated(body: unknown, value: unknown, pick: (n: number) => number): unknown {
  const copy = structuredClone(body)
  const places: [Record<string, unknown>, string][] = []
  const walk = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    for (const key of Object.keys(node)) {
      places.push([node as Record<string, unknown>, key])
      walk((node as Record<string, unknown>)[key])
    }
  }
  walk(copy)
  const [owner, key] = places[pick(places.length)] as [Record<string, unknown>, string]
  if (value === undefined) {
    if (Array.isArray(owner)) owner.splice(Number(key), 1)
    else delete owner[key]
  } else owner[key] = value
  return copy
}

// A tool turn as callers of each dialect ask for it, and as they send it back without anything but the call itself.
import type { Dialect } from '../../core/types/request/canonical.ts'

export interface Exchange {
  readonly path: string
  readonly body: Record<string, unknown>
}

export interface PlainCall {
  readonly id: string
  readonly name: string
  /** JSON text. */
  readonly args: string
}

const QUESTION = 'What is the weather?'

/** The question with its tool; with `calls`, the history of having called it and got an answer. */
export function toolTurn(
  dialect: Exclude<Dialect, 'generate_content'>,
  model: string,
  { stream = false, calls = [] as readonly PlainCall[] } = {},
): Exchange {
  const schema = { type: 'object', properties: { city: { type: 'string' } } }
  if (dialect === 'chat') {
    const history = [
      {
        role: 'assistant',
        content: null,
        tool_calls: calls.map(({ id, name, args }) => ({ id, type: 'function', function: { name, arguments: args } })),
      },
      ...calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'sunny' })),
    ]
    return {
      path: '/v1/chat/completions',
      body: {
        model,
        stream,
        messages: [{ role: 'user', content: QUESTION }, ...(calls.length > 0 ? history : [])],
        tools: [{ type: 'function', function: { name: 'weather', parameters: schema } }],
      },
    }
  }
  if (dialect === 'messages') {
    const history = [
      {
        role: 'assistant',
        content: calls.map(({ id, name, args }) => ({ type: 'tool_use', id, name, input: JSON.parse(args) })),
      },
      { role: 'user', content: calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: 'sunny' })) },
    ]
    return {
      path: '/v1/messages',
      body: {
        model,
        stream,
        max_tokens: 4000,
        messages: [{ role: 'user', content: QUESTION }, ...(calls.length > 0 ? history : [])],
        tools: [{ name: 'weather', input_schema: schema }],
      },
    }
  }
  const history = [
    ...calls.map(({ id, name, args }) => ({ type: 'function_call', call_id: id, name, arguments: args })),
    ...calls.map(({ id }) => ({ type: 'function_call_output', call_id: id, output: 'sunny' })),
  ]
  return {
    path: '/v1/responses',
    body: {
      model,
      stream,
      input: [{ role: 'user', content: QUESTION }, ...history],
      tools: [{ type: 'function', name: 'weather', parameters: schema }],
    },
  }
}

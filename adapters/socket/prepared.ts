// The response of a request with `generate: false`: no model was called, and it has every member that a response must have.
import type { Request } from './chain.ts'

/** `now`: epoch ms. */
export function preparedResponse(id: string, request: Request, now: number): Record<string, unknown> {
  const given = <T>(name: string, otherwise: T): unknown => request[name] ?? otherwise
  return {
    id,
    object: 'response',
    created_at: Math.floor(now / 1000),
    completed_at: null,
    status: 'in_progress',
    error: null,
    incomplete_details: null,
    model: typeof request.model === 'string' ? request.model : '',
    previous_response_id: given('previous_response_id', null),
    instructions: given('instructions', null),
    output: [],
    tools: toolsOf(request.tools),
    tool_choice: given('tool_choice', 'auto'),
    parallel_tool_calls: given('parallel_tool_calls', true),
    text: given('text', { format: { type: 'text' } }),
    reasoning: given('reasoning', null),
    truncation: given('truncation', 'disabled'),
    temperature: given('temperature', 1),
    top_p: given('top_p', 1),
    presence_penalty: given('presence_penalty', 0),
    frequency_penalty: given('frequency_penalty', 0),
    top_logprobs: given('top_logprobs', 0),
    max_output_tokens: given('max_output_tokens', null),
    max_tool_calls: given('max_tool_calls', null),
    metadata: given('metadata', {}),
    service_tier: 'default',
    safety_identifier: given('safety_identifier', null),
    prompt_cache_key: given('prompt_cache_key', null),
    user: given('user', null),
    usage: null,
    store: false,
    background: false,
  }
}

/** Functions have all of their members in a response. */
function toolsOf(tools: unknown): unknown[] {
  if (!Array.isArray(tools)) return []
  return tools.map((tool: { type?: unknown }) =>
    tool?.type === 'function' ? { description: null, parameters: null, strict: null, ...tool } : tool,
  )
}

export function completedResponse(response: Record<string, unknown>, now: number): Record<string, unknown> {
  const usage = {
    input_tokens: 0,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 0,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 0,
  }
  return { ...response, status: 'completed', completed_at: Math.floor(now / 1000), usage }
}

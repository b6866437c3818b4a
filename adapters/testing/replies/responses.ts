// Renders replies like the OpenAI Responses API: all events of reasoning, message and function_call items, obfuscation on deltas, usage
// only in the final response, no [DONE].
import type { Finish } from '../../../core/types/request/answer.ts'
import { DEFAULT_USAGE, pieces, type Reply, type ReplyRenderer } from './reply.ts'

const RESPONSE_ID = 'resp_68f2c1d4a7b881908c3e5f0a1b2c3d4e0f5a6b7c8d9e0f1a'
const MODEL = 'gpt-5.6-mini'
const CREATED = 1_795_000_000

const CODES: Readonly<Record<number, string>> = {
  401: 'invalid_api_key',
  404: 'model_not_found',
  429: 'rate_limit_exceeded',
  500: 'server_error',
  503: 'server_is_overloaded',
}

type Item = Record<string, unknown> & { id: string; type: string }
type Push = (type: string, members: object) => void

export const responsesReplies: ReplyRenderer = {
  json(reply) {
    return { ...response(reply, outcome(reply).status, items(reply)), output_text: reply.text ?? '' }
  },

  frames(reply) {
    const out: string[] = []
    const push: Push = (type, members) => out.push(frame(type, out.length, members))
    push('response.created', { response: response(reply, 'in_progress', []) })
    push('response.in_progress', { response: response(reply, 'in_progress', []) })
    const output = items(reply)
    for (const [index, item] of output.entries()) stream(item, index, reply.chunk, push)
    const { status } = outcome(reply)
    push(`response.${status}`, { response: response(reply, status, output) })
    return out
  },

  error(status, message, detail = {}) {
    const type = status === 429 ? 'requests' : status >= 500 ? 'server_error' : 'invalid_request_error'
    return { error: { message, type, param: detail.param ?? null, code: detail.code ?? CODES[status] ?? null } }
  },

  errorFrames(message, status = 500) {
    return [frame('error', 0, { code: CODES[status] ?? 'server_error', message, param: null })]
  },
}

function frame(type: string, sequence: number, members: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence, ...members })}\n\n`
}

function outcome(reply: Reply): { status: 'completed' | 'incomplete' | 'failed'; reason: string | null } {
  const finish: Finish = reply.finish ?? (reply.toolCalls?.length ? 'tool_calls' : 'stop')
  if (finish === 'length' || finish === 'context_window') return { status: 'incomplete', reason: 'max_output_tokens' }
  if (finish === 'content_filter') return { status: 'incomplete', reason: 'content_filter' }
  return { status: finish === 'error' ? 'failed' : 'completed', reason: null }
}

function response(reply: Reply, status: string, output: Item[]): object {
  const ended = status !== 'in_progress'
  const { reason } = outcome(reply)
  return {
    id: RESPONSE_ID,
    object: 'response',
    created_at: CREATED,
    status,
    background: false,
    completed_at: status === 'completed' || status === 'incomplete' ? CREATED + 2 : null,
    error: status === 'failed' ? { code: 'server_error', message: 'The model produced an error.' } : null,
    frequency_penalty: 0,
    incomplete_details: ended && reason !== null ? { reason } : null,
    instructions: null,
    max_output_tokens: null,
    max_tool_calls: null,
    model: reply.model ?? MODEL,
    output,
    parallel_tool_calls: true,
    presence_penalty: 0,
    previous_response_id: null,
    prompt_cache_key: null,
    prompt_cache_retention: null,
    reasoning: { effort: 'medium', summary: null },
    safety_identifier: null,
    service_tier: ended ? 'default' : 'auto',
    store: false,
    temperature: 1,
    text: { format: { type: 'text' }, verbosity: 'medium' },
    tool_choice: 'auto',
    tools: [],
    top_logprobs: 0,
    top_p: 1,
    truncation: 'disabled',
    usage: ended ? usage(reply) : null,
    user: null,
    metadata: {},
  }
}

function usage(reply: Reply): object | null {
  if (reply.usage === null) return null
  const { input, cacheRead, cacheWrite, output, reasoning } = { ...DEFAULT_USAGE, ...reply.usage }
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cacheRead, cache_write_tokens: cacheWrite },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  }
}

function items(reply: Reply): Item[] {
  const out: Item[] = []
  const status = outcome(reply).status === 'incomplete' ? 'incomplete' : 'completed'
  if (reply.reasoning !== undefined) {
    const { text, signature } = reply.reasoning
    out.push({
      id: 'rs_68f2c1d5b0c08190a1b2c3d4e5f60718',
      type: 'reasoning',
      ...(signature === undefined ? {} : { encrypted_content: signature }),
      summary: text === '' ? [] : [{ type: 'summary_text', text }],
    })
  }
  const content = [
    ...(reply.text ? [{ type: 'output_text', annotations: [], logprobs: [], text: reply.text }] : []),
    ...(reply.refusal ? [{ type: 'refusal', refusal: reply.refusal }] : []),
  ]
  if (content.length > 0)
    out.push({ id: 'msg_68f2c1d6c1d0819095a4b3c2d1e0f9a8', type: 'message', status, content, role: 'assistant' })
  for (const [index, call] of (reply.toolCalls ?? []).entries()) {
    const id = `fc_68f2c1d7d2e08190${String(index).padStart(16, '0')}`
    out.push({ id, type: 'function_call', status, arguments: call.args, call_id: call.id, name: call.name })
  }
  return out
}

function stream(item: Item, index: number, chunk: number | undefined, push: Push): void {
  push('response.output_item.added', { output_index: index, item: opened(item) })
  if (item.type === 'reasoning') streamReasoning(item, index, chunk, push)
  else if (item.type === 'message') streamMessage(item, index, chunk, push)
  else {
    const text = item.arguments as string
    for (const delta of pieces(text, chunk)) {
      push('response.function_call_arguments.delta', { item_id: item.id, output_index: index, delta, obfuscation: 'x9Qz' })
    }
    push('response.function_call_arguments.done', { item_id: item.id, output_index: index, arguments: text, name: item.name })
  }
  push('response.output_item.done', { output_index: index, item })
}

function opened(item: Item): object {
  if (item.type === 'reasoning') return { ...item, summary: [] }
  return item.type === 'message'
    ? { ...item, status: 'in_progress', content: [] }
    : { ...item, status: 'in_progress', arguments: '' }
}

function streamReasoning(item: Item, index: number, chunk: number | undefined, push: Push): void {
  for (const [place, part] of (item.summary as { type: string; text: string }[]).entries()) {
    const at = { item_id: item.id, output_index: index, summary_index: place }
    push('response.reasoning_summary_part.added', { ...at, part: { type: 'summary_text', text: '' } })
    for (const delta of pieces(part.text, chunk))
      push('response.reasoning_summary_text.delta', { ...at, delta, obfuscation: 'k2' })
    push('response.reasoning_summary_text.done', { ...at, text: part.text })
    push('response.reasoning_summary_part.done', { ...at, part })
  }
}

function streamMessage(item: Item, index: number, chunk: number | undefined, push: Push): void {
  for (const [place, part] of (item.content as Record<string, string>[]).entries()) {
    const at = { item_id: item.id, output_index: index, content_index: place }
    if (part.type === 'refusal') {
      const refusal = part.refusal as string
      push('response.content_part.added', { ...at, part: { type: 'refusal', refusal: '' } })
      for (const delta of pieces(refusal, chunk)) push('response.refusal.delta', { ...at, delta, obfuscation: 'p' })
      push('response.refusal.done', { ...at, refusal })
    } else {
      const text = part.text as string
      push('response.content_part.added', { ...at, part: { ...part, text: '' } })
      for (const delta of pieces(text, chunk))
        push('response.output_text.delta', { ...at, delta, logprobs: [], obfuscation: 'Zt7' })
      push('response.output_text.done', { ...at, text, logprobs: [] })
    }
    push('response.content_part.done', { ...at, part })
  }
}

// Renders replies like Anthropic's own API: key order, event order, position of usage, native ids.
import type { Finish } from '../../../core/types/request/answer.ts'
import { DEFAULT_USAGE, pieces, type Reply, type ReplyRenderer } from './reply.ts'

export const messagesReplies: ReplyRenderer = { json, frames, error, errorFrames }

const MODEL = 'claude-sonnet-4-5-20250929'

const STOP_REASONS: Partial<Record<Finish, string>> = {
  stop: 'end_turn',
  stop_sequence: 'stop_sequence',
  length: 'max_tokens',
  context_window: 'model_context_window_exceeded',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
  refusal: 'refusal',
  pause: 'pause_turn',
}

const ERROR_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  500: 'api_error',
  504: 'timeout_error',
  529: 'overloaded_error',
}

interface Block {
  whole: Record<string, unknown>
  start: Record<string, unknown>
  deltas: object[]
}

function json(reply: Reply): object {
  return {
    ...head(reply),
    content: blocks(reply).map(({ whole }) => whole),
    ...stop(reply),
    container: null,
    diagnostics: null,
    ...(reply.usage === null ? {} : { usage: usage(reply, counts(reply).output) }),
  }
}

function frames(reply: Reply): string[] {
  const none = { stop_reason: null, stop_sequence: null, stop_details: null, container: null, diagnostics: null }
  const message = { ...head(reply), content: [], ...none, ...(reply.usage === null ? {} : { usage: usage(reply, 1) }) }
  const out = [frame('message_start', { message })]
  blocks(reply).forEach(({ start, deltas }, index) => {
    out.push(frame('content_block_start', { index, content_block: start }))
    if (index === 0) out.push(frame('ping', {}))
    for (const delta of deltas) out.push(frame('content_block_delta', { index, delta }))
    out.push(frame('content_block_stop', { index }))
  })
  const { input, cacheRead, cacheWrite, output, reasoning } = counts(reply)
  const total = {
    input_tokens: input - cacheRead - cacheWrite,
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cacheRead,
    output_tokens: output,
    output_tokens_details: reasoning > 0 ? { thinking_tokens: reasoning } : null,
    server_tool_use: null,
  }
  out.push(
    frame('message_delta', { delta: { ...stop(reply), container: null }, ...(reply.usage === null ? {} : { usage: total }) }),
  )
  out.push(frame('message_stop', {}))
  return out
}

function error(status: number, message: string, detail: { code?: string; param?: string } = {}): object {
  const type = ERROR_TYPES[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error')
  return {
    type: 'error',
    error: { type, message, ...(detail.code === undefined ? {} : { details: { error_code: detail.code } }) },
    request_id: 'req_011CSHoEeqs5C35K2UUqR7Fy',
  }
}

function errorFrames(message: string, status = 529): string[] {
  return [frame('error', { error: { details: null, type: ERROR_TYPES[status] ?? 'api_error', message } })]
}

function head(reply: Reply): object {
  return { model: reply.model ?? MODEL, id: 'msg_01XFDUDYJgAACzvnptvVoYEL', type: 'message', role: 'assistant' }
}

function blocks(reply: Reply): Block[] {
  const out: Block[] = []
  if (reply.reasoning !== undefined) {
    const { text, signature = 'EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrkzLoky3dl1pk=' } = reply.reasoning
    out.push({
      whole: { type: 'thinking', thinking: text, signature },
      start: { type: 'thinking', thinking: '', signature: '' },
      deltas: [
        ...pieces(text, reply.chunk).map((thinking) => ({ type: 'thinking_delta', thinking })),
        { type: 'signature_delta', signature },
      ],
    })
  }
  for (const text of [reply.text, reply.refusal]) {
    if (text === undefined || text === '') continue
    out.push({
      whole: { type: 'text', text },
      start: { type: 'text', text: '' },
      deltas: pieces(text, reply.chunk).map((piece) => ({ type: 'text_delta', text: piece })),
    })
  }
  for (const { id, name, args } of reply.toolCalls ?? []) {
    const call = { type: 'tool_use', id, name, caller: { type: 'direct' } }
    out.push({
      whole: { ...call, input: parsed(args) },
      start: { ...call, input: {} },
      deltas: ['', ...pieces(args, reply.chunk)].map((partial_json) => ({ type: 'input_json_delta', partial_json })),
    })
  }
  return out
}

function stop(reply: Reply): object {
  const calls = (reply.toolCalls ?? []).length > 0
  const finish = reply.finish ?? (calls ? 'tool_calls' : reply.refusal === undefined ? 'stop' : 'refusal')
  const reason = STOP_REASONS[finish] ?? 'end_turn'
  return {
    stop_reason: reason,
    stop_sequence: reason === 'stop_sequence' ? (reply.stopSequence ?? null) : null,
    stop_details: reason === 'refusal' ? { type: 'refusal', category: null, explanation: reply.refusal ?? null } : null,
  }
}

function usage(reply: Reply, output: number): object {
  const { input, cacheRead, cacheWrite, reasoning } = counts(reply)
  return {
    input_tokens: input - cacheRead - cacheWrite,
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cacheRead,
    cache_creation: { ephemeral_5m_input_tokens: cacheWrite, ephemeral_1h_input_tokens: 0 },
    output_tokens: output,
    output_tokens_details: reasoning > 0 && output > 1 ? { thinking_tokens: reasoning } : null,
    server_tool_use: null,
    service_tier: 'standard',
    inference_geo: null,
    speed: null,
  }
}

function counts(reply: Reply): typeof DEFAULT_USAGE {
  return { ...DEFAULT_USAGE, ...reply.usage }
}

function frame(type: string, fields: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`
}

/** In a whole answer, arguments that the token limit cut off have no object. */
function parsed(args: string): unknown {
  try {
    return JSON.parse(args === '' ? '{}' : args)
  } catch {
    return {}
  }
}
